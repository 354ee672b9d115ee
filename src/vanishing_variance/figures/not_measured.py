"""A figure without data: of what is measured inside the paper's network alone."""

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing


def draw(title: str, network: str) -> Drawing:
    """Draw words that say that nothing was measured inside a network."""
    said = f"Not measured: network {network}."
    figure = style.figure(height=1)
    figure.text(0.5, 0.5, f"{title}. {said}", ha="center", va="center")
    return Drawing(figure, title, said)
