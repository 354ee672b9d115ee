"""The shares of the lost accuracy as a table."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate
from vanishing_variance.results.shares import Values
from vanishing_variance.statistics.intervals import mean_estimate

NOTE = (
    "Mean accuracy over all test lengths beyond training, plain softmax; what is set acts on the attention weights, or "
    "on O before or after the normaliser. Recovered: (intervened − base) / fall, on long sequences; damage: "
    "(training-length accuracy − intervened) / fall, on sequences of the training lengths; the fall is training-length "
    "accuracy − base. Shapley: what both restored bring, split between the target's weight and the moments. In percent "
    "of the fall, with 95% intervals over seeds (Fieller); – where the fall is below a point or may be 0."
)


def markdown(shares: pd.DataFrame, gains: Mapping[tuple[str, str, str], Mapping[str, Values]]) -> str:
    """Return the shares beyond training, and `gains` of `shares.gain` by task, range and treatment, as Markdown."""
    beyond = shares[shares["length"].isna()]
    lines = ["# Interventions: one thing is set, the rest is left", "", NOTE]
    for (task, range_), found in beyond.groupby(["task", "range"], sort=False):
        falls = found.drop_duplicates("norm").assign(kind="fall (points)", intervention="", where="")
        falls = falls.assign(cell=_texts(falls, "fall", 1, "z.1f"))
        cells = pd.concat([falls, found.assign(cell=_texts(found, "share", 100, "z.0f"))])
        wide = cells.pivot_table("cell", ["kind", "intervention", "where"], "norm", aggfunc="first", sort=False)
        wide = wide[sorted(wide, key=lambda norm: (norm != "none", norm))].reset_index().fillna(MISSING)
        head = ["", "", "where", *wide.columns[3:]]
        lines += ["", f"**{task}, trained on the {range_} range**", "", table(head, wide.to_numpy().tolist(), texts=3)]
    split = []
    for names, parts in gains.items():
        split.append([", ".join(names), *(mean_estimate(values, "+.1f") for values in parts.values())])
    lines += ["", "**Gain over none (points): what the target's weights bring of it, and what the rest does**", ""]
    lines += [table(["", "gain", "attention", "read-out"], split), ""]
    for row in beyond[beyond["note"] != ""].drop_duplicates(["task", "range", "norm", "note"]).itertuples():
        lines.append(f"- {row.task} {row.range} {row.norm}: {row.note}.")
    return "\n".join(lines).rstrip() + "\n"


def _texts(frame: pd.DataFrame, name: str, by: float, how: str) -> list[str]:
    numbers = by * frame[[name, f"{name}_low", f"{name}_high"]].to_numpy()
    return [estimate(how, *values) for values in numbers]
