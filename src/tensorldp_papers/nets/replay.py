"""Training steps on a GPU, recorded once and then replayed.

A small network's step is hundreds of kernels that take less time than their launches. A CUDA graph launches all of them
at once. It computes what the step itself computes, noise included: a generator goes on from replay to replay. The masks
of dropout, which are drawn on the CPU, are put into their places before each replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tensorldp_papers.nets.registry import SeededDropout

Shapes = tuple[tuple[int, ...], ...]
OURS = ("torch.", "torchvision.", "tensorldp_papers.")  # a layer from elsewhere may decide from its inputs what to do


def can_replay(model: nn.Module) -> bool:
    """Returns whether a network's step does the same each time; LSTMs gain nothing."""
    layers = list(model.modules())
    known = all(type(layer).__module__.startswith(OURS) for layer in layers)
    return known and not any(isinstance(layer, nn.RNNBase) for layer in layers)


@dataclass
class _Recorded:
    """A step's graph, where its inputs lie, and where each dropout's masks."""

    graph: torch.cuda.CUDAGraph
    inputs: list[Tensor]
    masks: list[tuple[SeededDropout, Tensor]]

    def replay(self, inputs: Sequence[Tensor]) -> None:
        """Takes the step on these inputs, with new masks."""
        for place, value in zip(self.inputs, inputs, strict=True):
            place.copy_(value)
        for layer, mask in self.masks:
            mask.copy_(layer.mask(mask.shape))
        self.graph.replay()


class Replay:
    """A step that is the same for all inputs of one shape; on a CPU it is just called.

    The first inputs of a shape go through the step itself, which so allocates what it keeps. The second are recorded.

    Args:
        step: it changes parameters, optimiser and buffers in place, reads no tensor back to the CPU and gives nothing.
        device: where its tensors are.
        model: the network whose step it is, as `can_replay` takes it.
        generators: those on the device that it draws from.
    """

    def __init__(
        self,
        step: Callable[..., None],
        device: torch.device,
        model: nn.Module,
        generators: Sequence[torch.Generator] = (),
    ) -> None:
        self.step, self.generators = step, generators
        self.dropouts = [layer for layer in model.modules() if isinstance(layer, SeededDropout)]
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._pool = None if self.stream is None else torch.cuda.graph_pool_handle()
        self._recorded: dict[Shapes, _Recorded | None] = {}

    def __call__(self, *inputs: Tensor) -> None:
        """Takes the step on these inputs."""
        if self.stream is None:
            self.step(*inputs)
            return
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        with torch.cuda.stream(self.stream):
            self._on_stream(inputs)
        torch.cuda.current_stream(self.stream.device).wait_stream(self.stream)

    def _on_stream(self, inputs: Sequence[Tensor]) -> None:
        shapes = tuple(tuple(x.shape) for x in inputs)
        if shapes not in self._recorded:
            self._recorded[shapes] = None
            self.step(*inputs)
            return
        recorded = self._recorded[shapes]
        if recorded is None:
            recorded = self._recorded[shapes] = self._record(inputs)
        recorded.replay(inputs)

    def _record(self, inputs: Sequence[Tensor]) -> _Recorded:
        places = [x.clone() for x in inputs]
        graph = torch.cuda.CUDAGraph()
        for source in self.generators:
            graph.register_generator_state(source)
        for layer in self.dropouts:
            layer.places = []
        torch.cuda.synchronize()
        graph.capture_begin(pool=self._pool)
        try:
            self.step(*places)
        finally:
            graph.capture_end()
            masks = [(layer, place) for layer in self.dropouts for place in layer.places or ()]
            for layer in self.dropouts:
                layer.places = None
        return _Recorded(graph, places, masks)
