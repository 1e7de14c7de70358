"""Convolutions and their transposes, in one to three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from ..taps import Call, Place, Taps, whole
from ..terms import Full, Outer, Term, is_launched
from . import shifted, small
from .sliding import Slides


def unfolded(
    values: Tensor, size: Sequence[int], stride: Sequence[int], dilation: Sequence[int], groups: int, by_position: bool = False
) -> Tensor:
    """The patches of padded values: (rows, groups, positions, channels × size). One copy, in memory patch by patch, or all positions side by
    side."""
    rows, channels, *spatial = values.shape
    values = values.contiguous()
    along = values.stride()[2:]
    steps = [
        (length - gap * (width - 1) - 1) // step + 1
        for length, width, step, gap in zip(spatial, size, stride, dilation, strict=True)
    ]
    view = values.as_strided(
        (rows, channels, *size, *steps),
        (
            *values.stride()[:2],
            *(own * gap for own, gap in zip(along, dilation, strict=True)),
            *(own * step for own, step in zip(along, stride, strict=True)),
        ),
    )
    if by_position:
        inner = view.unflatten(1, (groups, -1))
        places = range(3 + len(size), 3 + 2 * len(size))
        patches = inner.permute(0, 1, *places, 2, *range(3, 3 + len(size)))
        return patches.reshape(rows, groups, math.prod(steps), channels // groups * math.prod(size))
    patches = view.reshape(rows, groups, channels // groups * math.prod(size), math.prod(steps))
    return patches.mT


def grouped(values: Tensor, groups: int) -> Tensor:
    """(rows, channels, ...) as (rows, groups, positions, channels of a group)."""
    rows, channels = values.shape[:2]
    return values.reshape(rows, groups, channels // groups, -1).mT


def _examples(call: Call, values: Tensor) -> tuple[Tensor, int]:
    """Values with one row each, and how many rows an example has."""
    if call.is_shared:
        return values.expand(call.rows, *values.shape[1:]) if values.shape[0] == 1 else values, 1
    if call.axis == 1:
        values = values.transpose(0, 1).flatten(0, 1)
    return values, values.shape[0] // call.rows


def _joined(side: Tensor, each: int) -> Tensor:
    """Several rows of one example as more positions."""
    if each == 1:
        return side
    rows, groups, count, width = side.shape
    split = side.reshape(rows // each, each, groups, count, width)
    return split.transpose(1, 2).reshape(rows // each, groups, each * count, width)


def _batched(values: Tensor, dimensions: int) -> Tensor:
    return values if values.dim() == dimensions + 2 else values.unsqueeze(0)


def attach(taps: Taps, layer: Any) -> None:
    """Taps a convolution."""
    slides = Slides(layer)

    def hook(module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:
        call = taps.begin(module, given[0])
        if call is None:
            return None
        values = given[0].detach()
        if call.is_shared:
            output = taps.share(output, call)
        dimensions = len(module.kernel_size)

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            b, each = _examples(call, _batched(gradient, dimensions))
            found: list[tuple[Place, Term]] = []
            if taps.is_trained(module.weight):
                given, _ = _examples(call, _batched(values, dimensions))

                def padded() -> Tensor:
                    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
                    around = module._reversed_padding_repeated_twice
                    return F.pad(given, around, mode=mode) if any(around) else given

                def patches() -> Tensor:
                    a = unfolded(padded(), module.kernel_size, module.stride, module.dilation, module.groups, by_position)
                    return _joined(a, each)

                width = module.in_channels // module.groups * math.prod(module.kernel_size)
                height = module.out_channels // module.groups
                # Where norms come from products of positions, so do sums.
                by_position = is_launched(b.device) and math.prod(b.shape[2:]) * (width + height) < width * height

                def outer() -> Outer:
                    return Outer(patches, _joined(grouped(b, module.groups), each), width)

                term: Term
                geometry = small.geometry_of(module, given, b, each)
                if slides.fits(given, b):
                    term = slides.term(given, b, each, outer)
                elif geometry is not None:
                    term = small.convolution(given, b, geometry, module.weight.numel(), outer)
                elif shifted.fits(module, given, b, each):
                    term = shifted.Shifted(padded, b, module.kernel_size, module.dilation)
                else:
                    term = outer()
                found.append((whole(module.weight), term))
            if taps.is_trained(module.bias):
                found.append((whole(module.bias), _biases(b, each)))
            return found

        return taps.watch(output, make, *([values] if taps.is_trained(module.weight) else []))

    taps.handles.append(layer.register_forward_hook(hook))


def _biases(b: Tensor, each: int) -> Term:
    """The gradients of biases: sums over the positions of every example."""
    if each == 1:
        return small.bias_of_channels(b)
    return Full(b.flatten(2).sum(2).reshape(-1, each, b.shape[1]).sum(1))


def attach_transposed(taps: Taps, layer: Any) -> None:
    """Taps a transposed convolution: the roles of input and output gradient are exchanged."""

    def hook(module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:
        call = taps.begin(module, given[0])
        if call is None:
            return None
        values = given[0].detach()
        if call.is_shared:
            output = taps.share(output, call)
        dimensions = len(module.kernel_size)

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            b, each = _examples(call, _batched(gradient, dimensions))
            found: list[tuple[Place, Term]] = []
            if taps.is_trained(module.weight):
                given, _ = _examples(call, _batched(values, dimensions))
                around = [side for own in reversed(module.padding) for side in (own, own)]
                padded = F.pad(b, around) if any(around) else b
                patches = unfolded(padded, module.kernel_size, module.stride, module.dilation, module.groups)
                inputs = grouped(given, module.groups)
                patches = _fitted(patches, padded, module, given)
                term = Outer(_joined(patches, each), _joined(inputs, each))
                found.append((whole(module.weight), term))
            if taps.is_trained(module.bias):
                found.append((whole(module.bias), _biases(b, each)))
            return found

        return taps.watch(output, make, *([values] if taps.is_trained(module.weight) else []))

    taps.handles.append(layer.register_forward_hook(hook))


def _fitted(patches: Tensor, padded: Tensor, module: Any, given: Tensor) -> Tensor:
    """As many positions as the input has: output padding may leave more room than there are inputs."""
    wanted = given.shape[2:]
    steps = [
        (length - gap * (width - 1) - 1) // step + 1
        for length, width, step, gap in zip(
            padded.shape[2:], module.kernel_size, module.stride, module.dilation, strict=True
        )
    ]
    if tuple(steps) == tuple(wanted):
        return patches
    rows, groups, _, width = patches.shape
    grid = patches.reshape(rows, groups, *steps, width)
    for axis, length in enumerate(wanted):
        grid = grid.narrow(2 + axis, 0, length)
    return grid.reshape(rows, groups, -1, width)
