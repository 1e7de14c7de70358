"""Gradients of convolutions from shifted rows: with a stride of 1, every place of a kernel is one product over contiguous memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..measures import Measures
from ..terms import FEW, KEPT, Term, cleared, is_launched, sum_of_squares

#: With fewer channels than these, patches cost less than products of thin matrices.
CHANNELS = 64


class Shifted(Term):
    """The gradients of a convolution's weights, written out. Padded values and output gradients are laid out with rows of the same
    width, those of the gradient filled up with zeros: the gradient at a place of the kernel is the product with the values that many
    numbers further on."""

    def __init__(
        self,
        padded: Callable[[], Tensor],
        b: Tensor,
        size: tuple[int, int],
        dilation: tuple[int, int],
    ) -> None:
        self.padded, self.b, self.size, self.dilation = padded, b, size, dilation
        self.rows = b.shape[0]
        self.kept: Tensor | None = None

    @property
    def device(self) -> torch.device:
        return self.b.device

    def written(self) -> Tensor:
        """The gradients: (rows, places of the kernel, out, in)."""
        if self.kept is None:
            values, (high, wide) = self.padded(), self.size
            rows, height, _, steps = self.b.shape
            width = values.shape[3]
            b = F.pad(self.b, (0, width - steps)).reshape(rows, height, -1)
            a = values.reshape(rows, values.shape[1], -1)
            count = b.shape[2] - (width - steps)
            self.kept = b.new_empty(rows, high * wide, height, a.shape[1])
            for place in range(high * wide):
                start = place // wide * self.dilation[0] * width + place % wide * self.dilation[1]
                torch.bmm(b[:, :, :count], a[:, :, start : start + count].mT, out=self.kept[:, place])
        return self.kept

    def squared(self) -> Tensor:
        return sum_of_squares(self.written())

    def describe(self, measures: Measures) -> None:
        measures.kept(self.written()) if self.written().dtype == torch.float32 else super().describe(measures)

    def parts(self) -> Tensor:
        return self.squared().sqrt()

    def full(self) -> Tensor:
        return self.written().permute(0, 2, 3, 1)

    def add(self, factors: Tensor, into: Tensor) -> None:
        flat = self.written().reshape(self.rows, -1)
        total = flat.t().mv(factors.to(flat.dtype))
        places = self.size[0] * self.size[1]
        into.view(-1, places).add_(total.view(places, -1).t())

    def without(self, bad: Tensor) -> Shifted:
        found = Shifted(self.padded, self.b, self.size, self.dilation)
        found.kept = cleared(self.written(), bad)
        return found


def fits(module: Any, values: Tensor, b: Tensor, each: int) -> bool:
    """Whether the gradients are better written out from shifted rows: many positions, on a GPU."""
    if not is_launched(b.device) or values.dtype != b.dtype or len(module.kernel_size) != 2 or each != 1:
        return False
    if b.dtype not in (torch.float32, torch.float64) or module.groups != 1 or tuple(module.stride) != (1, 1):
        return False
    positions, size = b.shape[2] * b.shape[3], module.weight.numel()
    height, width = b.shape[1], size // b.shape[1]
    is_long = positions > FEW and positions * (width + height) >= width * height
    return is_long and min(values.shape[1], height) >= CHANNELS and b.shape[0] * size <= KEPT
