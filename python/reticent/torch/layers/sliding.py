"""Gradients of convolutions by the native library's sliding sums, on the memory of the tensors: nothing is unfolded in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ... import _native
from ..terms import Outer, Term, allowance, cleared

#: Gradients are kept if they take at most so many times the memory of the layer's input and output.
SHARE = 3


#: Norms come from products of positions where these take at most such a share of the work of writing gradients out.
MOST_PAIRS = 0.1


class Slid(Term):
    """The gradients of a convolution's weights. Where they are not kept, sums are computed a second time."""

    def __init__(
        self, native: Any, values: Tensor, gradient: Tensor, each: int, outer: Callable[[], Outer], size: tuple[int, int]
    ) -> None:
        self.native, self.each, self.outer, self.size = native, each, outer, size
        self.values, self.gradient = values.contiguous(), gradient.contiguous()
        self.rows = values.shape[0] // each
        self.kept: Tensor | None = None

    def squared(self) -> Tensor:
        height, width = self.size
        if self.each * self.gradient[0, 0].numel() * (height + width) <= MOST_PAIRS * height * width:
            return self.outer().squared()
        size = self.rows * self.native.kept
        if size <= SHARE * (self.values.numel() + self.gradient.numel()):
            self.kept = torch.empty(size, dtype=torch.float32)
        kept = None if self.kept is None else self.kept.numpy()
        squares, parts = self.native.measure(self.values.numpy(), self.gradient.numpy(), self.each, _threads(), kept)
        if self.kept is None:
            # Products are added one after the other, and numbers are off by twice their share when squared.
            count = self.gradient[0, 0].numel() + self.each
            squares = squares + (allowance(torch.float32) + count * torch.finfo(torch.float32).eps) * parts**2
        return torch.from_numpy(squares).float()

    def parts(self) -> Tensor:
        return self.outer().parts()

    def full(self) -> Tensor:
        return self.outer().full()

    def add(self, factors: Tensor, into: Tensor) -> None:
        own = factors.float().contiguous().numpy()
        flat = into.view(-1)
        sum_ = flat if flat.dtype == torch.float32 else torch.zeros(flat.shape[0], dtype=torch.float32)
        if self.kept is not None:
            self.native.add_kept(self.kept.numpy(), own, sum_.numpy(), _threads())
        else:
            self.native.add(self.values.numpy(), self.gradient.numpy(), self.each, own, sum_.numpy(), _threads())
        if sum_ is not flat:
            flat += sum_

    def without(self, bad: Tensor) -> Slid:
        rows = bad.repeat_interleave(self.each)
        outer = self.outer
        found = Slid(
            self.native,
            cleared(self.values, rows),
            cleared(self.gradient, rows),
            self.each,
            lambda: outer().without(bad),
            self.size,
        )
        if self.kept is not None:
            found.kept = cleared(self.kept.view(self.rows, -1), bad).view(-1)
        return found


def _threads() -> int:
    return max(1, torch.get_num_threads())


class Slides:
    """The sliding sums of one layer."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.made: dict[tuple[int, int], Any] = {}
        around = module._reversed_padding_repeated_twice
        self.around = list(around)
        pairs = list(zip(around[::2], around[1::2], strict=True))
        #: Zeros on both sides by the native library; other padding comes before it.
        self.is_even = module.padding_mode == "zeros" and all(left == right for left, right in pairs)
        self.padding = _pair([left for left, _ in reversed(pairs)], 0) if self.is_even else (0, 0)

    def fits(self, values: Tensor, gradient: Tensor) -> bool:
        """Whether the native library computes this: single precision on the CPU, in one or two dimensions."""
        return (
            values.device.type == "cpu"
            and values.dtype == gradient.dtype == torch.float32
            and len(self.module.kernel_size) <= 2
            and values.numel() > 0
            and gradient.numel() > 0
        )

    def term(self, values: Tensor, gradient: Tensor, each: int, outer: Callable[[], Outer]) -> Slid:
        """The gradients of the weights. Values and gradients have the rows of an example one after the other."""
        module = self.module
        if not self.is_even:
            mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
            values = F.pad(values, self.around, mode=mode)
        size = _pair(values.shape[2:], 1)
        native = self.made.get(size)
        if native is None:
            kernel, stride, dilation = (
                _pair(own, 1) for own in (module.kernel_size, module.stride, module.dilation)
            )
            native = _native.ConvGradients(
                values.shape[1], size, gradient.shape[1], module.groups, kernel, stride, self.padding, dilation
            )
            self.made[size] = native
        groups = module.groups
        weights = gradient.shape[1] // groups, values.shape[1] // groups * math.prod(module.kernel_size)
        return Slid(native, values, gradient, each, outer, weights)


def _pair(numbers: Any, other: int) -> tuple[int, int]:
    """Height and width; a line has height 1."""
    own = [int(number) for number in numbers]
    return (own[0], own[1]) if len(own) == 2 else (other, own[0])
