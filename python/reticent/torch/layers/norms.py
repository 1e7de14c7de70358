"""Normalizations of single examples."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from ..taps import Place, Taps, whole
from ..terms import Full, Term, wide


def normalized(layer: Any, values: Tensor) -> tuple[Tensor, bool]:
    """The values before weight and bias, and whether these belong to channels rather than to the last axes."""
    if isinstance(layer, nn.LayerNorm):
        return F.layer_norm(values, layer.normalized_shape, None, None, layer.eps), False
    if isinstance(layer, nn.RMSNorm):
        return F.rms_norm(values, tuple(layer.normalized_shape), None, layer.eps), False
    if isinstance(layer, nn.GroupNorm):
        return F.group_norm(values, layer.num_groups, None, None, layer.eps), True
    return F.instance_norm(values, eps=layer.eps), True


def attach(taps: Taps, layer: nn.Module) -> None:
    """Taps a normalization with weights."""

    def hook(module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:
        call = taps.begin(module, given[0])
        if call is None:
            return None
        values = given[0].detach()
        if call.is_shared:
            output = taps.share(output, call)

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            found: list[tuple[Place, Term]] = []
            bias: Any = getattr(module, "bias", None)
            own, by_channel = normalized(module, values)
            b = wide(gradient if call.is_shared else call.split(gradient))
            shape = module.weight.shape

            def summed(product: Tensor) -> Tensor:
                if by_channel:
                    flat = product.reshape(call.rows, -1, shape[0], *values.shape[2:])
                    return flat.flatten(3).sum((1, 3)) if flat.dim() > 3 else flat.sum(1)
                return product.reshape(call.rows, -1, *shape).sum(1)

            if taps.is_trained(module.weight):
                found.append((whole(module.weight), Full(summed(b * call.split(own)))))
            if taps.is_trained(bias):
                found.append((whole(bias), Full(summed(b))))
            return found

        return taps.watch(output, make)

    taps.handles.append(layer.register_forward_hook(hook))
