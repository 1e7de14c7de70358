"""Recurrent layers: one product for all inputs, a loop over time for the state, one tap for all weights."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from .. import refusals
from ..taps import Place, Taps, versions_of, whole, without_autocast
from ..terms import Full, Outer, Term
from . import fused
from .cells import CELLS, GruCell, ShortenedLstm


def attach(taps: Taps, layer: Any) -> None:
    """Computes the layer by tapped products while it is trained."""
    plain = layer.forward

    def forward(values: Any, hx: Any = None) -> Any:
        packed = values if isinstance(values, PackedSequence) else None
        shown = packed.data if packed is not None else values
        if packed is not None and (taps.sizes is not None or taps.is_on):
            shown, lengths = pad_packed_sequence(packed)
        else:
            lengths = None
        first = packed is None and layer.batch_first
        call = taps.begin(layer, shown, 0 if first else 1)
        if call is None:
            return plain(values, hx)
        if call.axis != (0 if first else 1) or shown.dim() != 3:
            raise refusals.layer(
                taps.name(layer),
                "the layer runs along the axis of the examples, so they mix: give it "
                f"batch_first={not layer.batch_first}, or transpose its input",
            )
        run = _Run(taps, layer, call.rows, lengths)
        output, state = run.forward(shown.transpose(0, 1) if first else shown, hx)
        if packed is not None and lengths is not None:
            return _packed_like(packed, output, lengths), state
        return output.transpose(0, 1) if first else output, state

    layer.forward = forward
    taps.undo.append(lambda: layer.__dict__.pop("forward", None))


def _packed_like(packed: PackedSequence, output: Tensor, lengths: Tensor) -> PackedSequence:
    order = packed.sorted_indices
    if order is not None:
        output, lengths = output.index_select(1, order), lengths[order.cpu()]
    data = pack_padded_sequence(output, lengths).data
    return PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)


class _Run:
    """One call of all layers and directions."""

    def __init__(self, taps: Taps, layer: Any, rows: int, lengths: Tensor | None) -> None:
        self.taps, self.layer, self.rows = taps, layer, rows
        self.lengths = lengths
        self.cell = CELLS[layer.mode]
        self.has_memory = layer.mode == "LSTM"

    def forward(self, values: Tensor, hx: Any) -> tuple[Tensor, Any]:
        layer = self.layer
        directions = 2 if layer.bidirectional else 1
        if hx is None:
            count = layer.num_layers * directions
            zero = values.new_zeros(count, self.rows, layer.proj_size or layer.hidden_size)
            long = values.new_zeros(count, self.rows, layer.hidden_size) if layer.proj_size else zero
            hx = (zero, long) if self.has_memory else zero
        states, memories = hx if self.has_memory else (hx, None)
        index = self.index(values)
        last_states, last_memories = [], []
        for depth in range(layer.num_layers):
            outputs = []
            for direction in range(directions):
                place = depth * directions + direction
                given = self.turned(values, index) if direction else values
                memory = None if memories is None else memories[place]
                output, kept = self.one(given, states[place], memory, depth, direction)
                last_states.append(self.last(output))
                last_memories.append(self.last(kept))
                outputs.append(self.turned(output, index) if direction else output)
            values = torch.cat(outputs, 2) if directions == 2 else outputs[0]
            if layer.dropout and depth + 1 < layer.num_layers and layer.training:
                values = F.dropout(values, layer.dropout)
        state = torch.stack(last_states)
        return values, (state, torch.stack(last_memories)) if self.has_memory else state

    def index(self, values: Tensor) -> Tensor | None:
        """For every place the place that takes its turn when each sequence is read backwards."""
        if self.lengths is None:
            return None
        time = torch.arange(values.shape[0], device=values.device)[:, None]
        lengths = self.lengths.to(values.device)[None, :]
        return torch.where(time < lengths, lengths - 1 - time, time)

    def turned(self, values: Tensor, index: Tensor | None) -> Tensor:
        if index is None:
            return values.flip(0)
        return values.gather(0, index[:, :, None].expand(-1, -1, values.shape[2]))

    def last(self, values: Tensor) -> Tensor:
        if self.lengths is None:
            return values[-1]
        ends = (self.lengths - 1).to(values.device)[None, :, None].expand(1, -1, values.shape[2])
        return values.gather(0, ends)[0]

    def one(
        self, values: Tensor, state: Tensor, memory: Tensor | None, depth: int, direction: int
    ) -> tuple[Tensor, Tensor]:
        """One layer in one direction: outputs and memories at all times."""
        layer, taps, rows = self.layer, self.taps, self.rows
        suffix = f"_l{depth}{'_reverse' if direction else ''}"
        w_in, w_state = getattr(layer, f"weight_ih{suffix}"), getattr(layer, f"weight_hh{suffix}")
        b_in = getattr(layer, f"bias_ih{suffix}") if layer.bias else None
        b_state = getattr(layer, f"bias_hh{suffix}") if layer.bias else None
        cell, kind = self.cell, w_state.dtype
        # The loop computes in the precision of the weights, also under autocast.
        projected = F.linear(values, w_in, cell.bias(b_in, b_state)).to(kind)
        state, memory = state.to(kind), None if memory is None else memory.to(kind)
        w_out = getattr(layer, f"weight_hr{suffix}") if layer.proj_size else None
        saved: dict[str, Tensor] = {}

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            a = values.detach().transpose(0, 1).unsqueeze(1)
            if versions_of(saved["output"]) != versions:
                raise refusals.layer(taps.name(layer), "its output was changed in place, which its gradients are made of: make a new tensor")
            before = torch.cat([state.detach().unsqueeze(0), saved["output"][:-1]])
            if "projected" in saved:
                saved["r"] = GruCell.reset(saved.pop("projected"), before, w_state, b_state)
            b = gradient.transpose(0, 1).unsqueeze(1)
            b_hidden = cell.hidden(gradient, saved).transpose(0, 1).unsqueeze(1)
            found: list[tuple[Place, Term]] = []
            if taps.is_trained(w_in):
                found.append((whole(w_in), Outer(a, b)))
            if taps.is_trained(w_state):
                found.append((whole(w_state), Outer(before.transpose(0, 1).unsqueeze(1), b_hidden)))
            if b_in is not None and taps.is_trained(b_in):
                found.append((whole(b_in), Full(b.sum((1, 2)))))
            if b_state is not None and taps.is_trained(b_state):
                found.append((whole(b_state), Full(b_hidden.sum((1, 2)))))
            return found

        projected = taps.watch(projected, make, values, state)
        with without_autocast(projected.device.type):
            if w_out is not None:
                output, kept = self.shortened(projected, state, memory, w_state, w_out)
            elif self.lengths is None and fused.fits(projected, w_state):
                is_gru = layer.mode == "GRU"
                output, kept = fused.run(layer.mode, projected, state, memory, w_state, b_state if is_gru else None)
                if is_gru:
                    saved["projected"] = projected.detach()
            else:
                output, kept = cell.run(projected, state, memory, w_state, b_state, saved)
        saved["output"] = output.detach()
        versions = versions_of(output)
        assert output.shape[1] == rows
        return output, kept

    def shortened(
        self, projected: Tensor, state: Tensor, memory: Tensor | None, w_state: Tensor, w_out: nn.Parameter
    ) -> tuple[Tensor, Tensor]:
        """An LSTM whose outputs are products with a matrix. Something that is 0 is added to them, whose gradient is theirs: the one that
        comes back through time included."""
        nothing = projected.new_zeros(*projected.shape[:2], w_out.shape[0])
        full: list[Tensor] = []

        def make(gradient: Tensor) -> list[tuple[Place, Term]]:
            return [(whole(w_out), Outer(full[0].transpose(0, 1).unsqueeze(1), gradient.transpose(0, 1).unsqueeze(1)))]

        if self.taps.is_trained(w_out):
            nothing = self.taps.watch(nothing, make)
        assert memory is not None
        output, kept, before = ShortenedLstm.apply(projected, nothing, state, memory, w_state, w_out)
        full.append(before.detach())
        return output, kept


