"""The loops of recurrent cells on a GPU by cuDNN.

cuDNN tells the gradients of its inputs and not those of its gates. It is given inputs that are projected already, and the identity as
the weights of its inputs: what it tells is then the gradient of the gates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.backends.cudnn import rnn

#: Gates of every kind of cell.
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def fits(projected: Tensor, weight: Tensor) -> bool:
    """Whether cuDNN computes this: single precision on a GPU."""
    return projected.dtype == weight.dtype == torch.float32 and bool(torch.backends.cudnn.is_acceptable(projected))


@lru_cache(maxsize=16)
def identity(size: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """The weights of inputs that are projected already."""
    return torch.eye(size, device=device, dtype=dtype)


def run(
    mode: str, projected: Tensor, state: Tensor, memory: Tensor | None, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Outputs at all times, and the last memory (of a cell without one, the outputs). A bias is one of the state alone."""
    size = state.shape[1]
    weights = [identity(GATES[mode] * size, projected.device, projected.dtype).detach(), weight.detach()]
    if bias is not None:
        weights += [torch.zeros_like(bias), bias.detach()]
    kind, wide = rnn.get_cudnn_mode(mode), weights[0].shape[1]
    # cuDNN wants all weights in one piece of memory, where these become views of it.
    whole = torch._cudnn_rnn_flatten_weight(weights, len(weights), wide, kind, size, 0, 1, False, False)  # type: ignore[attr-defined]
    first: Any = None if memory is None else memory.unsqueeze(0).contiguous()
    output, _, last, _, _ = torch._cudnn_rnn(  # type: ignore[attr-defined]
        projected.contiguous(), weights, len(weights), whole, state.unsqueeze(0).contiguous(), first,
        kind, size, 0, 1, False, 0.0, True, False, [], None,
    )  # fmt: skip
    return output, output if memory is None else last
