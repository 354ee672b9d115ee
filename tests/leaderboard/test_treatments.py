from pathlib import Path

import pytest
import yaml

from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard.treatments import PATH as LEADERBOARD
from vanishing_variance.leaderboard.treatments import (
    Treatment,
    line_params,
    line_run,
    read_ablation,
    read_params,
    read_treatment,
    read_treatments,
)

LINE = {"attention": "ssmax", "norm": "none", "projection": "mlp", "decay": "none"}
STAGES = yaml.safe_load((Path(__file__).resolve().parents[2] / "leaderboard/dvc.yaml").read_text())["stages"]


def test_the_first_line_is_the_baseline_and_no_line_is_there_twice():
    lines = list(read_treatments().values())
    assert lines[0] == Treatment(attention="softmax", norm="none", projection="mlp", decay="none")
    assert len({str(line) for line in lines}) == len(lines)


def read_line(path):
    return read_treatment("a", path)


@pytest.mark.parametrize(
    ("read", "key", "value", "said"),
    [
        (read_line, "treatments", {}, "treatments is {}; must be a mapping with at least 1 line"),
        (read_line, "treatments", {"../a": {}}, "treatments has the line '../a'; a name has a-z, 0-9, - and _"),
        (read_line, "treatments", {"b": LINE}, "treatments.a is missing; there are b"),
        (read_line, "treatments.a.rope", 1, "treatments.a.rope is 1, but there is no such key"),
        (read_line, "treatments.a", {"attention": "softmax"}, "treatments.a.norm is missing"),
        (read_line, "treatments.a.attention", "x", "treatments.a.attention is 'x'; must be one of "),
        (read_ablation, "ablation", ["a"], "ablation is ['a']; must be one of a"),
        (read_params, "model.projection", "direct", "model.projection is 'direct'; must be 'mlp'"),
        (read_params, "training.batch_size", None, "training.batch_size is None"),
        (read_params, "tasks.argmax", {}, "tasks.argmax.steps is None; must be a mapping with the keys short"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(tmp_path, read, key, value, said):
    path = tmp_path / "params.yaml"
    document = read_yaml(LEADERBOARD) | {"ablation": "a", "treatments": {"a": dict(LINE)}}
    section = document
    *sections, last = key.split(".")
    for name in sections:
        section = section[name]
    section[last] = value
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InputError) as problem:
        read(path)
    assert str(problem.value).startswith(f"{path}: {said}")
    assert "\n" not in str(problem.value)


def test_network_and_training_are_the_leaderboards_and_seeds_data_and_lengths_the_studys(tmp_path, monkeypatch):
    study, own = read_yaml(Path("params.yaml")), read_yaml(LEADERBOARD)
    monkeypatch.chdir(tmp_path)
    study["tasks"]["argmax"]["steps"]["short"] = 77
    study["ranges"]["short"]["longest"] = 12
    own["tasks"]["argmax"]["steps"]["short"] = 70
    own["model"]["width"] = 64
    own["training"]["batch_size"] = 32
    Path("params.yaml").write_text(yaml.safe_dump(study))
    Path("own.yaml").write_text(yaml.safe_dump(own))
    params = read_params(Path("own.yaml"))
    for key in study.keys() - {"model", "training", "tasks"}:
        assert params[key] == study[key]
    line = Treatment(attention="power", norm="ln", projection="direct", decay="cosine", steps=4)
    plan = TrainingPlan.of(line_params(params, line), line_run("own", line, "argmax"))
    assert plan.root_seed == study["seed"]
    assert (plan.steps, plan.training.batch_size, plan.training.decay) == (4 * 70, 32, "cosine")
    assert (plan.lengths.longest, plan.variant.task.num_classes) == (12, 10)
    assert (plan.variant.attention_name, plan.variant.norm_name) == ("power", "ln")
    assert (plan.variant.model.width, plan.variant.model.projection) == (64, "direct")


@pytest.mark.parametrize("kind", ["train", "evaluate"])
def test_the_stages_of_a_line_depend_on_no_other_line(kind):
    """So that a new line, and a new file of attentions/ or norms/, trains alone."""
    stage = STAGES[kind]["do"]
    declared = set()
    for params in stage["params"]:
        declared |= set(params.get("leaderboard/params.yaml", ()))
    assert declared == {"model", "tasks", "training", "treatments.${key}"}
    for folder in ("leaderboard", "src/vanishing_variance/attentions", "src/vanishing_variance/norms"):
        assert folder not in stage["deps"]
        assert f"{folder}/params.yaml" not in stage["deps"]
    for path in (*stage["outs"], *stage["deps"]):
        if path.startswith("runs/leaderboard"):
            assert path.endswith("/${key}")
