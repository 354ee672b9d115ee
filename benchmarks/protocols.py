"""Training protocols that the paper leaves open: `python -m benchmarks.protocols TASK [PROTOCOL ...]`.

For each protocol, none and ln are trained on up to 16 items, a process each, the same seeds (`--seeds`) and data, and
tested on the same sequences at every length. Writes metrics/protocols.csv and protocols.md; seeds that are there
already are not run again. docs/protocol.md has the rule by which one was chosen. Networks that lost live here, not in
the package.
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import torch
from pydantic import BaseModel
from scipy import stats
from torch import Tensor
from torch.nn.functional import gelu

from benchmarks import ROOT
from benchmarks.rows import add_rows, read_rows
from benchmarks.workload import Workload, parts
from vanishing_variance.engine.adam import Adam, TorchAdam, adam
from vanishing_variance.engine.initialisation import Initial, draw
from vanishing_variance.engine.interfaces import Batch, Weights
from vanishing_variance.engine.items import Items
from vanishing_variance.engine.kernels.compiled_adam import Rates
from vanishing_variance.engine.linear import Linear, linear
from vanishing_variance.engine.loop import train
from vanishing_variance.engine.network import Network
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TaskTraining
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness import parallel
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import power
from vanishing_variance.harness.parallel import Job, Report
from vanishing_variance.harness.progress import Progress
from vanishing_variance.harness.runs import METRICS, REFERENCE
from vanishing_variance.measure.inference.models import Models, joined
from vanishing_variance.results.baseline import BEHIND
from vanishing_variance.statistics.intervals import interval, mean_estimate

LONGEST, SEQUENCES = 16, 512
LENGTHS = tuple(2**exponent for exponent in range(4, 15))
NORMS = ("none", "ln")
INTRODUCTION = (
    "What the paper leaves open, tried by `python -m benchmarks.protocols`. *base*: embeddings of width 64 and "
    "standard deviation 1/8, logits over √D, W_O, no biases in attention, a constant rate of 1e-3, no decay; every "
    "other is base but for what its name says. *biases*: of W_Q, W_V and W_O, as PyTorch's linear layers have them "
    "(of W_K it would change nothing); *width*, *std*: of the embeddings; *cosine*: the rate falls to 0; *L2*: a "
    "decay in the loss; *GELU after both layers*, *one layer*: of the item and query MLP. Intervals are of 95%, "
    "over n seeds. Which was chosen, and by which rule: docs/protocol.md."
)
STEPS = {"argmax": 40_000, "dictionary": 10_000}
KEYS = ("task", "protocol", "norm", "seed", "rule", "length")
COLUMNS = (*KEYS, "accuracy", "loss", "entropy")
SHOWN = (LONGEST, 2**8, 2**11, 2**14)


@dataclass(frozen=True)
class Protocol:
    """How models are made and trained: as params.yaml says, but for BASE and what a protocol changes.

    `parameters` replace those of Model, Training and the task's training, wherever they are; `deep` is whether a GELU
    stands after both layers of the item and query MLP; `layers` of these MLPs; `late`, whether the normaliser stands
    after W_O; `gain`, of the initial W_Q, W_K and W_V; `coupled`, whether the decay is of the loss, as in
    torch.optim.Adam, where it goes through the averages of the gradients, instead of the weights alone, as in
    torch.optim.AdamW.
    """

    parameters: Mapping[str, object] = field(default_factory=dict)
    lengths: tuple[int, int] = (5, LONGEST)
    deep: bool = False
    layers: int = 2
    late: bool = False
    gain: float = 1.0
    coupled: bool = False


def _embeddings(std: float, width: int = 64) -> dict[str, object]:
    return {"embedding_std": std, "embedding_width": width}


def _rate(rate: float) -> dict[str, object]:
    return {"learning_rate": rate}


def _weight_decay(decay: float) -> dict[str, object]:
    return {"weight_decay": decay}


# What params.yaml said when the list was written; every other protocol is this but for what its name says.
BASE: dict[str, object] = {
    **{"embedding_width": 64, "embedding_std": 0.125},
    **{"width": 128, "epsilon": 1e-5, "projection": "mlp"},
    **{"attention_biases": False, "scaled_logits": True, "output_projection": True},
    **{"batch_size": 128, "learning_rate": 1e-3, "weight_decay": 0.0, "decay": "none"},
}

# nn.MultiheadAttention draws the three as one matrix (3D, D), by Glorot's rule, and its biases are 0.
MULTIHEAD = 1.5**0.5
COSINE: dict[str, object] = {"decay": "cosine"}
UNSCALED: dict[str, object] = {"scaled_logits": False}
NO_OUTPUT: dict[str, object] = {"output_projection": False}
BIASES: dict[str, object] = {"attention_biases": True}
WIDE = _embeddings(128**-0.5, 128)
PROTOCOLS = {
    "base": Protocol(),
    "cosine": Protocol(COSINE),
    "std 1": Protocol(_embeddings(1.0)),
    "std 1, cosine": Protocol(_embeddings(1.0) | COSINE),
    "std 1, width 128, cosine": Protocol(_embeddings(1.0, 128) | COSINE),
    "std 1, width 32, cosine": Protocol(_embeddings(1.0, 32) | COSINE),
    "std 1, width 32": Protocol(_embeddings(1.0, 32)),
    "width 96": Protocol(_embeddings(96**-0.5, 96)),
    "width 96, logits not scaled": Protocol(_embeddings(96**-0.5, 96) | UNSCALED),
    "width 128": Protocol(WIDE),
    "width 128, logits not scaled": Protocol(WIDE | UNSCALED),
    "width 128, logits not scaled, rate 5e-4": Protocol(WIDE | UNSCALED | _rate(5e-4)),
    "width 128, logits not scaled, cosine": Protocol(WIDE | UNSCALED | COSINE),
    "std 1, width 16": Protocol(_embeddings(1.0, 16)),
    "std 1, width 16, normaliser after W_O": Protocol(_embeddings(1.0, 16), late=True),
    "std 0.5": Protocol(_embeddings(0.5)),
    "std 0.25": Protocol(_embeddings(0.25)),
    "std 0.02": Protocol(_embeddings(0.02)),
    "std 1, rate 3e-4": Protocol(_embeddings(1.0) | _rate(3e-4)),
    "std 1, rate 1e-4": Protocol(_embeddings(1.0) | _rate(1e-4)),
    "rate 3e-4": Protocol(_rate(3e-4)),
    "rate 3e-3": Protocol(_rate(3e-3)),
    "logits not scaled": Protocol(UNSCALED),
    "logits not scaled, normaliser after W_O": Protocol(UNSCALED, late=True),
    "logits not scaled, rate 3e-4": Protocol(UNSCALED | _rate(3e-4)),
    "GELU after both layers": Protocol(deep=True),
    "std 1, GELU after both layers": Protocol(_embeddings(1.0), deep=True),
    "one layer": Protocol(layers=1),
    "std 1, one layer": Protocol(_embeddings(1.0), layers=1),
    "no W_O": Protocol(NO_OUTPUT),
    "normaliser after W_O": Protocol(late=True),
    "std 1, normaliser after W_O": Protocol(_embeddings(1.0), late=True),
    "std 0.5, normaliser after W_O": Protocol(_embeddings(0.5), late=True),
    "attention as nn.MultiheadAttention": Protocol(BIASES, gain=MULTIHEAD),
    "length 16 alone": Protocol(lengths=(16, 16)),
    "lengths from 1": Protocol(lengths=(1, 16)),
    "decay 0.01": Protocol(_weight_decay(0.01)),
    "decay 0.001": Protocol(_weight_decay(0.001)),
    "L2 0.001": Protocol(_weight_decay(0.001), coupled=True),
    "width 128, no W_O, logits not scaled": Protocol(WIDE | UNSCALED | NO_OUTPUT),
    "no W_O, logits not scaled": Protocol(UNSCALED | NO_OUTPUT),
    "no W_O, decay 0.001, logits not scaled": Protocol(UNSCALED | NO_OUTPUT | _weight_decay(0.001)),
    "width 128, no W_O, decay 0.001, logits not scaled, biases": Protocol(
        WIDE | UNSCALED | NO_OUTPUT | _weight_decay(0.001) | BIASES
    ),
    "width 128, no W_O, logits not scaled, biases": Protocol(WIDE | UNSCALED | NO_OUTPUT | BIASES),
    "width 128, no W_O, logits not scaled, biases, length 16 alone": Protocol(
        WIDE | UNSCALED | NO_OUTPUT | BIASES, lengths=(16, 16)
    ),
    "width 128, no W_O, logits not scaled, biases, lengths from 1": Protocol(
        WIDE | UNSCALED | NO_OUTPUT | BIASES, lengths=(1, 16)
    ),
    "width 128, logits not scaled, biases": Protocol(WIDE | UNSCALED | BIASES),
    "width 128, logits not scaled, decay 0.001, biases": Protocol(WIDE | UNSCALED | _weight_decay(0.001) | BIASES),
    "width 128, biases": Protocol(WIDE | BIASES),
    "width 128, decay 0.001, biases": Protocol(WIDE | _weight_decay(0.001) | BIASES),
    "biases": Protocol(BIASES),
    "logits not scaled, biases": Protocol(UNSCALED | BIASES),
    "width 128, no W_O, decay 0.001": Protocol(WIDE | NO_OUTPUT | _weight_decay(0.001)),
    "width 128, no W_O, decay 0.001, logits not scaled": Protocol(WIDE | UNSCALED | NO_OUTPUT | _weight_decay(0.001)),
}

# Of the list, those that had not run on the dictionary when it was seen that the sign of the gain goes with the losses,
# and from how many nats on that are ln's below none's it was positive in all others.
FORETOLD = (
    *("std 1, width 128, cosine", "std 1, width 32, cosine", "std 1, width 32", "width 96", "std 0.25", "std 0.02"),
    *("std 1, rate 3e-4", "rate 3e-4", "std 1, one layer", "decay 0.01", "decay 0.001"),
    *("std 1, width 16, normaliser after W_O", "std 1, normaliser after W_O", "std 0.5, normaliser after W_O"),
    *("no W_O, decay 0.001, logits not scaled", "width 128, logits not scaled, decay 0.001, biases"),
    "width 128, decay 0.001, biases",
)
LOWER = 0.0095
# Nats: losses that differ by less are called equal.
EQUAL = 0.005


@dataclass(frozen=True)
class Candidate(Variant):
    """A variant whose network is a protocol's."""

    protocol: Protocol = field(default_factory=Protocol)

    def network(self) -> "CandidateNetwork":
        """Return the network."""
        made = super().network()
        return CandidateNetwork(made.embedding, made.attention, made.norm, made.model, self.protocol)

    def initial(self, training: TaskTraining) -> dict[str, Initial]:
        """Return how each tensor of one seed starts; tensors that the network does not read are left out."""
        made = super().initial(training)
        for name in ("query", "key", "value"):
            of = made[f"attention.{name}"]
            made[f"attention.{name}"] = replace(of, bound=of.bound * self.protocol.gain)
        if self.model.attention_biases and self.protocol.gain != 1:
            made |= {
                name: Initial(of.shape)
                for name, of in made.items()
                if name.startswith("attention.") and name.endswith(".bias")
            }
        unread = [] if self.protocol.layers == 2 else ["item.2", "query.2"]
        return {name: of for name, of in made.items() if not name.startswith(tuple(unread))}


@dataclass(frozen=True)
class DeepItems(Items):
    """Items that go through the second layer of their MLP, and a GELU, one by one."""

    second: Linear | None = None

    def hidden(self) -> Tensor:
        """Return the item MLP's last layer, (S, B, N, D)."""
        assert self.second is not None
        first = gelu(self.dense())
        hidden: Tensor = linear(first.flatten(1, 2), self.second).unflatten(1, first.shape[1:3])
        return hidden


@dataclass(frozen=True)
class CandidateNetwork(Network):
    """The network of a protocol."""

    protocol: Protocol

    def encode(
        self, weights: Weights, batch: Batch, tables: Weights | None = None, length: int | None = None
    ) -> tuple[Items, Tensor]:
        """As `Network.encode`, of one head, whose softmax is told no length."""
        how = self.protocol
        items, query = self.embedding.embed(weights, batch, tables)
        layers = [*self._layers(weights, "query"), self._projection(weights, "query"), self._key(weights)]
        if how.deep:
            [_, second] = self._layers(weights, "item")
            parts = {
                name: getattr(items, name) for name in ("embedding", "embedding_index", "base", "base_index", "scale")
            }
            return DeepItems(**parts, second=second), linear(query, *layers)
        if how.layers == 2:
            layers.append(Linear(weights["item.2.weight"], transposed=True))
        return items, linear(query, *layers)

    def outputs(self, weights: Weights, context: Tensor, total: Tensor | None = None) -> Tensor:
        """As `Network.outputs`; the weights of softmax sum to 1."""
        layers = [self._projection(weights, "value")]
        if not self.protocol.deep and self.protocol.layers == 2:
            layers.insert(0, Linear(weights["item.2.weight"], weights["item.2.bias"]))
        if self.protocol.late:
            layers.append(self._projection(weights, "output"))
        return linear(context, *layers)

    def read_out(self, weights: Weights, normalised: Tensor) -> Tensor:
        """As `Network.read_out`."""
        if not self.protocol.late:
            return super().read_out(weights, normalised)
        return linear(normalised, *self._mlp(weights, "head"))

    def _layers(self, weights: Weights, name: str) -> list[Linear]:
        """The layers of the item or query MLP."""
        places = (0, 2) if self.protocol.layers == 2 else (0,)
        inside = [Linear(weights[f"{name}.{at}.weight"], weights[f"{name}.{at}.bias"], gelu=True) for at in places]
        return (
            inside
            if self.protocol.deep or self.protocol.layers == 1
            else [*inside[:-1], inside[-1]._replace(gelu=False)]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=STEPS)
    parser.add_argument("protocol", nargs="*", help=f"one of: {'; '.join(PROTOCOLS)}")
    parser.add_argument("--seeds", type=int, default=8, help="8; fewer to see whether a protocol is worth it")
    chosen = parser.parse_args()
    path = ROOT / METRICS / "protocols.csv"
    for name in chosen.protocol or PROTOCOLS:
        add_missing(path, COLUMNS, chosen.task, name, chosen.seeds, _measured)
    write_text(path.with_suffix(".md"), markdown(read_rows(path, COLUMNS)))


def add_missing(
    path: Path,
    columns: Sequence[str],
    task: str,
    name: str,
    seeds: int,
    measured: Callable[[TrainingPlan, Sequence[int], Report], pd.DataFrame],
) -> None:
    """Measure none and ln of a protocol, of the first seeds those that a table lacks, and add them to it."""
    there = set(read_rows(path, columns).query("task == @task and protocol == @name")["seed"])
    if not (missing := [seed for seed in range(seeds) if seed not in there]):
        return
    plans = [protocol_plan(task, norm, PROTOCOLS[name]) for norm in NORMS]
    jobs: list[Job] = [partial(measured, plan, missing) for plan in plans]
    with Progress(f"{task}: {name}", len(NORMS) * len(missing) * STEPS[task], "seed-steps") as progress:
        made = pd.concat(parallel.run(jobs, progress)).assign(task=task, protocol=name)
    add_rows(path, made, columns)


def protocol_plan(task: str, norm: str, protocol: Protocol) -> TrainingPlan:
    """Return the training of a protocol."""
    plan = Workload("train", task, LONGEST, 1, STEPS[task]).plan()
    variant = plan.variant
    parameters = {**BASE, **protocol.parameters}

    def own(section: BaseModel) -> dict[str, object]:
        return {name: value for name, value in parameters.items() if name in type(section).model_fields}

    shortest, longest = protocol.lengths
    model = variant.model.model_copy(update=own(variant.model))
    return replace(
        plan,
        range_name="short",
        lengths=Range(shortest=shortest, longest=longest),
        variant=Candidate(task, norm, variant.task, model, protocol=protocol),
        training=plan.training.model_copy(update=own(plan.training)),
        task_training=plan.task_training.model_copy(update=own(plan.task_training)),
    )


def _measured(plan: TrainingPlan, seeds: Sequence[int], report: Report) -> pd.DataFrame:
    """Return norm, seed, rule, length, accuracy, and of each seed its last loss and its entropy (nats)."""
    variant = plan.variant
    assert isinstance(variant, Candidate)
    weights = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, seeds)
    kind = coupled if variant.protocol.coupled else adam
    with patch("vanishing_variance.engine.loop.adam", kind):
        history, _ = train(plan, weights, seeds, report)
    losses = history[-10:].mean(axis=0)
    rows = []
    for rule, length, accuracy, entropy in tested(plan, weights):
        cells = zip(seeds, accuracy.tolist(), losses.tolist(), entropy.tolist(), strict=True)
        rows += [(variant.norm_name, seed, rule, length, *cell) for seed, *cell in cells]
    return pd.DataFrame(rows, columns=COLUMNS[2:])


def tested(plan: TrainingPlan, weights: Weights) -> Iterator[tuple[str, int, Tensor, Tensor]]:
    """Yield rule, length, and of each seed its accuracy (a fraction) and entropy (nats), (S,)."""
    variant = plan.variant
    models = Models.of(variant, {name: tensor.detach().numpy() for name, tensor in weights.items()})
    for length in LENGTHS:
        drawn = variant.task.sample(stream(plan.root_seed, "protocols", variant.task_name, length), SEQUENCES, length)
        answers = []
        for batch in parts(drawn, models.batch_size(length)):
            attended = models.attend(batch)
            answers.append(models.correct(batch, attended) | {"entropy": attended.entropy})
        together = joined(answers)
        entropy = torch.from_numpy(together["entropy"]).mean(1)
        for rule in ("plain", "adaptive"):
            yield rule, length, torch.from_numpy(together[rule]).double().mean(1), entropy


def coupled(weights: Weights, tables: Collection[str], rates: Rates, decay: float) -> Adam:
    """Return Adam whose decay is added to the gradient, as torch.optim.Adam: of every row of a table, read or not."""
    made = TorchAdam(weights, tables, rates, decay)
    made._adam.param_groups[0]["decoupled_weight_decay"] = False
    return made


def markdown(found: pd.DataFrame) -> str:
    """Return, a task, a row a protocol: distance from the paper's table and ln minus none; then the accuracies.

    And then which of the list have not run.
    """
    paper = read_csv(REFERENCE).query("quantity == 'accuracy_pct' and variant in @NORMS and range == 'short'")
    head = ["protocol", "n", "from the paper's (pp)", "plain softmax alone", "ln − none beyond 16 (pp)", "p"]
    head += ["the same, adaptive", "p", "adaptive − plain beyond 16, none", "ln"]
    head += ["entropy at 2^4 (nats), none", "ln", "training loss (nats), none", "ln"]
    accuracies = ["accuracy (%), plain softmax", *(f"{norm} at {power(at)}" for at in SHOWN for norm in NORMS)]
    lines = ["# Training protocols", "", INTRODUCTION, ""]
    for task, of_task in found.groupby("task", sort=False):
        theirs = paper[paper["task"] == task].set_index(["variant", "rule", "length"])
        cells = theirs["value"].dropna()
        beyond = cells[cells.index.get_level_values("length") > LONGEST].groupby(level=[0, 1]).mean()
        gains = [f"{round(beyond['ln', how] - beyond['none', how], 3):+.2f}" for how in ("plain", "adaptive")]
        sharper = [f"{beyond[norm, 'adaptive'] - beyond[norm, 'plain']:+.1f}" for norm in NORMS]
        protocols = list(of_task.groupby("protocol", sort=False))
        rows = [_gains(str(name), of, cells) for name, of in protocols]
        rows.append(["paper", "100", "", "", gains[0], "", gains[1], "", *sharper, "", "", "", ""])
        lines += [f"## {task}, trained on up to {LONGEST}, {STEPS[str(task)]:,} steps", "", table(head, rows), ""]
        all_of = by_protocol(of_task, cells["none", "plain", LONGEST])
        lines += [" ".join(filter(None, [_clear(all_of), _by_loss(all_of), _foretold(str(task), all_of)])), ""]
        rows = [[str(name), *_accuracies(of)] for name, of in protocols]
        rows.append(["paper", *(f"{cells[norm, 'plain', at]:.1f}" for at in SHOWN for norm in NORMS)])
        lines += [table(accuracies, rows), ""]
        if unrun := _unrun(str(task), of_task["protocol"].unique()):
            lines += [f"Of the list, not run: {'; '.join(unrun)}.", ""]
    return "\n".join(lines)


def _unrun(task: str, run: Collection[str]) -> list[str]:
    """Return the protocols that have not run, one of those that are the same on a task without embeddings."""

    def on_task(name: str) -> Protocol:
        protocol = PROTOCOLS[name]
        kept = {key: value for key, value in protocol.parameters.items() if "embedding" not in key}
        return protocol if task == "dictionary" else replace(protocol, parameters=kept)

    known, unrun = [on_task(name) for name in run if name in PROTOCOLS], []
    for name in sorted(PROTOCOLS, key=lambda name: PROTOCOLS[name] != on_task(name)):
        if on_task(name) not in known:
            known.append(on_task(name))
            unrun.append(name)
    return unrun


def _accuracies(of: pd.DataFrame) -> list[str]:
    plain = of[of["rule"] == "plain"].set_index(["norm", "length"])["accuracy"].sort_index() * 100
    bounds = (interval(plain[norm, at].to_numpy()) for at in SHOWN for norm in NORMS)
    return [f"{mean:.1f} [{low:.1f}, {high:.1f}]" for mean, low, high in bounds]


def _beyond(of: pd.DataFrame) -> pd.Series:
    """Return the accuracy (%) beyond training by norm, rule and seed."""
    accuracies: pd.Series = of[of["length"] > LONGEST].groupby(["norm", "rule", "seed"])["accuracy"].mean() * 100
    return accuracies


def by_protocol(of_task: pd.DataFrame, papers: float) -> pd.DataFrame:
    """Return a row a protocol; `papers` is the paper's accuracy (%) of none at 2^4.

    Columns: `protocol`; `n` seeds; `gain`, `low` and `high`, of ln - none beyond training (pp) with its 95% interval;
    `lower`, by how many nats the training loss of ln is below that of none; `near`, whether the baseline is level.
    """
    rows = []
    for name, of in of_task.groupby("protocol", sort=False):
        beyond = _beyond(of)
        gain = interval((beyond["ln", "plain"] - beyond["none", "plain"]).to_numpy())
        loss = of.groupby("norm")["loss"].mean()
        first = of.query("norm == 'none' and rule == 'plain' and length == @LONGEST")["accuracy"].mean() * 100
        rows.append((name, of["seed"].nunique(), *gain, loss["none"] - loss["ln"], papers - first <= BEHIND))
    return pd.DataFrame(rows, columns=["protocol", "n", "gain", "low", "high", "lower", "near"])


def _clear(found: pd.DataFrame) -> str:
    """Return in how many protocols the gain is clear, of a frame of `by_protocol`."""
    near = found[found["near"]]
    counts = [((of["low"] > 0).sum(), (of["high"] < 0).sum()) for of in (found, near)]
    return (
        f"The gain is clearly positive (its 95% interval is above 0) in {counts[0][0]} of {len(found)} "
        f"protocols, clearly negative in {counts[0][1]}. {len(near)} have a baseline at most {BEHIND} "
        f"points below the paper's at {power(LONGEST)}; of these it is clearly positive in {counts[1][0]}, "
        f"clearly negative in {counts[1][1]}. No interval is corrected for the number of protocols."
    )


def _by_loss(found: pd.DataFrame) -> str:
    """Return how the gain goes with the training loss, of a frame of `by_protocol`.

    Empty where all gains have one sign, or there are too few protocols for a correlation.
    """
    near = found[found["near"]]
    gains, loses = (found.loc[of, "lower"] for of in (found["gain"] > 0, found["gain"] <= 0))
    if not len(gains) or not len(loses) or near["lower"].nunique() < 3:
        return ""
    alike = found.loc[found["lower"].abs() < EQUAL, "gain"]
    equal = (
        f" Where the losses are within {EQUAL} nats of each other, the gain is "
        f"{mean_estimate(alike.to_numpy(), '+.1f')} over {len(alike)} protocols."
        if len(alike) > 1
        else ""
    )
    ordered = stats.mannwhitneyu(gains, loses).statistic / (len(gains) * len(loses))
    ranks = [stats.spearmanr(of["lower"], of["gain"]) for of in (found, near)]
    over = [f"{of.statistic:.2f} (p = {of.pvalue:.1g})" for of in ranks]
    return (
        f"It goes with how much lower the training loss of ln is than that of none: Spearman's correlation is "
        f"{over[0]} over all, {over[1]} over those {len(near)}. Of the pairs of a protocol with a mean gain "
        f"above 0 and one without, the first has the larger difference in {100 * ordered:.0f}%: it is "
        f"{gains.min():.4f} nats or more in the {len(gains)} with, {loses.max():.4f} or less in the {len(loses)} "
        f"without.{equal}"
    )


def _foretold(task: str, found: pd.DataFrame) -> str:
    """Return how many gains of FORETOLD have the sign that their loss foretells, of a frame of `by_protocol`.

    Empty on another task than the dictionary, of which it was foretold.
    """
    of = found[found["protocol"].isin(FORETOLD)]
    if task != "dictionary" or not len(of):
        return ""
    as_foretold = (found["gain"] > 0) == (found["lower"] >= LOWER)
    right = as_foretold[of.index]
    wrong = ", ".join(f"{name} ({gain:+.1f})" for name, gain in of.loc[~right, ["protocol", "gain"]].to_numpy())
    clear = (of["low"] > 0) | (of["high"] < 0)
    often = max((of["gain"] > 0).sum(), (of["gain"] <= 0).sum())
    return (
        f"Before {len(of)} of them ran it was foretold that the mean gain is above 0 where ln's loss is lower by "
        f"{LOWER} nats or more, and nowhere else: so it is in {right.sum()} of {len(of)}, and in "
        f"{(right & clear).sum()} of the {clear.sum()} whose interval is on one side of 0"
        f"{f'; not in {wrong}' if wrong else ''}. Their more frequent sign alone would be right in {often}. "
        f"Over all {len(found)} it is so in {as_foretold.sum()}."
    )


def _gains(name: str, of: pd.DataFrame, theirs: pd.Series) -> list[str]:
    means = of.groupby(["norm", "rule", "length"])["accuracy"].mean() * 100
    away = (means.reindex(theirs.index) - theirs).abs()
    beyond = _beyond(of)
    gains = {how: (beyond["ln", how] - beyond["none", how]).to_numpy() for how in ("plain", "adaptive")}
    tests = []
    for gain in gains.values():
        mean, low, high = interval(gain)
        tests += [f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]", f"{stats.ttest_1samp(gain, 0).pvalue:.2g}"]
    sharper = [f"{(beyond[norm, 'adaptive'] - beyond[norm, 'plain']).mean():+.1f}" for norm in NORMS]
    first = of[of["length"] == LONGEST].groupby("norm")[["entropy", "loss"]].mean().loc[list(NORMS)]
    return [
        name,
        str(of["seed"].nunique()),
        f"{away.mean():.1f}",
        f"{away.xs('plain', level='rule').mean():.1f}",
        *tests,
        *sharper,
        *first["entropy"].map("{:.2f}".format),
        *first["loss"].map("{:.3f}".format),
    ]


if __name__ == "__main__":
    main()
