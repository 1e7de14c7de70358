"""The loops of recurrent cells, with their gradients written by hand: autograd would keep a dozen tensors for every step."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


class _Lstm(torch.autograd.Function):
    """i, f, g, o from projected inputs and the state."""

    @staticmethod
    def forward(context: Any, projected: Tensor, state: Tensor, memory: Tensor, weight: Tensor) -> Any:
        steps, rows, _ = projected.shape
        size = state.shape[1]
        context.first = memory
        gates = projected.clone()
        output, kept = projected.new_empty(steps, rows, size), projected.new_empty(steps, rows, size)
        turned = weight.t()
        for time in range(steps):
            own = gates[time].addmm_(state, turned)
            own[:, : 2 * size].sigmoid_()
            own[:, 2 * size : 3 * size].tanh_()
            own[:, 3 * size :].sigmoid_()
            i, f, g, o = own.split(size, 1)
            memory = torch.addcmul(f * memory, i, g, out=kept[time])
            state = torch.mul(o, memory.tanh(), out=output[time])
        context.save_for_backward(gates, kept, weight)
        context.set_materialize_grads(False)
        return output, kept

    @staticmethod
    def backward(context: Any, *given: Tensor | None) -> Any:
        d_output, d_kept = given
        gates, kept, weight = context.saved_tensors
        steps, rows, size = kept.shape
        first = context.first
        d_gates = torch.empty_like(gates)
        i, f, g, o = gates.split(size, 2)
        bent = kept.tanh()
        # Slopes that do not depend on the loop, for all times at once.
        before = torch.cat([first.unsqueeze(0), kept[:-1]])
        slope_i = g * i * (1 - i)
        slope_f = before * f * (1 - f)
        slope_g = i * (1 - g * g)
        slope_o = bent * o * (1 - o)
        into = o * (1 - bent * bent)
        d_state = kept.new_zeros(rows, size)
        d_memory = kept.new_zeros(rows, size)
        for time in range(steps - 1, -1, -1):
            if d_output is not None:
                d_state = d_state + d_output[time]
            if d_kept is not None:
                d_memory = d_memory + d_kept[time]
            d_memory = torch.addcmul(d_memory, d_state, into[time])
            own = d_gates[time]
            torch.mul(d_memory, slope_i[time], out=own[:, :size])
            torch.mul(d_memory, slope_f[time], out=own[:, size : 2 * size])
            torch.mul(d_memory, slope_g[time], out=own[:, 2 * size : 3 * size])
            torch.mul(d_state, slope_o[time], out=own[:, 3 * size :])
            d_memory = d_memory * f[time]
            d_state = own @ weight
        return d_gates, d_state, d_memory, None


class ShortenedLstm(torch.autograd.Function):
    """As the LSTM above, where every state is the product of what the gates give with a matrix, and something is added to it that is 0.
    Gives the states, the memories, and what the matrix was multiplied with."""

    @staticmethod
    def forward(
        context: Any, projected: Tensor, nothing: Tensor, state: Tensor, memory: Tensor, weight: Tensor, shorter: Tensor
    ) -> Any:
        steps, rows, _ = projected.shape
        size = memory.shape[1]
        context.first = memory
        gates = projected.clone()
        kept, full = projected.new_empty(steps, rows, size), projected.new_empty(steps, rows, size)
        output = nothing.clone()
        for time in range(steps):
            own = gates[time].addmm_(state, weight.t())
            own[:, : 2 * size].sigmoid_()
            own[:, 2 * size : 3 * size].tanh_()
            own[:, 3 * size :].sigmoid_()
            i, f, g, o = own.split(size, 1)
            memory = torch.addcmul(f * memory, i, g, out=kept[time])
            torch.mul(o, memory.tanh(), out=full[time])
            state = output[time].addmm_(full[time], shorter.t())
        context.save_for_backward(gates, kept, weight, shorter)
        context.set_materialize_grads(False)
        context.mark_non_differentiable(full)
        return output, kept, full

    @staticmethod
    def backward(context: Any, *given: Tensor | None) -> Any:
        d_output, d_kept, _ = given
        gates, kept, weight, shorter = context.saved_tensors
        steps, rows, size = kept.shape
        d_gates = torch.empty_like(gates)
        d_nothing = kept.new_empty(steps, rows, shorter.shape[0])
        before = torch.cat([context.first.unsqueeze(0), kept[:-1]])
        d_state = kept.new_zeros(rows, shorter.shape[0])
        d_memory = kept.new_zeros(rows, size)
        for time in range(steps - 1, -1, -1):
            if d_output is not None:
                d_state = d_state + d_output[time]
            if d_kept is not None:
                d_memory = d_memory + d_kept[time]
            d_nothing[time] = d_state
            i, f, g, o = gates[time].split(size, 1)
            bent = kept[time].tanh()
            d_full = d_state @ shorter
            d_memory = torch.addcmul(d_memory, d_full, o * (1 - bent * bent))
            own = d_gates[time]
            torch.mul(d_memory, g * i * (1 - i), out=own[:, :size])
            torch.mul(d_memory, before[time] * f * (1 - f), out=own[:, size : 2 * size])
            torch.mul(d_memory, i * (1 - g * g), out=own[:, 2 * size : 3 * size])
            torch.mul(d_full, bent * o * (1 - o), out=own[:, 3 * size :])
            d_memory = d_memory * f
            d_state = own @ weight
        return d_gates, d_nothing, d_state, d_memory, None, None


class LstmCell:
    """Long short-term memory."""

    @staticmethod
    def bias(own: Tensor | None, state: Tensor | None) -> Tensor | None:
        return None if own is None or state is None else own + state

    @staticmethod
    def run(
        projected: Tensor, state: Tensor, memory: Tensor | None, weight: Tensor, bias: Any, saved: Any
    ) -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = _Lstm.apply(projected, state, memory, weight)
        return found

    @staticmethod
    def hidden(gradient: Tensor, saved: dict[str, Tensor]) -> Tensor:
        return gradient


class _Gru(torch.autograd.Function):
    """r, z, n from projected inputs and the state."""

    @staticmethod
    def forward(context: Any, projected: Tensor, state: Tensor, weight: Tensor, bias: Any, saved: Any) -> Tensor:
        steps, rows, _ = projected.shape
        size = state.shape[1]
        context.first = state
        gates = projected.clone()
        inner = projected.new_empty(steps, rows, size)
        output = projected.new_empty(steps, rows, size)
        turned = weight.t()
        for time in range(steps):
            own = gates[time]
            hidden = state @ turned if bias is None else torch.addmm(bias, state, turned)
            own[:, : 2 * size].add_(hidden[:, : 2 * size]).sigmoid_()
            inner[time] = hidden[:, 2 * size :]
            own[:, 2 * size :].addcmul_(own[:, :size], inner[time]).tanh_()
            z, n = own[:, size : 2 * size], own[:, 2 * size :]
            state = torch.lerp(n, state, z, out=output[time])
        saved["r"] = gates[:, :, :size]
        context.save_for_backward(gates, inner, output, weight)
        return output

    @staticmethod
    def backward(context: Any, *given: Tensor) -> Any:
        (d_output,) = given
        gates, inner, output, weight = context.saved_tensors
        steps, rows, size = output.shape
        r, z, n = gates.split(size, 2)
        before = torch.cat([context.first.unsqueeze(0), output[:-1]])
        d_gates = torch.empty_like(gates)
        slope_n = (1 - z) * (1 - n * n)
        slope_z = (before - n) * z * (1 - z)
        slope_r = inner * r * (1 - r)
        d_state = output.new_zeros(rows, size)
        for time in range(steps - 1, -1, -1):
            d_state = d_state + d_output[time]
            own = d_gates[time]
            d_n = torch.mul(d_state, slope_n[time], out=own[:, 2 * size :])
            torch.mul(d_state, slope_z[time], out=own[:, size : 2 * size])
            torch.mul(d_n, slope_r[time], out=own[:, :size])
            hidden = torch.cat([own[:, : 2 * size], d_n * r[time]], 1)
            d_state = torch.addmm(d_state * z[time], hidden, weight)
        return d_gates, d_state, None, None, None


class GruCell:
    """Gated recurrent unit."""

    @staticmethod
    def bias(own: Tensor | None, state: Tensor | None) -> Tensor | None:
        return own

    @staticmethod
    def run(
        projected: Tensor, state: Tensor, memory: Tensor | None, weight: Tensor, bias: Any, saved: Any
    ) -> tuple[Tensor, Tensor]:
        output: Tensor = _Gru.apply(projected, state, weight, bias, saved)
        return output, output

    @staticmethod
    def hidden(gradient: Tensor, saved: dict[str, Tensor]) -> Tensor:
        size = saved["r"].shape[2]
        return torch.cat([gradient[:, :, : 2 * size], gradient[:, :, 2 * size :] * saved["r"]], 2)

    @staticmethod
    def reset(projected: Tensor, before: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The gate r at all times, from the states before them."""
        size = before.shape[2]
        hidden = F.linear(before, weight[:size], None if bias is None else bias[:size])
        return (projected[:, :, :size] + hidden).sigmoid_()


class _Rnn(torch.autograd.Function):
    """The plain recurrence."""

    @staticmethod
    def forward(context: Any, projected: Tensor, state: Tensor, weight: Tensor, is_relu: bool) -> Tensor:
        output = projected.clone()
        turned = weight.t()
        for time in range(output.shape[0]):
            own = output[time].addmm_(state, turned)
            state = own.relu_() if is_relu else own.tanh_()
        context.save_for_backward(output, weight)
        context.is_relu = is_relu
        return output

    @staticmethod
    def backward(context: Any, *given: Tensor) -> Any:
        (d_output,) = given
        output, weight = context.saved_tensors
        slopes = (output > 0).to(output.dtype) if context.is_relu else 1 - output * output
        d_gates = torch.empty_like(output)
        d_state = torch.zeros_like(output[0])
        for time in range(output.shape[0] - 1, -1, -1):
            d_state = torch.mul(d_state + d_output[time], slopes[time], out=d_gates[time]) @ weight
        return d_gates, d_state, None, None


class RnnCell(LstmCell):
    """Plain recurrence with tanh or ReLU."""

    is_relu = False

    @classmethod
    def run(
        cls, projected: Tensor, state: Tensor, memory: Tensor | None, weight: Tensor, bias: Any, saved: Any
    ) -> tuple[Tensor, Tensor]:
        output: Tensor = _Rnn.apply(projected, state, weight, cls.is_relu)
        return output, output


class ReluCell(RnnCell):
    """Plain recurrence with ReLU."""

    is_relu = True


CELLS: dict[str, Any] = {"LSTM": LstmCell, "GRU": GruCell, "RNN_TANH": RnnCell, "RNN_RELU": ReluCell}
