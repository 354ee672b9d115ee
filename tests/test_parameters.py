import copy
from pathlib import Path

import pytest
import yaml

from vanishing_variance.core.errors import InputError
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.parameters import check

ROOT = Path(__file__).resolve().parents[1]
GOOD = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())


@pytest.mark.parametrize("file", ["params.yaml", "tests/smoke.yaml"])
def test_the_shipped_parameters_are_valid(file):
    check(read_yaml(ROOT / file))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("norm", "none", "norm is 'none'; must be one of centred_rms, ln, rms, std (none is what "),
        ("norm", None, "norm is None; must be one of centred_rms, ln, "),
        ("norm", "batch", "norm is 'batch'; must be one of centred_rms, ln, "),
        ("norm", ["ln"], "norm is ['ln']; must be one of"),
        ("nrom", "ln", "nrom is 'ln', but there is no such key; choose from norm, seed, blocks"),
        ("seed", -1, "seed is -1; must be greater than or equal to 0"),
        ("seed", True, "seed is True; must be a valid integer"),
        ("blocks", [], "blocks is []; must have at least 1 entry"),
        ("blocks", [0, 0], "blocks is [0, 0]; must be without a block named twice"),
        ("blocks", [0, -1], "blocks[1] is -1; must be greater than or equal to 0"),
        ("blocks", 3, "blocks is 3; must be a valid list"),
        ("seeds_per_block", 0, "seeds_per_block is 0; must be greater than or equal to 1"),
        ("tasks.sort", {}, "tasks.sort is {}, but there is no such key; choose from argmax, dictionary"),
        ("tasks.argmax", None, "tasks.argmax is None; must be a valid dictionary"),
        ("tasks.argmax.data.classes", "10", "tasks.argmax.data.classes is '10'; must be a valid integer"),
        ("tasks.argmax.data.width", 3, "tasks.argmax.data.width is 3, but there is no such key; choose from classes"),
        ("tasks.dictionary.steps.long", 0, "tasks.dictionary.steps.long is 0; must be greater than or equal"),
        (
            "tasks.argmax.steps.wide",
            3,
            "tasks.argmax.steps.wide is 3, but there is no such key; choose from short, long",
        ),
        (
            "tasks.argmax.steps",
            {"short": 3},
            "tasks.argmax.steps.long is missing; tasks.argmax.steps must have short, l",
        ),
        ("tasks.argmax.training.steps", 3, "tasks.argmax.training.steps is 3, but there is no such key"),
        (
            "ranges.long.steps",
            3,
            "ranges.long.steps is 3, but there is no such key; choose from shortest, longest, gro",
        ),
        ("tasks.dictionary.training.embedding_std", float("nan"), "embedding_std is nan; must be"),
        ("ranges.wide", {}, "ranges.wide is {}, but there is no such key; choose from short, long"),
        ("ranges.long.growth.shape", "cubic", "ranges.long.growth.shape is 'cubic'; must be 'linear' or 'geometric'"),
        (
            "ranges.long.growth",
            {"shape": "linear", "start": 1, "until": 1.0},
            "ranges.long is {'shortest': 2, ",
        ),
        ("ranges.long.growth.until", 0, "ranges.long.growth.until is 0; must be greater than 0"),
        ("model.gelu", "relu", "model.gelu is 'relu'; must be 'exact' or 'tanh'"),
        ("model.initialisation", "he", "model.initialisation is 'he'; must be 'torch', 'lecun' or 'xavier'"),
        ("model.attention_biases", 1, "model.attention_biases is 1; must be a valid boolean"),
        ("model.scaled_logits", "no", "model.scaled_logits is 'no'; must be a valid boolean"),
        ("model.output_projection", None, "model.output_projection is None; must be a valid boolean"),
        (
            "model.projection",
            "mlps",
            "model.projection is 'mlps'; must be 'mlp', 'direct', 'qk_norm' or 'tied_qk_norm'",
        ),
        ("model.projection", "qk_norm", "model.projection is 'qk_norm'; must be one of mlp, direct here: "),
        ("training.decay", "linear", "training.decay is 'linear'; must be 'none' or 'cosine'"),
        ("interventions.sequences", 65, "interventions.sequences is 65; must be at most test.sequences, 64"),
        ("interventions.training_sequences", 1, "interventions.training_sequences is 1; must be greater than or equal"),
        ("temperature.sequences", 0, "temperature.sequences is 0; must be greater than or equal to 1"),
        ("ranges.short.shortest", 5, "ranges.short is {'shortest': 5, 'longest': 4}; must be shortest <= longest"),
        ("ranges.short.longest", 65, "ranges.short.longest is 65; must be at most 64, the keys of task dictionary"),
        ("model.epsilon", -1e-5, "model.epsilon is -1e-05; must be greater than or equal to 0"),
        ("training.learning_rate", "fast", "training.learning_rate is 'fast'; must be a valid number"),
        ("training.lr", 0.1, "training.lr is 0.1, but there is no such key; choose from batch_size, learning_rate"),
        ("test.lengths", [4, 16, 128], "test.lengths[2] is 128; must be at most 64, the keys of task dictionary"),
        ("test.lengths", [16, 4], "test.lengths is [16, 4]; must be strictly increasing"),
        ("test.lengths", [], "test.lengths is []; must have at least 1 entry"),
        ("model.width", 1, "model.width is 1; must be greater than or equal to 2"),
        ("seeds_per_block", 10**30, "seeds_per_block is 1000000000000000000000000000000; must be less than or equal"),
        ("diagnostics.heatmap_sequences", 65, "diagnostics.heatmap_sequences is 65; must be at most diagnostics.seq"),
        ("figures.task", "sort", "figures.task is 'sort'; must be one of argmax, dictionary"),
        ("figures.lengths", [4, 8], "figures.lengths[1] is 8; choose from test.lengths: 4, 16, 64"),
        ("proposition.tail", 5, "proposition.tail is 5; must leave at least 3 of proposition.lengths: 2, 4, 8, 32"),
        ("proposition.tail", 0, "proposition.tail is 0; must be greater than or equal to 1"),
        ("proposition.lengths", [2, 4], "proposition.tail is 4; must leave at least 3 of proposition.lengths: 2, 4"),
        ("proposition.lengths", [4, 2], "proposition.lengths is [4, 2]; must be strictly increasing"),
        ("proposition.sequences", 1, "proposition.sequences is 1; must be greater than or equal to 2"),
        ("proposition.seeds", 8, "proposition.seeds is 8, but there is no such key; choose from lengths, sequences, t"),
        (
            "probe.modle",
            "x",
            "probe.modle is 'x', but there is no such key; choose from model, revision, text, lengths",
        ),
        ("probe.model", None, "probe.model is None; must be a valid string"),
        ("probe.revision", 7, "probe.revision is 7; must be a valid string"),
        ("probe.lengths", [32, 16], "probe.lengths is [32, 16]; must be strictly increasing"),
        ("probe.lengths", [16], "probe.lengths is [16]; must be at least two lengths, to fit an exponent"),
        (
            *("probe.lengths", [1, 16]),
            "probe.lengths is [1, 16]; must be of two tokens or more: with a fixed last token, O does not vary over "
            "sequences of one",
        ),
        ("probe.sequences", 1, "probe.sequences is 1; must be greater than or equal to 2"),
        ("probe.layers", "some", "probe.layers is 'some'; must be all, or a list of numbers that count from 0"),
        ("probe.layers", 3, "probe.layers is 3; must be all, or a list of numbers that count from 0"),
        ("probe.layers", [], "probe.layers is []; must have at least 1 entry"),
        ("probe.layers", [-1], "probe.layers[0] is -1; must be greater than or equal to 0"),
        ("probe.heads", [1, 1], "probe.heads is [1, 1]; must be without a number named twice"),
        ("probe.heads", [True], "probe.heads[0] is True; must be a valid integer"),
        ("probe.components", 0, "probe.components is 0; must be greater than or equal to 1"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(key, value, said):
    document = copy.deepcopy(GOOD)
    *sections, last = key.split(".")
    section = document
    for name in sections:
        section = section[name]
    section[last] = value
    with pytest.raises(InputError) as refused:
        check(document)
    message = str(refused.value)
    assert message.startswith(f"params.yaml: {said}" if not said.startswith("embedding") else "params.yaml: tasks.dict")
    assert said in message
    assert "\n" not in message
    assert len(message) < 300


def test_layers_and_heads_may_be_all():
    document = copy.deepcopy(GOOD)
    document["probe"] |= {"layers": "all", "heads": "all"}
    check(document)


@pytest.mark.parametrize(
    "key", [*GOOD, "tasks.argmax", "tasks.argmax.data", "tasks.argmax.data.classes", "model.width"]
)
def test_a_missing_key_is_named(key):
    document = copy.deepcopy(GOOD)
    *sections, last = key.split(".")
    section = document
    for name in sections:
        section = section[name]
    del section[last]
    with pytest.raises(InputError, match=f"params.yaml: {key} is missing"):
        check(document)


@pytest.mark.parametrize("text", ["- a list", "just text", "", "a: b: c", "\x00", "[" * 5000])
def test_what_is_not_a_mapping_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_yaml(path)
    assert "\n" not in str(refused.value)


def test_numbers_are_read_as_dvc_reads_them(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("a: 1e-3\nb: -2.5E+4\nc: 1e3x\nd: 7\n")
    assert read_yaml(path) == {"a": 1e-3, "b": -25000.0, "c": "1e3x", "d": 7}


def test_growth_may_be_left_out_or_null():
    document = copy.deepcopy(GOOD)
    document["ranges"]["long"]["growth"] = None
    check(document)
    del document["ranges"]["long"]["growth"]
    check(document)


def test_growth_starts_within_the_range():
    document = copy.deepcopy(GOOD)
    document["ranges"]["long"]["growth"]["start"] = 17
    with pytest.raises(InputError, match=r"must be shortest <= growth\.start <= longest, not 2 <= 17 <= 16$"):
        check(document)
