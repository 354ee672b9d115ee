"""A study's file: what is allowed, which parameters a line has, and what its plan holds."""

import re

import pytest
from checkout import ROOT

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import changed
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.made_of import made_of
from vanishing_variance.studies.parameters import held_out, line_params, unchecked_params
from vanishing_variance.studies.plan import (
    digest,
    params_of_training,
    plan_of_test,
    plan_of_training,
    read_in_training,
    study_plan,
)
from vanishing_variance.studies.root import root_study
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.tables import _require_planned

PARAMS = read_yaml(ROOT / "params.yaml")
ENGINE = {f"plain/{path.name}" for path in (ROOT / "src/vanishing_variance/plain").glob("*.py")}
VALID = {"question": "Why?", "tasks": ["argmax"], "lines": {"none": {"norm": "none"}, "ln": {"norm": "ln"}}}


def tuned(rates, **changes):
    """Return what makes a study tune its lines in their rate."""
    return {"tune": {"training.learning_rate": rates}, "choose": {"blocks": [5]}, **changes}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a study of this content."""
    monkeypatch.chdir(tmp_path)

    def of(document):
        write_text(tmp_path / "studies/mine/study.yaml", written(document))
        return read_study("mine")

    return of


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"line": {}}, "line is {}, but there is no such key; choose from question, tasks, range"),
        ({"lines": {"A line": {}}}, "1 to 64 characters of a-z, 0-9, _ and -"),
        ({"kept": {"ln": {"norm": "std"}}}, "kept has other parameters of ln than lines; they may differ in blocks"),
        (
            {"lines": {"a": {}, "b": {"range": "long"}}, "compare": [["b", "a"]]},
            "which are trained on different ranges",
        ),
        (
            {"paper_tables": True, "lines": {"ln": {"norm": "ln", "model.width": 8}}},
            "each has its norm and range alone",
        ),
        ({"compare": [["ln", "std"]]}, "compare has 'std'; choose from none, ln"),
        ({"compare": [["ln", "ln"]]}, "compare has ln with itself"),
        (
            {"paper_tables": True, "lines": {"ln": {"norm": "ln"}, "again": {"norm": "ln"}}},
            "two lines have the same norm and range, which paper_tables has once",
        ),
        ({"compare": [["ln", "none"], ["ln", "none"]]}, "compare has ['ln', 'none'] twice"),
        ({"tasks": "argmax"}, "tasks is 'argmax'; must be a valid list"),
        (
            {"lines": {"a": {"training": {"decay": "cosine"}, "training.decay": "none"}}},
            "lines.a.training.decay is 'cosine' and 'none'; must be given once",
        ),
        (
            {"base": {"ranges.short": {"longest": 8}, "ranges": {"short.longest": 16}}},
            "base.ranges.short.longest is 8 and 16; must be given once",
        ),
        ({"paper_tables": True, "lines": {"a": {"norm": {}}, "b": {"norm": {}}}}, "two lines have the same norm"),
        ({"kept": {"old": {}}}, "sequences is missing; with kept it is how many sequences of each length those were "),
        (
            {"tune": {"training.learning_rate": [0.1]}},
            "tune and choose belong together: the values to try",
        ),
        (
            {"tune": {"training.learning_rate": 0.1}, "choose": {"blocks": [5]}},
            "tune: training.learning_rate is 0.1; must be a list of values, each a number or a text",
        ),
        (
            {"tune": {"training": {"learning_rate": [0.1, 0.01]}}, "choose": {"blocks": [5]}},
            "tune: training.learning_rate is [0.1, 0.01]; numbers must be above 0, and increasing",
        ),
        (
            {"tune": {"weights": ["last", "best"]}, "choose": {"blocks": [5]}},
            "tune: weights is 'best'; choose from last, averaged",
        ),
        ({"lines": {"none": {"weights": "averaged"}}}, "line none: weights is of a line that is tuned; of others both"),
        (tuned([1, 1.0]), "tune: training.learning_rate is [1, 1.0]; numbers must be above 0, and increasing"),
        (tuned(["a", "A"]), "tune: training.learning_rate is ['a', 'A']; must be without a value named twice"),
        (
            tuned(["../a"]),
            "tune: training.learning_rate is ['../a']; must be a list of values, each a number or a text",
        ),
        (tuned([0.1], tune={"seeds_per_block": [2, 4]}), "tune has seeds_per_block, which are the seeds of a line"),
        (
            tuned([0.1], tasks=["argmax", "dictionary"], tune={"tasks.argmax.steps.short": [2, 4]}),
            "tune has tasks.argmax.steps.short, in which of tasks only argmax can be tuned; set tasks to it alone",
        ),
        (tuned([0.1], tune={"weights": ["last", "averaged"]}), "no line has a key that it is tuned in"),
        (
            tuned([0.1], lines={"none": {"training.learning_rate": 0.1, "weights": "averaged"}, "ln": {}}),
            "line none: weights is of a line that is tuned; of others both",
        ),
        (
            tuned([0.1], lines={"ln": {"weights": ["last", "averaged"]}}),
            "line ln: weights is ['last', 'averaged']; must",
        ),
        (tuned([0.1], lines={"ln": {"seeds_per_block": 4}}), "line ln has seeds_per_block; with tune it is the same"),
    ],
)
def test_a_mistake_in_a_study_is_one_line(read, changes, said):
    with pytest.raises(InputError, match=rf"^studies/mine/study\.yaml.*{re.escape(said)}"):
        read(VALID | changes)


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ([16, 48], r"^lengths is \[16, 48\]; choose from test\.lengths: 16, 32, "),
        ([16], r"^lengths is \[16\]; must have one up to 16, of training, and one above$"),
    ],
)
def test_lengths_of_a_study_are_some_that_are_tested(read, lengths, said):
    assert held_out(PARAMS, read(VALID)) == PARAMS["test"]
    assert held_out(PARAMS, read(VALID | {"lengths": [16, 64]})) == PARAMS["test"] | {"lengths": [16, 64]}
    with pytest.raises(InputError, match=said):
        held_out(PARAMS, read(VALID | {"lengths": lengths}))
    with pytest.raises(InputError, match=r"^sequences is 4096, .* 512: set that to 4096 in params\.yaml$"):
        held_out(PARAMS, read(VALID | {"sequences": 4096}))
    longer = PARAMS | {"ranges": {"short": {"shortest": 5, "longest": 16384}}}
    with pytest.raises(InputError, match=r"^params\.yaml: test\.lengths has none above 16384, the longest in "):
        held_out(longer, read(VALID))


def test_lines_are_tuned_where_a_training_length_is_tested(read):
    shorter = PARAMS | {"ranges": {"short": {"shortest": 5, "longest": 8}}}
    held_out(shorter, read(VALID))
    with pytest.raises(InputError, match=r"^params\.yaml: test\.lengths is \[16, 32, .*must have one up to 8, of tra"):
        held_out(shorter, read(VALID | tuned([0.1])))


def test_a_line_added_to_kept_ones_is_compared_with_the_first_of_them(read):
    study = read(VALID | {"lines": {"own": {}}, "kept": {"ln": {}, "none": {}}, "sequences": 512})
    assert study.names == ["ln", "none", "own"]
    assert study.pairs == [("none", "ln"), ("own", "ln")]


def test_a_line_has_what_the_base_and_it_change_nested_or_dotted(read):
    base = {"training": {"decay": "cosine", "learning_rate": 0.5}, "tasks.argmax.steps.short": 7}
    study = read(VALID | {"base": base, "lines": {"a": {"training.learning_rate": 0.25, "norm": "none"}}})
    resolved = line_params(PARAMS, study, "a")
    assert resolved["training"] == PARAMS["training"] | {"decay": "cosine", "learning_rate": 0.25}
    assert resolved["tasks"]["argmax"]["steps"]["short"] == 7
    assert resolved["norm"] == "none"
    assert resolved["test"] == PARAMS["test"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"model": {"widht": 8}}, "it has no key model.widht; choose from width, "),
        ({"test.sequences": 9}, "test.sequences is 9; a line can change norm, attention"),
        ({"tasks": {"argmax": {"data": {"classes": 8}}}}, "tasks.argmax.data.classes cannot differ between lines"),
        ({"ranges.short.longest": 32}, "ranges.short.longest cannot differ between lines, which are compared; set"),
        ({"norm": {}}, "norm is {}; must be one of "),
        ({"trainig": {}}, "trainig is {}; a line can change norm, attention"),
        ({"training": {"optimiser": {}}}, "it has no key training.optimiser; choose from batch_size, "),
        ({"network": "transformer", "model": {"width": 9}}, "not read model.width; its options are network_options: "),
        ({"tasks.dictionary.steps.short": 9}, "tasks.dictionary.steps.short is of another task than argmax"),
        ({"tasks.argmax.steps.long": 9}, "tasks.argmax.steps.long is of another range than short, on which it is tr"),
        ({"ranges.long.growth": None}, "ranges.long.growth is of another range than short, on which it is trained"),
    ],
)
def test_a_parameter_of_a_line_that_is_not_allowed_is_one_line_with_its_name(read, line, said):
    study = read(VALID | {"lines": {"own": line}})
    with pytest.raises(InputError, match=f"line own: .*{re.escape(said)}"):
        line_params(PARAMS, study, "own")


def test_a_key_of_the_base_that_no_network_reads_is_one_line(read):
    lines = {"one": {"network": "transformer"}, "two": {"network": "paper"}}
    study_plan("mine", read(VALID | {"base": {"model.width": 64}, "lines": lines}), PARAMS)
    del lines["two"]
    with pytest.raises(InputError, match=r"mine/study\.yaml: base has model\.width, which transformer does not read"):
        study_plan("mine", read(VALID | {"base": {"model.width": 64}, "lines": lines}), PARAMS)


def test_params_that_were_edited_since_the_plan_are_not_those_of_what_is_compared():
    planned = Planned("", study_plan("", root_study(PARAMS), PARAMS))
    _require_planned(PARAMS, root_study(PARAMS), planned)
    _require_planned(changed(PARAMS, {"interventions.sequences": 16}), root_study(PARAMS), planned)
    changes = {"training.learning_rate": 0.5, "tasks.argmax.steps.short": 9, "norm": "rms", "attention": "power"}
    for key, value in changes.items():
        edited, section = changed(PARAMS, {key: value}), key.split(".")[0]
        with pytest.raises(
            InputError, match=rf"params\.yaml: {section}.* was edited since runs/plan\.yaml was written"
        ):
            _require_planned(edited, root_study(edited), planned)


def test_a_section_that_is_null_may_be_changed_to_one():
    stands_still = changed(PARAMS, {"ranges.long.growth": None})
    values = {"ranges.long.growth.shape": "linear", "ranges.long.growth.start": 16, "ranges.long.growth.until": 1.0}
    assert changed(stands_still, values) == changed(PARAMS, values)


def test_results_are_of_the_same_training_where_a_number_is_whole():
    params = read_in_training(params_of_training(PARAMS, "argmax", "short"))
    whole = changed(params, {"training.weight_decay": 0})
    assert made_of(whole, 8) == made_of(params, 8)
    assert made_of(changed(params, {"training.batch_size": 4}), 8) != made_of(params, 8)


def test_an_empty_section_changes_nothing(read):
    study = read(VALID | {"base": {"network_options": {}}, "lines": {"a": {"training": {}, "tasks": {"argmax": {}}}}})
    assert line_params(PARAMS, study, "a") == PARAMS


def test_an_option_of_a_line_may_be_a_mapping(read):
    for own in ({"norm_options": {"widths": {"a": 1}}}, {"norm_options.widths": {"a": 1}}):
        study = read(VALID | {"lines": {"own": own}})
        assert unchecked_params(PARAMS, study, "own")["norm_options"] == {"widths": {"a": 1}}


def test_the_plan_of_another_network_changes_with_the_plain_engine_and_that_of_the_papers_does_not(read):
    lines = {"paper": {}, "other": {"network": "transformer", "network_options": {"layers": 1, "heads": 2}}}
    study = read(VALID | {"lines": lines})
    paper, other = (plan_of_training(line_params(PARAMS, study, line), "argmax", "short") for line in lines)
    own = {"attentions/softmax.py", f"norms/{PARAMS['norm']}.py"}
    assert paper["files"].keys() == own
    networks = {f"networks/{name}.py" for name in ("__init__", "paper", "transformer")}
    assert other["files"].keys() == own | networks | ENGINE
    assert (other["network"], other["network_options"]) == ("transformer", {"layers": 1, "heads": 2})


def test_the_map_of_the_base_is_that_of_every_network_which_takes_one(read, monkeypatch):
    lines = {"paper": {}, "block": {"network": "transformer"}, "own": {"network": "transformer", "attention": "l2"}}
    study = read(VALID | {"base": {"attention": "power"}, "lines": lines})

    def maps():
        return {line: line_params(PARAMS, study, line)["attention"] for line in lines}

    assert maps() == {"paper": "power", "block": "power", "own": "l2"}
    assert "attentions/l2.py" in plan_of_training(line_params(PARAMS, study, "own"), "argmax", "short")["files"]
    monkeypatch.setattr("vanishing_variance.plain.plan.takes_attention", lambda network: False)
    assert line_params(PARAMS, study, "block")["attention"] == "softmax"
    with pytest.raises(InputError, match="line own: network transformer does not read attention; "):
        maps()


def test_of_the_papers_network_by_the_plain_engine_seeds_of_a_process_change_no_digest(read, monkeypatch):
    monkeypatch.setattr("vanishing_variance.studies.plan.is_plain", lambda params, task: True)
    study = read(VALID)

    def digest_of(**changes):
        params = line_params(changed(PARAMS, changes), study, study.names[0])
        return digest(read_in_training(plan_of_training(params, "argmax", "short")))

    assert digest_of(**{"training.seeds_per_process": 2}) == digest_of() != digest_of(**{"model.width": 64})


def test_what_another_network_does_not_read_changes_no_digest_of_it(read):
    study = read(VALID | {"lines": {"paper": {}, "other": {"network": "transformer"}}})

    def digests(**changes):
        lines = {line: line_params(changed(PARAMS, changes), study, line) for line in study.lines}
        plans = {line: plan_of_training(params, "argmax", "short") for line, params in lines.items()}
        return {line: digest(read_in_training(plan)) for line, plan in plans.items()}

    before = digests()
    for unread in ({"model.width": 64}, {"model.projection": "direct"}, {"training.seeds_per_process": 2}):
        after = digests(**unread)
        assert (after["other"], after["paper"] == before["paper"]) == (before["other"], False)
    assert digests(**{"model.epsilon": 0.5})["other"] != before["other"]


def test_the_test_of_a_line_changes_with_the_plain_engine_where_the_papers_network_has_several_heads(read):
    study = read(VALID | {"lines": {"one": {}, "two": {"model.heads": 2}, "other": {"network": "transformer"}}})
    one, two, other = (line_params(PARAMS, study, line) for line in ("one", "two", "other"))
    assert plan_of_training(one, "argmax", "short")["files"] == plan_of_training(two, "argmax", "short")["files"]
    read_by_test = {key: PARAMS[key] for key in ("test", "diagnostics")} | {"measure": []}
    for params in (one, other):
        assert plan_of_test(params, "argmax", PARAMS["test"], study) == read_by_test
    files = plan_of_test(two, "argmax", PARAMS["test"], study)["files"]
    assert files.keys() == ENGINE | {"networks/__init__.py", "networks/paper.py"}
