import os
from pathlib import Path

# Tests compute on the CPU, in the processes that they start, too, but for the one of the GPU.
WITH_GPUS = dict(os.environ)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["MPLBACKEND"] = "agg"

import jaxtyping
import pytest
import torch

SOURCES = Path(__file__).resolve().parents[1] / "src"


def _with_shapes():
    """The names of all modules whose annotations have shapes: the tests check these."""
    for path in sorted(SOURCES.glob("vanishing_variance/**/*.py")):
        if "from jaxtyping import" in path.read_text(encoding="utf-8"):
            yield ".".join(path.relative_to(SOURCES).with_suffix("").parts)


# An int is a float, as for mypy.
CHECK = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
jaxtyping.install_import_hook([*_with_shapes()], CHECK)

from vanishing_variance.engine import loop, steps
from vanishing_variance.harness import parallel
from vanishing_variance.plain import training as plain_training

torch.set_num_threads(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let a test train only where it is marked `trains`: these are repeated under several perturbations."""
    original = steps.learning_rates
    if "trains" not in item.keywords:
        steps.learning_rates = plain_training.learning_rates = _unmarked
    try:
        return (yield)
    finally:
        steps.learning_rates = plain_training.learning_rates = original


def _unmarked(*_):
    pytest.fail("it trains: mark it `trains`, and let nothing in it depend on what the training leads to")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Start no processes, where a test does not say otherwise."""
    monkeypatch.setattr(parallel, "cores", lambda: 1)


@pytest.fixture
def record_every_five_steps(monkeypatch):
    monkeypatch.setattr(loop, "STEPS_PER_RECORD", 5)


@pytest.fixture
def with_gpus():
    """The environment in which a process has the GPUs that these tests do without."""
    return WITH_GPUS


@pytest.fixture(params=["argmax", "dictionary"])
def task_name(request):
    return request.param


@pytest.fixture(params=["none", "std", "ln", "rms", "centred_rms"])
def norm_name(request):
    return request.param


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A tiny random decoder of several types, saved with a tokenizer of 64 whole words."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    words = ["[UNK]", "[CLS]", "[SEP]", ".", "!", "?", *(f"w{number}" for number in range(58))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[.!?]"), behavior="removed", invert=True)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 64}
    sizes |= {"initializer_range": 0.5, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
    rotary = {"intermediate_size": 16, "num_key_value_heads": 2, "max_position_embeddings": 128}
    wide = rotary | {"head_dim": 12}
    types = {"llama": wide, "qwen2": rotary}
    saved = {}
    for name, others in types.items():
        torch.manual_seed(0)
        saved[name] = tmp_path_factory.mktemp(name)
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(name, **sizes, **others))
        model.save_pretrained(saved[name])
        fast.save_pretrained(saved[name])
    return saved


@pytest.fixture(scope="session")
def loaded(folders):
    """The first two layers of these: by type, (decoder, tokenizer)."""
    from vanishing_variance.probe import pretrained

    return {name: pretrained.load(pretrained.find(str(folder), None), 2) for name, folder in folders.items()}


@pytest.fixture(scope="session")
def packaged():
    """The first layer of the packaged model: (decoder, tokenizer)."""
    from vanishing_variance.probe import pretrained

    return pretrained.load(pretrained.find(pretrained.EMBEDDED, None), 1)
