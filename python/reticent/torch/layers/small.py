"""Gradients on a GPU that the native library writes out: those of small convolutions, of normalizations and of biases, all layers in a few
launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..measures import Geometry, Kept, Measures
from ..taps import Call
from ..terms import KEPT, Full, Term, is_launched
from ..written import Once, Written

#: Numbers of an example's padded input and of its gradient: what the kernel has room for.
ROOM = 12000

#: Products of numbers for a batch: with more of them, a library's products are faster.
MOST = 1 << 29


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
    sides = zip((height, width), kernel, stride, (down, right), dilation, strict=True)
    found = [(side + 2 * around - gap * (own - 1) - 1) // step + 1 for side, own, step, around, gap in sides]
    if (channels, outs, *found) != (module.weight.shape[1], module.weight.shape[0], *b.shape[2:]):
        return None
    return (height, width), kernel, stride, (down, right), dilation, (b.shape[2], b.shape[3])


def convolution(values: Tensor, gradient: Tensor, geometry: Geometry, size: int, make: Callable[[], Term]) -> Written:
    """The gradients of a convolution's weights."""
    return Written(gradient, lambda measures: measures.convolved(values, gradient, geometry, size), make)


#: Channels, or places, that the kernels have room for.
MOST_CHANNELS, MOST_SITES = 1024, 1024


def is_written(call: Call, *given: Tensor) -> bool:
    """Whether the kernels compute with these: numbers in single precision on a GPU, with a row for each example."""
    return call.axis == 0 and all(
        is_launched(own.device) and own.dtype == torch.float32 and own.shape[0] == call.rows and own.numel() > 0 for own in given
    )


def bias_of_sites(b: Tensor) -> Term:
    """The gradients of biases from gradients at places, (rows, 1, places, numbers)."""

    def make() -> Full:
        return Full(b.sum((1, 2)))

    if not is_launched(b.device) or b.dtype != torch.float32 or b.shape[2] > MOST_SITES or b.numel() == 0:
        return make()
    return Written(b, lambda measures: measures.sites(None, b, False, 0.0, True)[1], make)


def bias_of_channels(b: Tensor) -> Term:
    """The gradients of biases from gradients of channels, (rows, channels, ...)."""

    def make() -> Full:
        return Full(b.flatten(2).sum(2))

    if not is_launched(b.device) or b.dtype != torch.float32 or b.shape[1] > MOST_CHANNELS or b.numel() == 0:
        return make()
    return Written(b, lambda measures: measures.channels(None, b, 1, 0.0, True)[1], make)


def normalization(layer: Any, values: Tensor, b: Tensor, has_bias: bool) -> Once | None:
    """What writes out the gradients of a normalization's weights, and of its biases; none where the kernels do not compute them."""
    if isinstance(layer, (nn.LayerNorm, nn.RMSNorm)):
        eps = torch.finfo(values.dtype).eps if layer.eps is None else layer.eps
        width, has_mean = layer.weight.numel(), isinstance(layer, nn.LayerNorm)
        if values.numel() > MOST_SITES * width * values.shape[0]:
            return None

        def sites(measures: Measures) -> tuple[Kept, Kept]:
            shape = (values.shape[0], -1, width)
            return measures.sites(values.reshape(shape), b.reshape(shape), has_mean, eps, has_bias)

        return Once(sites)
    if values.dim() < 2 or values.shape[1] != layer.weight.numel() or values.shape[1] > MOST_CHANNELS:
        return None
    together = values.shape[1] // layer.num_groups if isinstance(layer, nn.GroupNorm) else 1
    return Once(lambda measures: measures.channels(values, b, together, layer.eps, has_bias))
