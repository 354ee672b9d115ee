import json
import shutil
from collections import defaultdict

import jaxtyping
import pytest
import torch
from checkout import Copy
from filelock import FileLock

# Where arrays go in and out, annotations are checked in the tests, shapes too; an int is a float, as for mypy.
CHECKED = (
    *(
        "attentions",
        "capacity",
        "evaluation",
        "fitting",
        "inference",
        "interventions",
        "model",
        "norms",
        "statistics",
        "tasks",
    ),
    "leaderboard.standings",
    "leaderboard.testing",
    "training.adam",
    "training.compiled_adam",
    # but for the parameters, whose types pydantic checks
    *(f"probe.{name}" for name in ("deviations", "families", "fits", "outputs", "selection", "sequences")),
    *(f"proposition.{name}" for name in ("expectation", "measurement", "summary")),
)
jaxtyping.install_import_hook(
    [f"vanishing_variance.{name}" for name in CHECKED],
    "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))",
)

from small import make_plan

from vanishing_variance.model.initialisation import draw
from vanishing_variance.training import loop as training

torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    """A file that runs the pipeline begins first, the others that need its results last, when it has them."""
    runs = [item.path for item in items if "first_run" in item.fixturenames]
    items.sort(key=lambda item: 0 if item.path in runs[:1] else 2 if item.path in runs else 1)


@pytest.fixture
def briefly_trained(task_name):
    """A training plan, and the weights of its two briefly trained seeds, float64."""
    plan = make_plan(task_name, "ln", steps=60)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, task_name, [0, 1])
    training.train(plan, weights, [0, 1])
    return plan, {name: tensor.double() for name, tensor in weights.items()}


@pytest.fixture
def unchecked():
    """As outside the tests: nothing checks annotations, so wrong shapes reach the code."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(params=["argmax", "dictionary"])
def task_name(request):
    return request.param


@pytest.fixture(params=["none", "std", "ln", "rms", "centred_rms"])
def norm_name(request):
    return request.param


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A tiny random pretrained model of each family, saved with a tokenizer of 64 whole words."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["[UNK]", "[CLS]", "[SEP]", ".", "!", "?", *(f"w{number}" for number in range(58))]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[.!?]"), behavior="removed", invert=True)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    sizes = {"hidden_size": 32, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"vocab_size": 64, "max_position_embeddings": 128, "initializer_range": 0.5}
    llama = LlamaConfig(**sizes, num_key_value_heads=2, head_dim=12, bos_token_id=1, eos_token_id=2)
    saved = {}
    for name, kind, config in (("llama", LlamaForCausalLM, llama), ("bert", BertModel, BertConfig(**sizes))):
        torch.manual_seed(0)
        saved[name] = tmp_path_factory.mktemp(name)
        kind(config).save_pretrained(saved[name])
        fast.save_pretrained(saved[name])
    return saved


@pytest.fixture(scope="session")
def loaded(folders):
    """The first two layers of these, and of the packaged model: by name, (model, family, tokenizer)."""
    from vanishing_variance.probe import pretrained
    from vanishing_variance.probe.families import FAMILIES

    families = FAMILIES

    def load(name):
        checkpoint = pretrained.find(name, None, families)
        family = families[checkpoint.config.model_type]
        model, tokenizer = pretrained.load(checkpoint, family.model, 2, **family.options)
        return model, family, tokenizer

    return {name: load(str(folder)) for name, folder in folders.items()} | {"packaged": load(pretrained.EMBEDDED)}


@pytest.fixture(scope="session")
def original(tmp_path_factory, worker_id):
    """A copy after its first `dvc repro`, committed, left as it is; what ran, and which files each stage opened.

    All processes that run tests share it: the first to come makes it, and the others wait.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "original"
    finished = folder / "finished.json"
    with FileLock(f"{folder}.lock"):
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)
            copy = Copy.of_this_checkout(folder / "copy", folder / "trace")
            ran = copy.ran("dvc", "repro")
            copy("dvc", "repro", "leaderboard/dvc.yaml")
            copy.commit("results")
            finished.write_text(json.dumps(sorted(ran)))
    opened = defaultdict(set)
    for line in (folder / "trace").read_text().splitlines():
        command, file = line.split("\t")
        opened[command].add(file)
    return Copy(folder / "copy"), set(json.loads(finished.read_text())), opened


@pytest.fixture(scope="module")
def first_run(original, tmp_path_factory):
    """The same, with a copy of the file's own."""
    copy = Copy(tmp_path_factory.mktemp("pipeline") / "copy")
    shutil.copytree(original[0].path, copy.path, symlinks=True)
    return copy, *original[1:]


@pytest.fixture
def copy(first_run):
    """The copy, put back to the results of its first run afterwards."""
    copy = first_run[0]
    results = copy("git", "rev-parse", "HEAD").strip()
    yield copy
    copy("git", "reset", "--quiet", "--hard", results)
    copy("git", "clean", "--quiet", "--force", "-d")
    copy("dvc", "checkout", "--quiet")
