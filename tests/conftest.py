import pytest
import torch

from vanishing_variance import registry, tasks
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.experiment import Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.training import Plan

torch.set_num_threads(1)

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
SCHEDULES = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}


def make_plan(task="argmax", norm="ln", steps=20, width=32, **optimiser):
    """A small training of one variant."""
    module = registry.load(tasks, task)
    settings = {"batch_size": 32, "learning_rate": 1e-2, "weight_decay": 0.0, "seeds_per_process": 4} | optimiser
    return Plan(
        name=f"{task}-short-{norm}-0",
        root=0,
        range_name="short",
        lengths=Range(shortest=3, longest=9),
        variant=Variant(task, norm, module.TASK(**DATA[task]), 1e-5),
        width=width,
        optimiser=Training(**settings),
        schedule=module.TRAINING(steps=steps, **SCHEDULES[task]),
    )


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
