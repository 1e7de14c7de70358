"""Fully connected layers."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ..taps import Call, Hook, Place, Taps, nothing, positions, whole
from ..terms import Full, Outer, Single, Term
from .small import bias_of_sites


class _Linear(Hook):
    """The hook of a linear layer."""

    def __init__(self, taps: Taps) -> None:
        super().__init__(nothing)
        self.taps = taps

    def __call__(self, module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:  # type: ignore[override]
        call = self.taps.begin(module, given[0])
        if call is None:
            return None
        return tapped(self.taps, call, given[0], output, module.weight, module.bias)


def attach(taps: Taps, layer: nn.Linear) -> None:
    """Taps a linear layer."""
    taps.handles.append(layer.register_forward_hook(_Linear(taps)))


def tapped(
    taps: Taps,
    call: Call,
    values: Tensor,
    output: Tensor,
    weight: nn.Parameter,
    bias: nn.Parameter | None,
    rows: tuple[int, int] | None = None,
) -> Tensor:
    """The output of a product with a weight matrix, or with some rows of it, tapped."""
    start, end = rows or (0, weight.shape[0])
    values = values.detach()
    if call.is_shared:
        output = taps.share(output, call)
    is_single = call.axis == 0 and values.dim() == 2 and values.shape[0] == call.rows

    def make(gradient: Tensor) -> list[tuple[Place, Term]]:
        found: list[tuple[Place, Term]] = []
        if is_single:
            if taps.is_trained(weight):
                found.append(((weight, start, end), Single(values, gradient)))
            if bias is not None and taps.is_trained(bias):
                found.append(((bias, start, end), Full(gradient)))
            return found
        b = positions(gradient if call.is_shared else call.split(gradient))
        if taps.is_trained(weight):
            found.append(((weight, start, end), Outer(positions(call.split(values)), b)))
        if bias is not None and taps.is_trained(bias):
            found.append(((bias, start, end), Full(b[:, 0, 0]) if b.shape[2] == 1 else bias_of_sites(b)))
        return found

    return taps.watch(output, make, *([values] if taps.is_trained(weight) else []))


def attach_transposed(taps: Taps, layer: Any) -> None:
    """Taps a linear layer whose weights have the inputs in front."""

    def hook(module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:
        call = taps.begin(module, given[0])
        if call is None:
            return None
        values = given[0].detach()
        if call.is_shared:
            output = taps.share(output, call)
        a = positions(call.split(values))

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            b = positions(gradient if call.is_shared else call.split(gradient))
            found: list[tuple[Place, Term]] = []
            if taps.is_trained(module.weight):
                found.append((whole(module.weight), Outer(b, a)))
            if taps.is_trained(module.bias):
                found.append((whole(module.bias), Full(b.sum((1, 2)))))
            return found

        return taps.watch(output, make, *([values] if taps.is_trained(module.weight) else []))

    taps.handles.append(layer.register_forward_hook(hook))
