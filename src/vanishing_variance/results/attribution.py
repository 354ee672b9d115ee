"""Attribution of accuracy to quantities inside a model: between seeds, between models, and across lengths.

n rows: models times lengths.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.interventions.names import PLACES
from vanishing_variance.results.quantities import GROUPINGS, OF_TRAINING, QUANTITIES
from vanishing_variance.statistics.association import Association, association


def beside_accuracy(mechanism: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model and test length: task, range, norm, seed, length, plain `accuracy` (a fraction), its inside.

    What was measured of O at the lengths of training stands beside it, as `trained_<name>`. Numbers have six digits.
    Both frames have task, range and norm; `mechanism` has the columns of `inside.frame`, `accuracy` those of
    metrics/accuracy.csv. Raises InputError when one has models or lengths that the other lacks, or a number
    is not finite.
    """
    model = ["task", "range", "norm", "seed"]
    plain = accuracy.query("temperature == 'plain'")[[*model, "length", "accuracy"]]
    of_training = [f"{name}_{where}" for name in OF_TRAINING for where in PLACES]
    trained = mechanism.query("sample == 'trained'").set_index(model)[of_training].add_prefix("trained_").reset_index()
    tested = mechanism.query("sample == 'tested'").drop(columns="sample")
    together = tested.merge(trained, on=model, validate="many_to_one")
    together = together.merge(plain, on=[*model, "length"], validate="one_to_one")
    if not len(together) == len(tested) == len(plain):
        raise InputError("runs/evaluated: mechanism and accuracy are of different models or lengths; run dvc repro")
    numbers = together.drop(columns=[*model, "length", "accuracy"])
    values = numbers.to_numpy()
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        whose = ", ".join(f"{name} {value}" for name, value in together.loc[row, [*model, "length"]].items())
        raise InputError(
            f"runs/evaluated: {numbers.columns[column]} is {values[row, column]} ({whose}), as where O does not vary "
            "at all; try larger initial weights, or a larger training.learning_rate"
        )
    digits = numbers.map(lambda number: float(f"{number:.6g}"))
    return pd.concat([together[[*model, "length", "accuracy"]], digits], axis=1)


def explained(beside: pd.DataFrame, root: int) -> pd.DataFrame:
    """Return a row a task, range, grouping and quantity: how much of the accuracy it explains, over all test lengths.

    `norms`, the normalisers whose models are in it; `r`, the correlation within groups, and `r2`, its square, each with
    a 95% interval over seeds (`…_low`, `…_high`); `beyond`, the squared partial correlation given the attention on the
    target, with its interval; `n`, models times lengths; `note`, why something is missing.
    """
    rows = []
    for (task, range_), of in beside.groupby(["task", "range"], sort=False):
        norms = ", ".join(dict.fromkeys(of["norm"]))
        for grouping, columns in GROUPINGS.items():
            for name in QUANTITIES:
                rng = stream(root, "explained", str(task), str(range_), grouping, name)
                names = {"task": task, "range": range_, "norms": norms, "grouping": grouping, "quantity": name}
                rows.append(names | _associated(of, columns, name, rng))
    return pd.DataFrame(rows)[[*CSV["explained"]]]


def _associated(of: pd.DataFrame, columns: Sequence[str], name: str, rng: np.random.Generator) -> dict[str, object]:
    values, target = (QUANTITIES[one][1](of).to_numpy(dtype=float) for one in (name, "target"))
    group = of.groupby(list(columns)).ngroup().to_numpy()
    both = values, of["accuracy"].to_numpy(), group, of["seed"].to_numpy(), rng
    found = association(*both)
    more = Association(found.n) if name == "target" else association(*both, given=target)
    beyond = {"beyond": more.r2, "beyond_low": more.r2_low, "beyond_high": more.r2_high}
    notes = dict.fromkeys(note for note in (found.note, more.note) if note)
    return vars(found) | beyond | {"note": "; ".join(notes)}
