from functools import partial

import pytest
import yaml

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard.treatments import PATH as LEADERBOARD
from vanishing_variance.leaderboard.treatments import (
    Treatment,
    read_ablation,
    read_params,
    read_treatment,
    read_treatments,
    training_plan,
)

OWN = Treatment(attention="power", norm="ln", projection="direct", decay="cosine")
LINE = {"attention": "ssmax", "norm": "none", "projection": "mlp", "decay": "none"}


def test_the_first_line_is_the_baseline_and_no_line_is_there_twice():
    lines = read_treatments()
    assert next(iter(lines.values())) == Treatment(attention="softmax", norm="none", projection="mlp", decay="none")
    assert len({tuple(line.model_dump().items()) for line in lines.values()}) == len(lines)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("treatments", {}, "treatments is {}; must be a mapping with at least 1 line"),
        ("treatments", {"../a": {}}, "treatments has the line '../a'; a name has a-z, 0-9, - and _"),
        ("treatments", {"b": LINE}, "treatments.a is missing; there are b"),
        ("treatments.a", "softmax", "treatments.a is 'softmax'; must be"),
        ("treatments.a.rope", 1, "treatments.a.rope is 1, but there is no such key"),
        ("treatments.a", {"attention": "softmax"}, "treatments.a.norm is missing"),
        ("treatments.a.attention", "x", "treatments.a.attention is 'x'; must be one of "),
        ("ablation", ["a"], "ablation is ['a']; must be one of a"),
        ("model.projection", "direct", "model.projection is 'direct', but each line has its own"),
        ("training.batch_size", None, "training.batch_size is None"),
        ("tasks.argmax", {}, "tasks.argmax.steps is None; must be a mapping with the keys short"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(tmp_path, key, value, said):
    path = tmp_path / "params.yaml"
    document = read_yaml(LEADERBOARD) | {"ablation": "a", "treatments": {"a": dict(LINE)}}
    *sections, last = key.split(".")
    inner = document
    for name in sections:
        inner = inner[name]
    inner[last] = value
    path.write_text(yaml.safe_dump(document))
    readers = {"treatments": partial(read_treatment, "a"), "ablation": read_ablation}
    with pytest.raises(InputError) as problem:
        readers.get(key.partition(".")[0], read_params)(path)
    assert str(problem.value).startswith(f"{path}: {said}")
    assert "\n" not in str(problem.value)


def test_a_line_is_trained_as_the_leaderboards_file_says_but_for_the_treatment(task_name):
    params = read_params()
    plan = training_plan(params, task_name, "own", OWN)
    study = TrainingPlan.of(params, Run(task_name, "short", "ln", 0))
    assert (plan.variant.attention_name, plan.variant.norm_name) == ("power", "ln")
    assert plan.variant.model == study.variant.model.model_copy(update={"projection": "direct"})
    assert plan.training == study.training.model_copy(update={"decay": "cosine"})
    assert (plan.root_seed, plan.lengths, plan.task_training) == (study.root_seed, study.lengths, study.task_training)
    assert plan.variant.task == study.variant.task
    assert training_plan(params, task_name, "own", OWN.model_copy(update={"steps": 4})).steps == 4 * study.steps


def test_network_and_training_are_the_leaderboards_and_seeds_data_and_lengths_the_studys(tmp_path, monkeypatch):
    study, own = read_yaml(PATH), read_yaml(LEADERBOARD)
    study["tasks"]["argmax"]["steps"]["short"], study["ranges"]["short"]["longest"] = 77, 12
    own["model"]["width"], own["training"]["batch_size"], own["tasks"]["argmax"]["steps"]["short"] = 64, 32, 70
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(study))
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(own))
    monkeypatch.chdir(tmp_path)
    found = read_params(tmp_path / "own.yaml")
    shared = found.keys() - {"model", "training", "tasks"}
    assert {key: found[key] for key in shared} == {key: study[key] for key in shared}
    plan = training_plan(found, "argmax", "own", OWN)
    assert (plan.steps, plan.training.batch_size, plan.lengths.longest, plan.variant.model.width) == (70, 32, 12, 64)
