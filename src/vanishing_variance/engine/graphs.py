"""CUDA graphs: the work of a step, recorded once for each shape of its batch and then replayed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from vanishing_variance.engine.device import device

# Makes a step on a batch with its labels, and returns each seed's loss.
Step = Callable[[dict[str, Tensor], Tensor], Tensor]
Shapes = tuple[torch.Size, ...]


def on_device(step: Step, *, recorded: bool = True) -> Step:
    """Return the step as the device makes it, of batches on the CPU; on a GPU `recorded`, or as it is."""
    if device().type == "cpu":
        return step
    graphs = Graphs(step)
    return graphs if recorded else graphs.as_it_is


@dataclass(frozen=True)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    batch: dict[str, Tensor]
    labels: Tensor
    result: Tensor


class Graphs:
    """A step on a GPU: `step(batch, labels)`, which reads and changes tensors on the GPU in place and nothing else.

    The first step of each shape runs as it is, for libraries set themselves up in it; the second is recorded. Whatever
    `step` does in Python happens then, and not in later steps.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        self._seen: set[Shapes] = set()
        self._recorded: dict[Shapes, _Recorded] = {}
        self._stream = torch.cuda.Stream()
        self._memory = torch.cuda.graph_pool_handle()  # one for all graphs, of which no two run at once

    def __call__(self, batch: Mapping[str, Tensor], labels: Tensor) -> Tensor:
        """Return what the step does, until the next one; batch and labels may be in pinned memory."""
        shapes = tuple(array.shape for array in (*batch.values(), labels))
        if shapes not in self._seen:
            self._seen.add(shapes)
            return self.as_it_is(batch, labels)
        if shapes not in self._recorded:
            self._recorded[shapes] = self._record(batch, labels)
        recorded = self._recorded[shapes]
        for name, array in batch.items():
            recorded.batch[name].copy_(array, non_blocking=True)
        recorded.labels.copy_(labels, non_blocking=True)
        recorded.graph.replay()
        return recorded.result

    def as_it_is(self, batch: Mapping[str, Tensor], labels: Tensor) -> Tensor:
        """Return what the step does, launched from Python."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            result = self._step({name: array.cuda() for name, array in batch.items()}, labels.cuda())
        torch.cuda.current_stream().wait_stream(self._stream)
        return result

    def _record(self, batch: Mapping[str, Tensor], labels: Tensor) -> _Recorded:
        inputs = {name: array.cuda() for name, array in batch.items()}
        input_labels, graph = labels.cuda(), torch.cuda.CUDAGraph()
        # other threads, which pin memory, may go on meanwhile
        with torch.cuda.graph(graph, self._memory, self._stream, capture_error_mode="thread_local"):
            result = self._step(inputs, input_labels)
        return _Recorded(graph, inputs, input_labels, result)
