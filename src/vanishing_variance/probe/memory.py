"""Memory for measuring a pretrained transformer.

H width of its layers.
"""

from collections.abc import Sequence

from transformers import PreTrainedConfig

from vanishing_variance.engine.device import free_gpu_memory
from vanishing_variance.harness.memory import Need, Term
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.outputs import BATCH
from vanishing_variance.probe.strategies import STRATEGIES

FLOAT, TOKEN = 4, 8
# Bytes of the library of such models and of a text in tokens, beside what other stages import.
LIBRARY = 160 * 2**20
# Square matrices of a layer's attention, and of what follows it; vectors of a token, within a layer.
SQUARES, FORWARD, VECTORS = 4, 3, 16
# Copies of the tokens while they are drawn, and of O: in batches, as one, and what is looked at.
DRAWN, OUTPUTS = 2, 3


def memory_needed(settings: Probe, config: PreTrainedConfig, layers: Sequence[int]) -> Need:
    """Return the memory that `deviations.measure` needs for the model of `config`, down to the last of `layers`."""
    width, inner, longest = config.hidden_size, config.intermediate_size, max(settings.lengths)
    depth = max(layers) + 1
    embedded = width * config.vocab_size
    each = SQUARES * width**2 + FORWARD * width * inner
    tokens = settings.sequences * sum(settings.lengths) * len(STRATEGIES)

    model: dict[str, int | str] = {"probe.model": settings.model}
    many, long = {"probe.sequences": settings.sequences}, {"probe.lengths": longest}
    return Need(
        name="probe",
        data=(
            Term(LIBRARY, {}),
            Term(DRAWN * TOKEN * tokens, many | long),
            Term(OUTPUTS * FLOAT * settings.sequences * len(layers) * width, many | {"probe.layers": len(layers)}),
        ),
        tensors=(
            Term(FLOAT * (embedded + depth * each), model | {"probe.layers": max(layers)}),
            Term(FLOAT * max(BATCH, longest) * (VECTORS * width + 2 * inner), long | model),
        ),
        gpu=free_gpu_memory(),
    )
