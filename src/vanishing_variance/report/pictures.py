"""The page's pictures of the study at the paper's scale."""

from collections.abc import Iterator

from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.runs import REFERENCE, TASKS
from vanishing_variance.studies.paper_tables import Compared


def accuracies(compared: Compared) -> Iterator[tuple[str, Drawing]]:
    """Yield accuracy against length by the name of its file, a figure a range."""
    training = compared.training
    for name, longest in training.longest.items():
        means = accuracy_figure.data(compared.accuracy, TASKS, name)
        papers = accuracy_figure.papers(read_csv(REFERENCE), name)
        steps = {task: training.steps[task, name] for task in TASKS}
        stem = "accuracy" if name == "short" else f"accuracy-{name}"
        yield stem, accuracy_figure.draw(means, papers, (training.shortest[name], longest), steps)
