"""The one schema of results, of metrics/results.csv and of studies: a row a model and length, a column a rule.

Length 0 is the training lengths, of which O alone is measured; what is the same after the normaliser as before is left
out. From it come results by rule, and the inside of models beside their accuracy.
"""

import pandas as pd

from vanishing_variance.measure.parts import PARTS
from vanishing_variance.results.columns import LOSS, MODEL, NO_ANSWER, OUTPUTS, STEP, WEIGHTS, rows
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.intervals import NAN

BEFORE = [name for name in OUTPUTS if name.endswith("_before")]


def by_rule(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model, rule and tested length: `rule`, `accuracy`, `loss`, `no_answer`, PARTS, the inside.

    A diverged training has its `note` alone.
    """
    tested = results[results["length"] != 0]
    rules = [name for name in map(str, results) if name in RULES or name.startswith(STEP)]
    beside_rules = (LOSS, NO_ANSWER, *PARTS)
    of_rules = [name for name in results if str(name).startswith(tuple(f"{beside}_" for beside in beside_rules))]
    others = tested.drop(columns=[*rules, *of_rules]).assign(note=tested.get("note"))
    parts = [others[others["note"].notna()]]
    for rule in rules:
        beside = {name: tested.get(f"{name}_{rule}", NAN) for name in beside_rules}
        part = others.assign(rule=rule, accuracy=tested[rule], **beside)
        parts.append(part.dropna(subset="accuracy"))
    return pd.concat(parts).sort_index(kind="stable")


def without_diverged(tested: pd.DataFrame) -> pd.DataFrame:
    """Return the results by rule of the lines of which, on a task, no training diverged."""
    has_note = tested["note"].notna().groupby([tested["task"], tested["line"]]).transform("any")
    return tested[~has_note.astype(bool)]


def beside_accuracy(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model and test length: MODEL, length, `accuracy` by the rule `last` (a fraction), its inside.

    What was measured of O at the training lengths stands beside it, as `trained_<name>`.
    """
    named = results.rename(columns={"variance": "variance_before", "last": "accuracy"})
    inside = named.reindex(columns=[*MODEL, "length", "accuracy", *WEIGHTS, *OUTPUTS])
    for before in BEFORE:
        after = before.replace("_before", "_after")
        inside[after] = inside[after].fillna(inside[before])
    trained = rows(inside, length=0).set_index(MODEL)[OUTPUTS].add_prefix("trained_").reset_index()
    tested = inside[inside["length"] > 0].dropna(subset="accuracy")
    return tested.merge(trained, on=MODEL, validate="many_to_one")
