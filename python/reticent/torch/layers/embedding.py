"""Tables of vectors."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from .. import refusals
from ..taps import Place, Taps, whole
from ..terms import Rows, Term


def attach(taps: Taps, layer: nn.Embedding) -> None:
    """Taps an embedding."""
    name = taps.name(layer)
    if layer.scale_grad_by_freq:
        raise refusals.layer(
            name,
            "scale_grad_by_freq divides by how often a token is in the batch, so examples change each other's "
            "gradients: set it to False",
        )
    if layer.max_norm is not None:
        raise refusals.layer(
            name, "max_norm changes weights by which tokens are in a batch, without noise: set it to None"
        )

    def hook(module: Any, given: tuple[Any, ...], output: Tensor) -> Tensor | None:
        call = taps.begin(module, given[0])
        if call is None:
            return None
        if call.is_shared:
            output = taps.share(output, call)
            index = given[0].reshape(1, -1).expand(call.rows, -1)
        else:
            index = call.split(given[0]).reshape(call.rows, -1)

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            b = gradient if call.is_shared else call.split(gradient)
            b = b.reshape(call.rows, -1, b.shape[-1])
            if module.padding_idx is not None:
                b = b.masked_fill((index == module.padding_idx)[:, :, None], 0)
            return [(whole(module.weight), Rows(index, b, module.num_embeddings))]

        return taps.watch(output, make, given[0])

    taps.handles.append(layer.register_forward_hook(hook))
