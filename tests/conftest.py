from collections import defaultdict

import jaxtyping
import numpy as np
import pytest
import torch
from checkout import Copy

# Where arrays go in and out, annotations are checked in the tests, shapes too; an int is a float, as for mypy.
CHECKED = (
    *("capacity", "diagnosis", "evaluation", "fitting", "kernels", "mechanism", "model", "norms", "probe"),
    *("proposition", "statistics", "tasks", "vocabulary"),
)
jaxtyping.install_import_hook(
    [f"vanishing_variance.{name}" for name in CHECKED],
    "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))",
)

from vanishing_variance import registry, tasks, training
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.reference import Reference
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.experiment import Model, Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.proposition.measurement import Trained
from vanishing_variance.training import Plan

torch.set_num_threads(1)

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
SCHEDULES = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}


def pytest_collection_modifyitems(items):
    """The files that run the pipeline take longest, and so begin first."""
    items.sort(key=lambda item: "first_run" not in item.fixturenames)


def make_model(**changes):
    settings = {"width": 32, "epsilon": 1e-5, "gelu": "exact", "initialisation": "torch", "attention_biases": False}
    return Model(**settings | changes)


def make_plan(task="argmax", norm="ln", steps=20, model=None, **optimiser):
    """A small training of one variant."""
    module = registry.load(tasks, task)
    settings = {"batch_size": 32, "learning_rate": 1e-2, "weight_decay": 0.0, "seeds_per_process": 4} | optimiser
    return Plan(
        name=f"{task}-short-{norm}-0",
        root=0,
        range_name="short",
        lengths=Range(shortest=3, longest=9),
        variant=Variant(task, norm, module.TASK(**DATA[task]), model or make_model()),
        optimiser=Training(**settings),
        schedule=module.TRAINING(steps=steps, **SCHEDULES[task]),
    )


def make_trained(task="argmax", norm="none", sharpness=1.0):
    """A block of two untrained models of one variant, in single precision; the logits times `sharpness`."""
    plan = make_plan(task, norm)
    weights = draw(plan.variant.initial(plan.schedule), 0, task, [0, 1])
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    arrays["attention.key"] = arrays["attention.key"] * np.float32(sharpness)
    return Trained(plan.variant, arrays)


# Where single items of the untrained models weigh much more than others, so that A and V depend on each other.
SHARP = {"argmax": 400, "dictionary": 1000}


def plainly(trained, batch):
    """Logits (B, N) and values V (B, N, D) of the first model on a batch, by the plain module in double precision."""
    variant, weights = trained.variant, {name: torch.from_numpy(array) for name, array in trained.weights.items()}
    model = Reference(variant.task, variant.network().norm, variant.model, 16)
    model.load(weights, 0)
    seen = {}
    for name in ("query", "key", "value"):
        model.attention[name].register_forward_hook(lambda *made, name=name: seen.update({name: made[-1]}))
    with torch.no_grad():
        model.double()({name: torch.from_numpy(array.astype(np.float64)) for name, array in batch.items()})
    logits = (seen["query"].unsqueeze(1) @ seen["key"].mT).squeeze(1) / seen["key"].shape[-1] ** 0.5
    return logits.numpy(), seen["value"].numpy()


def make_dependent(logit):
    """argmax by hand: of items of class 0, one in ten, the logit is `logit` and V_0 is 10, of others both are 0.

    V_1 is the GELU of the priority, whatever the class.
    """
    trained, width = make_trained(), 32
    zero, square = np.zeros((1, width)), np.zeros((1, width, width))
    first, both, one, query = np.zeros((1, width, 11)), square.copy(), square.copy(), zero.copy()
    first[0, 0, 1], first[0, 1, 0] = 10, 1
    both[0, [0, 1], [0, 1]] = one[0, 0, 0] = 1
    query[0, 0] = logit / 10 * width**0.5
    weights = {"item.0.weight": first, "item.0.bias": zero, "item.2.weight": both, "item.2.bias": zero}
    weights |= {"query.2.weight": square, "query.2.bias": query}
    weights |= {"attention.query": one, "attention.key": one, "attention.value": both}
    single = {name: array.astype(np.float32) for name, array in weights.items()}
    return Trained(trained.variant, {**trained.weights, **single})


@pytest.fixture
def briefly_trained(task_name):
    """A training plan, and the weights of its two briefly trained seeds, float64."""
    plan = make_plan(task_name, "ln", steps=60)
    weights = draw(plan.variant.initial(plan.schedule), plan.root, task_name, [0, 1])
    training.train(plan, weights, [0, 1])
    return plan, {name: tensor.double() for name, tensor in weights.items()}


def in_arrays(weights, dtype=None):
    """Weights as a stage reads them, of this precision."""
    return {name: tensor.to(dtype).numpy() for name, tensor in weights.items()}


@pytest.fixture
def unchecked():
    """As outside the tests: nothing checks annotations, so wrong shapes reach the code."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(params=["argmax", "dictionary"])
def task_name(request):
    return request.param


@pytest.fixture(params=["none", "std", "ln", "rms"])
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
    from vanishing_variance.io import pretrained
    from vanishing_variance.probe.families import supported

    families = supported()

    def load(name):
        checkpoint = pretrained.find(name, None, families)
        family = families[checkpoint.config.model_type]
        model, tokenizer = pretrained.load(checkpoint, family.model, 2, **family.options)
        return model, family, tokenizer

    return {name: load(str(folder)) for name, folder in folders.items()} | {"packaged": load(pretrained.EMBEDDED)}


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """The copy after its first `dvc repro`, committed; what ran, and which files each stage opened."""
    folder = tmp_path_factory.mktemp("pipeline")
    copy = Copy.of_this_checkout(folder / "copy", folder / "trace")
    ran = copy.ran("dvc", "repro")
    copy.commit("results")
    opened = defaultdict(set)
    for line in (folder / "trace").read_text().splitlines():
        command, file = line.split("\t")
        opened[command].add(file)
    for name in ("PYTHONPATH", "TRACE_ROOT", "TRACE_LOG"):
        copy.environment.pop(name)
    return copy, ran, opened


@pytest.fixture
def copy(first_run):
    """The copy, put back to the results of its first run afterwards."""
    copy = first_run[0]
    results = copy("git", "rev-parse", "HEAD").strip()
    yield copy
    copy("git", "reset", "--quiet", "--hard", results)
    copy("git", "clean", "--quiet", "--force", "-d")
    copy("dvc", "checkout", "--quiet")
