import pytest
import yaml

from vanishing_variance.core.config import PATH
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.paths import Run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.leaderboard.treatments import PATH as LEADERBOARD
from vanishing_variance.leaderboard.treatments import (
    Treatment,
    read_params,
    read_treatment,
    read_treatments,
    training_plan,
)
from vanishing_variance.training.plan import TrainingPlan

OWN = Treatment(attention="power", norm="ln", projection="direct", decay="cosine")


def test_a_line_is_trained_as_the_leaderboards_file_says_but_for_the_treatment(task_name):
    params = read_params()
    plan, study = (
        training_plan(params, task_name, "own", OWN),
        TrainingPlan.of(params, Run(task_name, "short", "ln", 0)),
    )
    assert (plan.variant.attention_name, plan.variant.norm_name) == ("power", "ln")
    assert plan.variant.model == study.variant.model.model_copy(update={"projection": "direct"})
    assert plan.training == study.training.model_copy(update={"decay": "cosine"})
    assert (plan.root_seed, plan.lengths, plan.task_training) == (study.root_seed, study.lengths, study.task_training)
    assert plan.variant.task == study.variant.task
    longer = training_plan(params, task_name, "own", OWN.model_copy(update={"steps": 4}))
    assert longer.steps == 4 * study.steps


def test_seeds_data_lengths_and_test_sequences_are_the_studys_network_and_training_the_leaderboards(tmp_path):
    path = tmp_path / "params.yaml"
    changes = ("width: 128", "width: 64"), ("batch_size: 128", "batch_size: 32"), ("short: 80000", "short: 70")
    text = LEADERBOARD.read_text()
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    path.write_text(text)
    found, study = read_params(path), read_yaml(PATH)
    assert (found["model"]["width"], found["training"]["batch_size"]) == (64, 32)
    assert (found["tasks"]["argmax"]["steps"], found["tasks"]["argmax"]["training"]) == ({"short": 70}, {})
    for task in ("argmax", "dictionary"):
        assert found["tasks"][task]["data"] == study["tasks"][task]["data"]
    shared = found.keys() - {"model", "training", "tasks"}
    assert {key: found[key] for key in shared} == {key: study[key] for key in shared}


def test_the_steps_of_a_line_are_the_leaderboards_and_the_lengths_the_studys(tmp_path, monkeypatch):
    study = read_yaml(PATH)
    study["tasks"]["argmax"]["steps"]["short"], study["ranges"]["short"]["longest"] = 77, 12
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study))
    path = LEADERBOARD.resolve()
    monkeypatch.chdir(tmp_path)
    plan = training_plan(read_params(path), "argmax", "own", OWN)
    assert plan.steps == read_yaml(path)["tasks"]["argmax"]["steps"]["short"] != 77
    assert plan.lengths.longest == 12


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("width: 128", "width: 1", "model.width is 1; must be greater than or equal to 2"),
        ("  batch_size: 128\n", "", "training.batch_size is missing; training must have batch_size"),
        ("short: 80000", "shot: 3", "tasks.argmax.steps.short is missing"),
        ("tasks:", "task:", "tasks.argmax.steps is None; must be a mapping with the keys short"),
        (
            "  gelu: exact",
            "  gelu: exact\n  projection: direct",
            "model.projection is 'direct', but each line has its own",
        ),
        ("  width: 128", "  width: 128\n  depth: 3", "model.depth is 3, but there is no such key"),
    ],
)
def test_a_network_or_training_that_is_none_is_refused_in_one_line(tmp_path, before, after, said):
    path = tmp_path / "params.yaml"
    path.write_text(LEADERBOARD.read_text().replace(before, after))
    with pytest.raises(InputError) as problem:
        read_params(path)
    assert str(problem.value).startswith(f"{path}: {said}")
    assert "\n" not in str(problem.value)


def test_the_lines_of_the_leaderboard_begin_with_the_baseline():
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
