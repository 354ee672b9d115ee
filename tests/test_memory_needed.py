"""The memory that stages reckon with."""

from small import make_plan

from vanishing_variance.harness.memory import total
from vanishing_variance.measure.evaluation.fit import FitPlan
from vanishing_variance.measure.evaluation.fit_memory import memory_needed as of_temperature
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.held_out import memory_needed as of_generate
from vanishing_variance.measure.interventions.as_std_memory import memory_needed as of_capacity
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.memory import memory_needed as of_interventions
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.memory import memory_needed as of_proposition


def needed(sequences):
    """Bytes that each stage reckons with for so many sequences."""
    plan, lengths = make_plan("argmax", "ln"), [16, 64]
    variant, test, training = plan.variant, Test(lengths=lengths, sequences=sequences), plan.task_training
    every, how = [(variant, training)], Proposition(lengths=lengths, sequences=sequences, tail=16)
    intervened = Interventions(sequences=sequences, training_sequences=sequences)
    needs = [
        of_generate("argmax", variant.task, test),
        of_temperature(FitPlan("x", 0, variant, lengths, sequences), training, 1),
        of_capacity(every, test, 1),
        of_proposition(every, how, 1),
        of_interventions(every, [plan.lengths], test, intervened, 1),
    ]
    return [sum(map(total, (need.data, need.tensors, need.results))) for need in needs]


def test_more_sequences_need_more_memory():
    for few, many in zip(needed(64), needed(2**20), strict=True):
        assert 0 < few < many
