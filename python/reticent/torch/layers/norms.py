"""Normalizations of single examples."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from ..taps import Place, Taps, whole
from ..terms import Full, Term, wide
from ..written import Written
from . import small


def normalized(layer: Any, values: Tensor) -> Tensor:
    """The values before weight and bias."""
    if isinstance(layer, nn.LayerNorm):
        return F.layer_norm(values, layer.normalized_shape, None, None, layer.eps)
    if isinstance(layer, nn.RMSNorm):
        return F.rms_norm(values, tuple(layer.normalized_shape), None, layer.eps)
    if isinstance(layer, nn.GroupNorm):
        return F.group_norm(values, layer.num_groups, None, None, layer.eps)
    return F.instance_norm(values, eps=layer.eps)


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
            bias: Any = getattr(module, "bias", None)
            b = wide(gradient if call.is_shared else call.split(gradient))
            shape, by_channel = module.weight.shape, not isinstance(module, (nn.LayerNorm, nn.RMSNorm))

            def summed(product: Tensor) -> Full:
                if by_channel:
                    flat = product.reshape(call.rows, -1, shape[0], *values.shape[2:])
                    return Full(flat.flatten(3).sum((1, 3)) if flat.dim() > 3 else flat.sum(1))
                return Full(product.reshape(call.rows, -1, *shape).sum(1))

            def weights() -> Full:
                return summed(b * call.split(normalized(module, values)))

            def biases() -> Full:
                return summed(b)

            terms: tuple[Term, Term] | None = None
            if taps.is_trained(module.weight) and small.is_written(call, values, b):
                written = small.normalization(module, values, b, taps.is_trained(bias))
                if written is not None:
                    terms = (
                        Written(b, lambda measures: written(measures)[0], weights),
                        Written(b, lambda measures: written(measures)[1], biases),
                    )
            found: list[tuple[Place, Term]] = []
            if taps.is_trained(module.weight):
                found.append((whole(module.weight), weights() if terms is None else terms[0]))
            if taps.is_trained(bias):
                found.append((whole(bias), biases() if terms is None else terms[1]))
            return found

        return taps.watch(output, make, *([values] if taps.is_trained(module.weight) else []))

    taps.handles.append(layer.register_forward_hook(hook))
