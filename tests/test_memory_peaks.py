"""What every stage reckons beside what it takes, over a grid of parameters."""

import sys
from dataclasses import replace
from functools import partial

import pytest
from peaks import generated, peak, read, single
from small import make_model, make_plan

from vanishing_variance.capacity import comparison as capacity
from vanishing_variance.capacity.memory import memory_needed as of_capacity
from vanishing_variance.core import parallel
from vanishing_variance.core.memory import PROCESS, total
from vanishing_variance.core.ranges import Range
from vanishing_variance.evaluation import block as evaluation
from vanishing_variance.evaluation.config import Diagnostics
from vanishing_variance.evaluation.memory import memory_needed as of_evaluate
from vanishing_variance.fitting import fit as fitting
from vanishing_variance.fitting.memory import memory_needed as of_temperature
from vanishing_variance.held_out import Test
from vanishing_variance.held_out import memory_needed as of_generate
from vanishing_variance.inference.temperature import PUBLISHED
from vanishing_variance.interventions import measurement as interventions
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.memory import memory_needed as of_interventions
from vanishing_variance.model.initialisation import draw
from vanishing_variance.proposition import measurement
from vanishing_variance.proposition.config import Proposition
from vanishing_variance.proposition.memory import memory_needed as of_proposition
from vanishing_variance.training.ensemble import _train_chunk
from vanishing_variance.training.memory import memory_needed as of_train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak is read on Linux"),
]

LEAST, MOST = 1, 2.5
# What a process imports counts as the most that it is for any stage: so many bytes more than for another.
IMPORTED = 190 * 2**20


def planned(task, width, gelu="exact", lengths=(5, 16), **settings):
    plan = make_plan(task, "ln", model=make_model(width=width, gelu=gelu), steps=2, **settings)
    return replace(plan, lengths=Range(shortest=lengths[0], longest=lengths[1]))


def one_model(plan):
    weights = draw(plan.variant.initial(plan.task_training), 0, plan.variant.task_name, [0])
    return {name: tensor.numpy() for name, tensor in weights.items()}


def judge(need, job):
    reckoned = PROCESS + total(need.data) + total(need.tensors)
    measured = peak(need.name.partition(" ")[0], job)
    print(f"{need.name}: reckoned {reckoned / 2**20:.0f} MiB, measured {measured / 2**20:.0f} MiB")
    assert LEAST * measured <= reckoned <= MOST * measured + IMPORTED


@pytest.mark.parametrize(
    ("task", "width", "batch", "lengths", "gelu"),
    [
        ("argmax", 8, 16, (2, 4), "exact"),
        ("argmax", 1024, 4, (4, 4), "exact"),
        ("argmax", 128, 1024, (256, 256), "exact"),
        ("argmax", 256, 1024, (16, 16), "tanh"),
        ("argmax", 512, 2048, (2, 2), "tanh"),
        ("argmax", 128, 512, (64, 64), "tanh"),
        ("dictionary", 128, 512, (200, 200), "exact"),
        ("dictionary", 256, 128, (200, 200), "tanh"),
    ],
)
def test_training(task, width, batch, lengths, gelu, tmp_path):
    plan = planned(task, width, gelu, lengths, batch_size=batch)
    seeds = [0, 1, 2, 3]
    judge(
        of_train(plan, seeds),
        partial(single, partial(_train_chunk, plan, seeds, tmp_path / "checkpoint.safetensors", int)),
    )


@pytest.mark.parametrize(
    ("task", "width", "lengths", "sequences", "looked_at"),
    [
        ("argmax", 128, [16, 64], 512, 2048),
        ("argmax", 128, [16, 64], 50_000, 2048),
        ("argmax", 256, [16], 4096, 50_000),
        ("argmax", 16, [2**22], 4, 16),
        ("dictionary", 128, [16, 128], 256, 256),
    ],
)
def test_evaluation(task, width, lengths, sequences, looked_at):
    one = planned(task, width)
    shown = Diagnostics(sequences=looked_at, heatmap_sequences=16)
    plan = evaluation.EvaluationPlan("x", 0, one.variant, lengths, "short", one.lengths, shown, {"first": PUBLISHED})
    tested = {length: partial(read, one.variant.task, sequences, length) for length in lengths}
    job = partial(single, partial(evaluation._evaluate_part, plan, PUBLISHED, one_model(one), [0], tested, int))
    judge(of_evaluate(plan, one.task_training, 1, sequences), job)


@pytest.mark.parametrize(
    ("task", "width", "lengths", "sequences"),
    [
        ("argmax", 128, [16], 4096),
        ("argmax", 128, [2], 8192),
        ("argmax", 32, [2**20], 2),
        ("dictionary", 256, [64], 64),
    ],
)
def test_the_temperature(task, width, lengths, sequences):
    one = planned(task, width)
    plan = fitting.FitPlan("x", 0, one.variant, lengths, sequences)
    judge(
        of_temperature(plan, one.task_training, 1),
        partial(single, partial(fitting._mistakes_of_one, plan, one_model(one), int)),
    )


@pytest.mark.parametrize(("width", "lengths", "sequences"), [(128, [2], 60_000), (16, [2**22], 2), (1024, [16], 16)])
def test_capacity(width, lengths, sequences):
    one = planned("argmax", width)
    tested = {length: partial(read, one.variant.task, sequences, length) for length in lengths}
    need = of_capacity([(one.variant, one.task_training)], Test(lengths=lengths, sequences=sequences), 1)
    judge(need, partial(capacity.compare, one.variant, one_model(one), tested))


@pytest.mark.parametrize(
    ("task", "width", "lengths", "sequences"),
    [("argmax", 128, [16, 1024], 256), ("argmax", 128, [2], 200_000), ("dictionary", 16, [2**22], 4)],
)
def test_the_proposition(task, width, lengths, sequences):
    one = planned(task, width)
    how = Proposition(lengths=lengths, sequences=sequences, tail=lengths[0])
    job = partial(single, partial(measurement._measure, one.variant, one_model(one), how, 0, int))
    judge(of_proposition([(one.variant, one.task_training)], how, 1), job)


def test_interventions_count_a_process_for_each_task_range_and_seed(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 64)
    every = [planned(task, 16) for task in ("argmax", "dictionary")]
    how, test = Interventions(sequences=4, training_sequences=4), Test(lengths=[16], sequences=4)
    need = of_interventions([(one.variant, one.task_training) for one in every], [every[0].lengths] * 2, test, how, 8)
    assert need.processes == 2 * 2 * 8


@pytest.mark.parametrize(
    ("task", "width", "lengths", "sequences", "training_sequences"),
    [
        ("argmax", 128, [16, 64], 4096, 512),
        ("argmax", 256, [16], 256, 4096),
        ("argmax", 16, [2**20], 4, 16),
        ("dictionary", 128, [16, 128], 2048, 2048),
    ],
)
def test_interventions(task, width, lengths, sequences, training_sequences):
    every = [planned(task, width)]
    every += [replace(every[0], variant=replace(every[0].variant, norm_name=norm)) for norm in ("none", "std")]
    how = Interventions(sequences=sequences, training_sequences=training_sequences)
    test = Test(lengths=lengths, sequences=sequences)
    tested = {length: partial(read, every[0].variant.task, sequences, length) for length in lengths}
    variants = {one.variant.norm_name: one.variant for one in every}
    weights = {one.variant.norm_name: one_model(one) for one in every}
    group = interventions.Group("short", every[0].lengths, variants, weights, tested)
    need = of_interventions([(one.variant, one.task_training) for one in every], [every[0].lengths], test, how, 1)
    judge(need, partial(single, partial(interventions._of_group, group, [0], how, 0, int)))


@pytest.mark.parametrize(
    ("task", "length", "sequences"),
    [("argmax", 2**14, 10_000), ("dictionary", 32, 1_000_000), ("dictionary", 200, 500_000)],
)
def test_the_test_sequences(task, length, sequences, tmp_path):
    drawn = planned(task, 8).variant.task
    need = of_generate(task, drawn, Test(lengths=[length], sequences=sequences))
    judge(need, partial(generated, tmp_path / "drawn.safetensors", drawn, length, sequences))
