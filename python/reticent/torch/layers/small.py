"""Gradients of small convolutions on a GPU, written out by the native library: all layers in one launch, without unfolding inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..terms import KEPT, Geometry, Measures, Outer, Term, add_product, cleared, is_launched

#: Numbers of an example's padded input and of its gradient: what the kernel has room for.
ROOM = 12000

#: Products of numbers for a batch: with more of them, a library's products are faster.
MOST = 1 << 29


class Written(Term):
    """The gradients of a convolution's weights. Where nothing writes them out, they are sums of outer products."""

    def __init__(self, values: Tensor, gradient: Tensor, geometry: Geometry, size: int, outer: Callable[[], Outer]) -> None:
        self.values, self.gradient, self.geometry, self.size = values, gradient, geometry, size
        self.rows = gradient.shape[0]
        self.outer = outer
        self.kept: Tensor | None = None
        self._term: Outer | None = None

    @property
    def device(self) -> torch.device:
        return self.gradient.device

    @property
    def term(self) -> Outer:
        """The sums of outer products."""
        if self._term is None:
            self._term = self.outer()
        return self._term

    def squared(self) -> Tensor:
        return self.term.squared()

    def describe(self, measures: Measures) -> None:
        self.kept = measures.convolved(self.values, self.gradient, self.geometry, self.size)

    @property
    def written_out(self) -> Tensor | None:
        return self.kept

    def parts(self) -> Tensor:
        return self.term.parts()

    def full(self) -> Tensor:
        return self.term.full() if self.kept is None else self.kept

    def add(self, factors: Tensor, into: Tensor) -> None:
        if self.kept is None:
            self.term.add(factors, into)
        else:
            add_product(self.kept.t(), factors, into.view(-1))

    def write(self, factors: Tensor, into: Tensor) -> None:
        if self.kept is None:
            self.term.write(factors, into)
        else:
            add_product(self.kept.t(), factors, into.view(-1), True)

    def without(self, bad: Tensor) -> Term:
        if self.kept is None:
            return self.term.without(bad)
        found = Written(cleared(self.values, bad), cleared(self.gradient, bad), self.geometry, self.size, self.outer)
        # What was measured is what is added.
        found.kept = cleared(self.kept, bad)
        return found


def geometry_of(module: Any, values: Tensor, b: Tensor, each: int) -> Geometry | None:
    """What the kernel has to know, if it computes this: few numbers in single precision, on a GPU."""
    if not is_launched(b.device) or values.dtype != torch.float32 or b.dtype != torch.float32 or each != 1:
        return None
    if len(module.kernel_size) != 2 or module.groups != 1 or module.padding_mode != "zeros":
        return None
    right, left, down, up = module._reversed_padding_repeated_twice
    if right != left or down != up or values.dim() != 4 or values.shape[0] != b.shape[0]:
        return None
    rows, channels, height, width = values.shape
    outs, size = b.shape[1], module.weight.numel()
    numbers = channels * (height + 2 * down) * (width + 2 * right) + b[0].numel()
    work = rows * size * b.shape[2] * b.shape[3]
    if numbers > ROOM or not 0 < work <= MOST or rows * size > KEPT or outs * size == 0:
        return None
    kernel, stride, dilation = tuple(module.kernel_size), tuple(module.stride), tuple(module.dilation)
    return (height, width), kernel, stride, (down, right), dilation, (b.shape[2], b.shape[3])
