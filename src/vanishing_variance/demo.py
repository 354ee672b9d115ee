"""A first answer in minutes: layer normalisation, and what holds at length, on the dictionary (`make demo`).

    python -m vanishing_variance.demo [FOLDER]

Two seeds each, trained on 5 to 16 items by params.yaml, tested to 2^14. Prints a row a
treatment as it goes; writes FOLDER/accuracy.csv and accuracy.png (by default demo/), and touches no file of the study.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import style, variants
from vanishing_variance.figures.answer import THREE_CHANGES
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import get_param
from vanishing_variance.notebook import DEFAULTS, evaluate, read_params, train
from vanishing_variance.results.columns import rows

SEEDS = (0, 1)
LENGTHS = tuple(2**exponent for exponent in range(4, 15))
SEQUENCES = 256
SHARED = {"tasks.dictionary.steps.short": 8_000, "training.seeds_per_process": 1}
# Of a params.yaml that was changed, what the names of the treatments say otherwise.
PLAIN = {"network": "paper", "network_options": {}, "attention": "softmax", "attention_options": {}}
PLAIN |= {"model.projection": "mlp", "training.decay": "none"}
# By name: the normaliser, and what else differs.
LOOKS = {"none": variants.look("none"), "ln": variants.look("ln"), "three changes": THREE_CHANGES}
LINES: dict[str, tuple[str, dict[str, str]]] = {
    "none": ("none", {}),
    "ln": ("ln", {}),
    "three changes": ("none", {"attention": "power", "model.projection": "direct", "training.decay": "cosine"}),
}
CAPTION = (
    f"Mean accuracy of {len(SEEDS)} seeds, trained on the shaded lengths, on dictionary retrieval. ln: layer "
    "normalisation of the attention outputs; two seeds cannot tell whether it helps. Three changes: features straight "
    "into attention, logits times a learned power of N, a learning rate that falls to 0."
)


def main() -> None:
    """Train, test, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("demo"))
    folder = parser.parse_args().folder
    print("accuracy (%) by length".ljust(24) + "".join(f"{length:>8}" for length in LENGTHS), flush=True)
    curves = {}
    for name, (norm, changes) in LINES.items():
        models = train(read_params(PLAIN | SHARED | changes, DEFAULTS), "dictionary", norm, SEEDS)
        accuracy = rows(evaluate(models, LENGTHS, SEQUENCES), rule="last")
        curves[name] = 100 * accuracy.groupby("length")["accuracy"].mean()
        print(name.ljust(24) + "".join(f"{percent:8.1f}" for percent in curves[name]), flush=True)
    table = pd.DataFrame(curves)
    write_csv(folder / "accuracy.csv", table.reset_index())
    write_figure(folder / "accuracy", drawn(table))
    print(f"the picture: {(folder / 'accuracy.png').resolve()}", file=sys.stderr)


def drawn(curves: pd.DataFrame) -> Drawing:
    """Draw mean accuracies (%), a column a treatment, against the length, their index; training lengths are shaded."""
    trained: Range = get_param(read_params(path=DEFAULTS), "ranges.short", Range)
    figure = style.figure(3.2)
    axes = figure.subplots()
    axes.axvspan(trained.shortest, trained.longest, color=style.LIGHT, zorder=0, label="training lengths")
    for name in LINES:
        axes.plot(curves.index, curves[name], **LOOKS[name], label=name)
    style.length_axis(axes, curves.index)
    axes.set(title="dictionary: the value of a key among N items", ylabel="accuracy (%)", ylim=(-2, 105))
    style.legend_above(figure, columns=4)
    style.note(
        figure,
        f"mean of {len(SEEDS)} seeds: too few for a band, or to compare none (no normaliser) with ln (layer norm)",
    )
    return Drawing(figure, "Accuracy against length", CAPTION)


if __name__ == "__main__":
    try:
        run_script(main)
    except KeyboardInterrupt:
        sys.exit(130)
