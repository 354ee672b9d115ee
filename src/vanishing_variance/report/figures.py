"""The figures of the page: what each shows, in words, and the picture as a `data:` image."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from scour.scour import parse_args, scourString

from vanishing_variance.core.config import get_param
from vanishing_variance.study.scale import steps

# What is shown, by section of the page; the file is plots/<name>.svg.
MECHANISM = ("interventions", "mechanism")
CURVES = ("accuracy", "accuracy-long")
RESULTS = ("figure1", "figure2", "figure3", "figure4", "proposition")
LOSSES = ("loss", "loss-long")
NAMES = (*MECHANISM, *CURVES, *RESULTS, *LOSSES)
_SCOUR = parse_args(
    ["--set-precision=5", "--shorten-ids", "--enable-comment-stripping", "--no-line-breaks", "--strip-xml-prolog"]
)
# What need not be escaped in a `data:` address between double quotes. Base64 is longer, and git packs it half as well.
_SAFE = " !$()*+,-./:;=?@[]^_`{|}~"


@dataclass(frozen=True)
class Figure:
    """A picture; `alt` is what it shows, for who cannot see it, and `caption` says n and what an interval is."""

    name: str
    title: str
    caption: str
    alt: str
    image: str


def figures(names: tuple[str, ...], pictures: Mapping[str, str], params: Mapping[str, Any]) -> list[Figure]:
    """Return the figures called `names`, as SVG texts in `pictures`, captioned with the numbers of params.yaml."""
    seeds = len(get_param(params, "blocks", list[int])) * get_param(params, "seeds_per_block", int)
    return _figures(names, pictures, _words(params, str(seeds)))


def recorded(picture: str, params: Mapping[str, Any], seeds: str) -> Figure:
    """Return the accuracies of the record with this params.yaml and as many seeds; `picture` is an SVG text."""
    [figure] = _figures(("accuracy",), {"accuracy": picture}, _words(params, seeds))
    return replace(figure, name="recorded", title=f"The record: {figure.title[0].lower()}{figure.title[1:]}")


def _figures(
    names: tuple[str, ...], pictures: Mapping[str, str], words: Mapping[str, tuple[str, str, str]]
) -> list[Figure]:
    return [Figure(name, *words[name], data_image(pictures[name])) for name in names]


def data_image(picture: str) -> str:
    """Return an SVG text as a `data:` address: the same picture to a hundredth of a point, in half as many bytes."""
    return f"data:image/svg+xml,{quote(scourString(picture, _SCOUR), safe=_SAFE)}"


def _words(params: Mapping[str, Any], seeds: str) -> dict[str, tuple[str, str, str]]:
    """Return title, caption and alternative text by name."""
    norm, task = get_param(params, "norm", str), get_param(params, "figures.task", str)
    looked = get_param(params, "diagnostics.sequences", int)
    rows = get_param(params, "diagnostics.heatmap_sequences", int)
    checked, tail = get_param(params, "proposition.sequences", int), get_param(params, "proposition.tail", int)
    probed, model = get_param(params, "probe.sequences", int), get_param(params, "probe.model", str)
    longest = {name: get_param(params, f"ranges.{name}.longest", int) for name in ("short", "long")}
    per_seed = f"Thin lines are each of n = {seeds} seeds, thick ones their mean."
    tasks = get_param(params, "tasks", dict)
    each = {name: [f"{task} after {steps(params, task, name):,} steps" for task in tasks] for name in longest}
    made = {name: " and ".join(said) for name, said in each.items()}
    mean = f"means over n = {seeds} seeds, the band is the 95% t interval of the mean over seeds."
    models = f"none and + {norm}"
    return {
        "mechanism": (
            "Mechanism",
            f"How much of the accuracy each quantity explains (squared correlation within groups), n = {seeds} seeds a "
            "variant; the bars are 95% intervals, by the bootstrap over seeds.",
            "Shares of the accuracy that quantities inside the trained models explain, with intervals",
        ),
        "interventions": (
            "Interventions",
            f"Trained on up to {longest['short']} items: the share of the lost accuracy that comes back where one "
            "thing is put right in long sequences, and that is lost where it is put wrong in sequences of the training "
            f"lengths; n = {seeds} seeds, the band is the 95% interval over seeds (Fieller).",
            "Shares of the lost accuracy that interventions recover and reproduce, against sequence length",
        ),
        "figure1": (
            "Figure 1",
            f"Inside {model}: the standard deviation of components of an attention output over n = {probed} sequences "
            "a length. Exponents are of power laws fitted to all lengths, with 95% t intervals over lengths. The last "
            "token is the query: in one panel, not the paper's, it is the same in all sequences.",
            f"Standard deviation of attention outputs inside {model} falling with sequence length, on log axes",
        ),
        "figure2": (
            "Figure 2",
            f"{task}, one model a row: the distribution of single features of the attention output over n = {looked} "
            "sequences a length.",
            f"Histograms of features of the attention output by length, {models}: they narrow as sequences grow",
        ),
        "figure3": (
            "Figure 3",
            f"{task}, one model a line: drift of the global mean and decay of the global variance of the attention "
            f"output; means over n = {looked} sequences a length, the band is ±1.96 standard errors over sequences.",
            f"Drift of the mean and decay of the variance of the attention output against length, {models}",
        ),
        "figure4": (
            "Figure 4",
            f"{task}, one model a row: the largest attention weights of n = {rows} sequences a length, a sequence a "
            "line.",
            f"Heat maps of the largest attention weights by length, {models}: the weights spread as sequences grow",
        ),
        "accuracy": (
            f"Accuracy against length, trained on up to {longest['short']} items",
            f"{made['short']}; {mean}",
            "Accuracy of every variant against sequence length, a panel a task and temperature, short range",
        ),
        "accuracy-long": (
            f"Accuracy against length, trained on up to {longest['long']} items",
            f"{made['long']}; {mean}",
            "Accuracy of every variant against sequence length, a panel a task and temperature, long range",
        ),
        "proposition": (
            "Proposition 1",
            f"One model a panel: variance of single features against length, over n = {checked} sequences a length; "
            "lines are medians over features, the band is their 10th to 90th percentile. Exponents are fitted to the "
            f"lengths of {tail:,} items or more alone.",
            "Variance of features of the attention output against length, with its prediction and its bound",
        ),
        "loss": (
            f"Training loss, trained on up to {longest['short']} items",
            per_seed,
            "Training loss against gradient step, a panel a task, short range",
        ),
        "loss-long": (
            f"Training loss, trained on up to {longest['long']} items",
            per_seed,
            "Training loss against gradient step, a panel a task, long range",
        ),
    }
