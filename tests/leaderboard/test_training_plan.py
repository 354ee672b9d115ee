import pytest

from vanishing_variance.core.config import PATH
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.paths import Run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.leaderboard.treatments import Treatment, read_treatment, read_treatments, training_plan
from vanishing_variance.training.plan import TrainingPlan

OWN = Treatment(attention="power", norm="ln", projection="direct", decay="cosine")


def test_a_line_is_the_studys_training_but_for_the_treatment(task_name):
    params = read_yaml(PATH)
    plan, study = (
        training_plan(params, task_name, "own", OWN),
        TrainingPlan.of(params, Run(task_name, "short", "ln", 0)),
    )
    assert (plan.variant.attention_name, plan.variant.norm_name) == ("power", "ln")
    assert plan.variant.model == study.variant.model.model_copy(update={"projection": "direct"})
    assert plan.optimiser == study.optimiser.model_copy(update={"decay": "cosine"})
    assert (plan.root_seed, plan.lengths, plan.schedule) == (study.root_seed, study.lengths, study.schedule)
    assert plan.variant.task == study.variant.task
    longer = training_plan(params, task_name, "own", OWN.model_copy(update={"steps": 4}))
    assert longer.schedule.steps == 4 * study.schedule.steps


def test_the_baseline_is_the_study(task_name):
    params = read_yaml(PATH)
    settings = {"projection": params["model"]["projection"], "decay": params["training"]["decay"]}
    plan = training_plan(params, task_name, "x", Treatment(attention="softmax", norm="none", **settings))
    study = TrainingPlan.of(params, Run(task_name, "short", "none", 0), name=f"x {task_name}")
    assert plan == study


def test_the_lines_of_the_leaderboard_begin_with_the_study(task_name):
    lines = read_treatments()
    assert lines[next(iter(lines))] == Treatment(attention="softmax", norm="none", projection="mlp", decay="none")
    assert len({tuple(line.model_dump().items()) for line in lines.values()}) == len(lines)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "{attention: hardmax, norm: none, projection: mlp, decay: none}",
            "own.attention is 'hardmax'; must be one ",
        ),
        (
            "{attention: softmax, norm: none, projection: mlp}",
            "own.decay is missing; treatments.own must have ",
        ),
        ("{attention: softmax, norm: none, projection: mlp, decay: 1}", "own.decay is 1; must be 'none' or 'cosine'"),
        (
            "{attention: softmax, norm: x, projection: mlp, decay: none}",
            "own.norm is 'x'; must be one of centred_",
        ),
    ],
)
def test_a_bad_line_is_refused_in_one_line(tmp_path, line, said):
    path = tmp_path / "params.yaml"
    path.write_text(f"treatments:\n  own: {line}\n")
    with pytest.raises(InputError) as refused:
        read_treatment("own", path)
    assert f"treatments.{said}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_line_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("treatments:\n  a: {attention: softmax, norm: none, projection: mlp, decay: none}\n")
    with pytest.raises(InputError, match=r"treatments\.b is missing; there are a$"):
        read_treatment("b", path)
