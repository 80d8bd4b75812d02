"""The analytic attack on a fully connected first layer."""

from __future__ import annotations

from torch import Tensor

from tensorldp.errors import InputError


def analytic_attack(weight_gradient: Tensor, bias_gradient: Tensor) -> Tensor:
    """The input of a fully connected layer from its gradients for one record, shape (inputs,).

    dL/dW_i = dL/db_i x for every neuron i, so x is exact wherever a bias gradient is not zero; the least-squares
    answer over all neurons, sum_i b_i W_i / sum_i b_i^2, is exact as well and robust to noise.

    Args:
        weight_gradient: (neurons, inputs).
        bias_gradient: (neurons,).

    Raises:
        InputError: if the shapes do not fit or every bias gradient is zero.
    """
    if weight_gradient.dim() != 2 or bias_gradient.shape != weight_gradient.shape[:1]:
        raise InputError(
            "the analytic attack takes gradients of shape (neurons, inputs) and (neurons,), "
            f"got {tuple(weight_gradient.shape)} and {tuple(bias_gradient.shape)}"
        )
    square = bias_gradient.square().sum()
    if float(square) == 0.0:
        raise InputError("every bias gradient is zero, so the analytic attack has nothing to divide by")
    return bias_gradient @ weight_gradient / square
