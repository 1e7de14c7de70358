"""Multi-head attention: the projections are tapped, everything between them has no weights."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..taps import Call, Place, Taps, whole
from ..terms import Full, Term
from .linear import tapped


def attach(taps: Taps, layer: nn.MultiheadAttention) -> None:
    """Computes the layer by tapped products while it is trained."""
    plain = layer.forward

    def forward(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        call = taps.begin(layer, query, 0 if layer.batch_first else 1)
        if call is None:
            return plain(
                query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
            )
        return _Attention(taps, layer, call).forward(
            query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights
        )

    layer.forward = forward  # type: ignore[method-assign]
    taps.undo.append(lambda: layer.__dict__.pop("forward", None))


class _Attention:
    """One call."""

    def __init__(self, taps: Taps, layer: nn.MultiheadAttention, call: Call) -> None:
        self.taps, self.layer, self.call = taps, layer, call
        self.size, self.heads = layer.embed_dim, layer.num_heads

    def project(
        self, values: Tensor, weight: Any, bias: Any, rows: tuple[int, int] | None = None
    ) -> Tensor:
        start, end = rows or (0, weight.shape[0])
        output = F.linear(values, weight[start:end], None if bias is None else bias[start:end])
        return tapped(self.taps, self.call, values, output, weight, bias, (start, end))

    def projections(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        layer, size = self.layer, self.size
        bias = layer.in_proj_bias
        if layer._qkv_same_embed_dim:
            weight = layer.in_proj_weight
            if query is key and key is value:
                q, k, v = self.project(query, weight, bias).split(size, -1)
            elif key is value:
                q = self.project(query, weight, bias, (0, size))
                k, v = self.project(key, weight, bias, (size, 3 * size)).split(size, -1)
            else:
                q = self.project(query, weight, bias, (0, size))
                k = self.project(key, weight, bias, (size, 2 * size))
                v = self.project(value, weight, bias, (2 * size, 3 * size))
            return q, k, v
        found = []
        for place, (values, weight) in enumerate(
            ((query, layer.q_proj_weight), (key, layer.k_proj_weight), (value, layer.v_proj_weight))
        ):
            output = F.linear(values, weight)
            found.append(tapped(self.taps, self.call, values, output, weight, None))
            if bias is not None:
                found[-1] = self.added(found[-1], bias, place * size)
        return found[0], found[1], found[2]

    def added(self, values: Tensor, bias: Any, start: int) -> Tensor:
        """Values plus a part of the bias, tapped."""
        output = values + bias[start : start + self.size]
        if not self.taps.is_trained(bias):
            return output
        call = self.call

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            own = call.split(gradient).reshape(call.rows, -1, self.size).sum(1)
            return [((bias, start, start + self.size), Full(own))]

        return self.taps.watch(output, make)

    def appended(self, values: Tensor, bias: Any, axis: int) -> Tensor:
        """Values with one more position, which every example gets a tapped copy of."""
        rows = self.call.rows
        one = bias.detach().reshape(1, self.size).expand(rows, self.size).clone()
        if self.taps.is_trained(bias):
            one = self.taps.watch(one, lambda g: [(whole(bias), Full(g.reshape(rows, *bias.shape)))])
        return torch.cat([values, one.unsqueeze(axis)], axis)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None,
        need_weights: bool,
        attn_mask: Tensor | None,
        average_attn_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        layer, rows, heads = self.layer, self.call.rows, self.heads
        axis = 1 if layer.batch_first else 0
        q, k, v = self.projections(query, key, value)
        if layer.bias_k is not None and layer.bias_v is not None:
            k, v = self.appended(k, layer.bias_k, axis), self.appended(v, layer.bias_v, axis)
        if not layer.batch_first:
            q, k, v = (own.transpose(0, 1) for own in (q, k, v))
        extra = 1 if layer.bias_k is not None else 0
        if layer.add_zero_attn:
            k, v = (torch.cat([own, own.new_zeros(rows, 1, self.size)], 1) for own in (k, v))
            extra += 1

        def split(own: Tensor) -> Tensor:
            return own.reshape(rows, own.shape[1], heads, self.size // heads).transpose(1, 2)

        q, k, v = split(q), split(k), split(v)
        mask = self.mask(attn_mask, key_padding_mask, q, extra)
        dropout = layer.dropout if layer.training else 0.0
        weights: Tensor | None = None
        if need_weights:
            scores = (q * (q.shape[-1] ** -0.5)) @ k.mT
            weights = torch.softmax(scores if mask is None else scores + mask, -1)
            weights = F.dropout(weights, dropout) if dropout else weights
            joined = weights @ v
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            joined = F.scaled_dot_product_attention(q, k, v, mask, dropout)
        joined = joined.transpose(1, 2).reshape(rows, q.shape[2], self.size)
        if not layer.batch_first:
            joined = joined.transpose(0, 1)
        return self.project(joined, layer.out_proj.weight, layer.out_proj.bias), weights

    def mask(
        self, attn_mask: Tensor | None, padding: Tensor | None, q: Tensor, extra: int
    ) -> Tensor | None:
        """Both masks as one that is added to scores: (rows, heads, queries, keys) or broadcast to it."""
        found: Tensor | None = None
        if attn_mask is not None:
            own = _added(attn_mask, q.dtype)
            own = own.reshape(self.call.rows, self.heads, *own.shape[1:]) if own.dim() == 3 else own
            found = F.pad(own, (0, extra))
        if padding is not None:
            own = F.pad(_added(padding, q.dtype), (0, extra))[:, None, None, :]
            found = own if found is None else found + own
        return found


def _added(mask: Tensor, kind: torch.dtype) -> Tensor:
    if mask.dtype == torch.bool:
        return torch.zeros_like(mask, dtype=kind).masked_fill_(mask, float("-inf"))
    return mask.to(kind)
