"""The shares of the lost accuracy as a table."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, power
from vanishing_variance.measure.interventions.names import ATTENTION, TARGET, TRAINED_TARGET, damaged, restored
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.compare.gains import texts
from vanishing_variance.results.shares import Values
from vanishing_variance.statistics.intervals import mean_estimate

NOTE = (
    "Mean accuracy over all test lengths beyond training, as trained; what is set acts on the attention weights, or "
    "on O before the normaliser. Recovered: (intervened − base) / fall, on long sequences; damage: (training-length "
    "accuracy − intervened) / fall, on sequences of the training lengths; the fall is training-length accuracy − base. "
    "Shapley: what both restored bring, split between the target's weight and the moments. In percent "
    "of the fall, with 95% intervals over seeds (Fieller); – where the fall is below a point or may be 0."
)
# Of models without a normaliser, by kind: the intervention and place of each of CAUSES.
CAUSES = ("target weight", "global moments", "feature moments")
SHARES = {
    "recovered": ((TARGET, ATTENTION), (restored("global"), "before"), (restored("feature"), "before")),
    "Shapley": (
        ("target weight (feature moments)", "before"),
        ("moments (global moments)", "before"),
        ("moments (feature moments)", "before"),
    ),
    "damage": ((TRAINED_TARGET, ATTENTION), (damaged("global"), "before"), (damaged("feature"), "before")),
}
CAUSES_NOTE = (
    "The first table of a task is without a normaliser, with the longest length beside the mean. Compare causes by the "
    "Shapley shares: what the weight alone recovers is also O's, which it restores. Its Shapley share is that beside "
    "the feature moments."
)


def markdown(shares: pd.DataFrame, gains: Mapping[tuple[str, str, str], Mapping[str, Values]]) -> str:
    """Return the shares beyond training, and `gains` of `shares.gain` by task, range and treatment, as Markdown."""
    beyond = shares[shares["length"].isna()]
    lines = ["# Interventions: one thing is set, the rest is left", "", NOTE, "", CAUSES_NOTE]
    for (task, range_), models in beyond.groupby(["task", "range"], sort=False):
        falls = models.drop_duplicates("norm").assign(kind="fall (points)", intervention="", where="")
        falls["cell"] = texts(falls, "fall", "z.1f")
        cells = pd.concat([falls, models.assign(cell=texts(models, "share", "z.0f", 100))])
        wide = cells.pivot_table("cell", ["kind", "intervention", "where"], "norm", aggfunc="first", sort=False)
        norms = sorted(wide.columns, key=lambda norm: (norm != "none", norm))
        filled = wide[norms].reset_index().fillna(MISSING)
        body = table(["", "", "where", *norms], filled.to_numpy().tolist(), texts=3)
        causes = _causes(rows(shares, task=task, range_=range_, norm="none"))
        lines += ["", f"**{task}, trained on the {range_} range**", "", causes, "", body]
    split = []
    for names, parts in gains.items():
        means = [mean_estimate(values, "+.1f") for values in parts.values()]
        split.append([", ".join(names), *means])
    lines += ["", "**Gain over none (points): what the target's weights bring of it, and what the rest does**", ""]
    lines += [table(["", "gain", "attention", "read-out"], split), ""]
    noted = beyond[beyond["note"] != ""].drop_duplicates(["task", "range", "norm", "note"])
    for row in noted.itertuples():
        lines.append(f"- {row.task} {row.range} {row.norm}: {row.note}.")
    return "\n".join(lines).rstrip() + "\n"


def _causes(models: pd.DataFrame) -> str:
    """Return SHARES of CAUSES as a table, the means beyond training and those at the longest length."""
    longest = models["length"].max()
    scopes = {"mean": models[models["length"].isna()], power(longest): rows(models, length=longest)}
    head = [""]
    columns = []
    for scope, measured in scopes.items():
        cells = measured.assign(cell=texts(measured, "share", "z.0f", 100))
        by_place = cells.set_index(["kind", "intervention", "where"])["cell"]
        for kind, places in SHARES.items():
            head.append(f"{kind}, {scope}")
            columns.append([by_place[kind, *place] for place in places])
    return table(head, zip(CAUSES, *columns, strict=True))
