"""What a client of federated training computes from its records, as a differentiable function of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from tensorldp.errors import InputError, check_positive, check_whole

Parameters = dict[str, Tensor]


class Client:
    """The update of a network on a client's records: one gradient of cross-entropy, or k local steps.

    Args:
        model: layers in sequence, the last one linear.
        steps: k; after k steps of gradient descent the client sends (theta_0 - theta_k) / rate.
        rate: learning rate of the local steps; of no effect for one step.

    Raises:
        InputError: if the model does not end in a linear layer or a setting is out of range.
    """

    def __init__(self, model: nn.Sequential, *, steps: int = 1, rate: float = 0.1) -> None:
        self.steps, self.rate = check_whole("steps", steps, low=1), check_positive("rate", rate)
        head = model[-1]
        if not isinstance(head, nn.Linear):
            raise InputError(f"the last layer must be linear, got {type(head).__name__}")
        self.body, self.features, self.classes = nn.Sequential(*list(model)[:-1]), head.in_features, head.out_features
        self.place = str(len(model) - 1)
        self.parameters: Parameters = {key: value.detach() for key, value in model.named_parameters()}

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(value.numel() for value in self.parameters.values())

    def split(self, vector: Tensor) -> Parameters:
        """A flat vector of all parameters as named tensors."""
        parts = vector.split([value.numel() for value in self.parameters.values()])
        return {
            key: part.reshape(value.shape) for (key, value), part in zip(self.parameters.items(), parts, strict=True)
        }

    def one_hot(self, labels: Tensor) -> Tensor:
        """Class indices as rows of probabilities, in the parameters' type."""
        return functional.one_hot(labels, self.classes).to(next(iter(self.parameters.values())).dtype)

    def scores(self, parameters: Parameters, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Class scores of a batch; `mask` switches features before the last layer on or off (dropout)."""
        body = {key: value for key, value in parameters.items() if not key.startswith(f"{self.place}.")}
        features = functional_call(self.body, body, (x,))
        if mask is not None:
            features = features * mask
        return functional.linear(features, parameters[f"{self.place}.weight"], parameters[f"{self.place}.bias"])

    def loss(self, parameters: Parameters, x: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
        """Mean cross-entropy with rows of class probabilities as targets."""
        return functional.cross_entropy(self.scores(parameters, x, mask), targets)

    def update(
        self, x: Tensor, targets: Tensor, mask: Tensor | None = None, parameters: Parameters | None = None
    ) -> Tensor:
        """The flat vector that a client sends, (parameters,); differentiable in x and targets.

        Args:
            x: (batch, ...) inputs.
            targets: (batch, classes) class probabilities.
            mask: (features,) kept features times 1 / p, or None.
            parameters: other parameters than the model's.
        """
        start = now = self.parameters if parameters is None else parameters
        step: Parameters = {}
        for _ in range(self.steps):
            step = grad(self.loss)(now, x, targets, mask)
            now = {key: value - self.rate * step[key] for key, value in now.items()}
        if self.steps > 1:
            step = {key: (start[key] - now[key]) / self.rate for key in start}
        return torch.cat([value.reshape(-1) for value in step.values()])

    def updates(self, x: Tensor, targets: Tensor, masks: Tensor | None, parameters: Parameters) -> Tensor:
        """The vectors of many clients with one record each, (clients, parameters)."""

        def one(record: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
            return self.update(record.unsqueeze(0), target.unsqueeze(0), mask, parameters)

        return vmap(one)(x, targets) if masks is None else vmap(one)(x, targets, masks)
