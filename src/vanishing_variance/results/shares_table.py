"""The shares of the lost accuracy and the read-out as tables, for Markdown and for the page."""

from collections.abc import Iterator, Mapping

import pandas as pd

from vanishing_variance.harness.markdown import MISSING, Groups, estimate, grouped, mean_estimate, power
from vanishing_variance.harness.runs import RANGES
from vanishing_variance.measure.interventions.names import ATTENTION, DAMAGING, PLACES, RECOVERING
from vanishing_variance.results.shares import BEYOND, Values

NOTE = (
    "Mean accuracy over all test lengths beyond training, plain softmax. Recovered: (intervened − base) / fall, on "
    "long sequences; damage: (training-length accuracy − intervened) / fall, on sequences of the training lengths; the "
    "fall is training-length accuracy − base. Shapley: what both restored bring, shared between the target's weight "
    "and the moments. In percent of the fall, with 95% intervals over seeds (Fieller); – where the fall is below a "
    "point or may be 0."
)
READ_NOTE = (
    "Accuracy (%) of sequences by the target's attention weight, with 95% t intervals over seeds that have 10 such "
    "sequences or more. Flattened: sequences of the training lengths, their logits times 1 to 0."
)
KINDS = ("recovered", "damage", "Shapley")
PARTS = ("gain", "attention", "read-out")


def groups(shares: pd.DataFrame) -> Groups:
    """Return a group a task and range, a row an intervention and place, a column a variant; of `shares.shares`."""
    made: Groups = []
    for heading, norms, of in _variants(shares[shares["scope"] == BEYOND]):
        by_norm = of.set_index(["norm", "kind", "intervention", "where"])
        rows = [("fall (points)", [_number(by_norm.loc[norm].iloc[0], "fall", 1, "z.1f") for norm in norms])]
        for kind, name, where in sorted(by_norm.loc[norms[0]].index, key=_place):
            words = f"{kind}: {name}" + ("" if where == ATTENTION else f", {where} the normaliser")
            of_each = by_norm.loc[[(norm, kind, name, where) for norm in norms]]
            rows.append((words, [_number(share, "share", 100, "z.0f") for _, share in of_each.iterrows()]))
        made.append((heading, norms, rows))
    return made


def markdown(
    shares: pd.DataFrame, gains: Mapping[tuple[str, str, str], Mapping[str, Values]], read_out: pd.DataFrame
) -> str:
    """Return all tables; `gains` of `shares.gain` by task, range and treatment, `read_out` of `readings.read_out`."""
    title, head = "Gain over none (points): what the target's weights bring of it, and what the rest does", list(PARTS)
    rows = [
        (f"{task}, {range_} range, {norm}", [mean_estimate(parts[name], "+.1f") for name in PARTS])
        for (task, range_, norm), parts in gains.items()
    ]
    lines = ["# Interventions: one thing is set, the rest is left", "", NOTE]
    lines += [*grouped([*groups(shares), (title, head, rows)]), "", READ_NOTE, *grouped(_read(read_out))]
    notes = shares[(shares["note"] != "") & (shares["scope"] == BEYOND)]
    notes = notes.drop_duplicates(["task", "range", "norm", "note"])
    lines += ["", *(f"- {of.task} {of.range} {of.norm}: {of.note}." for of in notes.itertuples())]
    return "\n".join(lines).rstrip() + "\n"


def _variants(of: pd.DataFrame) -> Iterator[tuple[str, list[str], pd.DataFrame]]:
    """Yield a heading, the normalisers and the rows of each task and range, in the order of the study."""
    for task in dict.fromkeys(of["task"]):
        for range_ in RANGES:
            part = of[(of["task"] == task) & (of["range"] == range_)]
            if norms := sorted(dict.fromkeys(part["norm"]), key=lambda norm: (norm != "none", norm)):
                yield f"{task}, trained on the {range_} range", norms, part


def _place(key: tuple[str, str, str]) -> tuple[int, int, str, int]:
    """Return where an intervention stands in the table."""
    kind, name, where = key
    names = {"recovered": RECOVERING, "damage": DAMAGING}.get(kind, (name,))
    form = name.partition("(")[2]
    return KINDS.index(kind), names.index(name), form, PLACES.index(where) if where in PLACES else 0


def _read(read_out: pd.DataFrame) -> Groups:
    made: Groups = []
    for heading, norms, of in _variants(read_out):
        lengths = sorted(of.loc[of["length"] > 0, "length"].unique())
        chosen = dict.fromkeys([0, *lengths[len(lengths) // 2 :: max(1, len(lengths) // 3)]])
        columns = [(length, norm) for length in chosen for norm in norms]
        head = [f"{power(int(length)) if length else 'flattened'}, {norm}" for length, norm in columns]
        percent = 100 * of[["accuracy", "low", "high"]].to_numpy()
        cells = of.assign(cell=[estimate("z.0f", *numbers) for numbers in percent])
        wide = cells.pivot(index=["above", "to"], columns=["length", "norm"], values="cell")
        wide = wide.reindex(columns=columns).dropna(how="all").astype(object).fillna(MISSING)
        rows = [(f"{above:g} to {to:g}", texts) for above, to, *texts in wide.reset_index().itertuples(index=False)]
        made.append((f"Right answers by the target's weight: {heading}", head, rows))
    return made


def _number(of: "pd.Series[float]", name: str, by: float, how: str) -> str:
    return estimate(how, *(by * of[one] for one in (name, f"{name}_low", f"{name}_high")))
