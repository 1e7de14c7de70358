"""What each kind of layer contributes: one file per family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from ..taps import Forward, Taps
from . import attention, conv, embedding, generic, linear, norms, recurrent

#: Names of Opacus for layers that need no replacement here.
DPLSTM, DPGRU, DPRNN, DPMultiheadAttention = nn.LSTM, nn.GRU, nn.RNN, nn.MultiheadAttention

#: Attaches a layer to taps.
Attach = Callable[[Taps, Any], None]

_KINDS: list[tuple[tuple[type, ...], Attach]] = [
    ((nn.Linear,), linear.attach),
    ((nn.Conv1d, nn.Conv2d, nn.Conv3d), conv.attach),
    ((nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), conv.attach_transposed),
    ((nn.Embedding,), embedding.attach),
    ((nn.LayerNorm, nn.GroupNorm, nn.RMSNorm), norms.attach),
    ((nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d), norms.attach),
    ((nn.MultiheadAttention,), attention.attach),
    ((nn.LSTM, nn.GRU, nn.RNN), recurrent.attach),
]


def kind_of(module: nn.Module) -> Attach:
    """How a layer is tapped. Subclasses that compute something of their own are tapped parameter by parameter."""
    for types, attach in _KINDS:
        for own in types:
            if isinstance(module, own) and type(module).forward is own.forward:  # type: ignore[attr-defined]
                return attach
    if type(module).__name__ == "Conv1D" and hasattr(module, "nf"):
        return linear.attach_transposed
    return generic.attach


def attach_all(taps: Taps) -> None:
    """Attaches every layer that has trained parameters of its own."""
    inside: set[nn.Module] = set()
    for module in taps.module.modules():
        if module in inside:
            continue
        own = [parameter for parameter in module.parameters(recurse=False) if taps.is_trained(parameter)]
        if isinstance(module, nn.MultiheadAttention) and kind_of(module) is attention.attach:
            inside.update(module.modules())
            own = [parameter for parameter in module.parameters() if taps.is_trained(parameter)]
        if own:
            plain = module.__dict__.get("forward")
            kind_of(module)(taps, module)
            if module.__dict__.get("forward") is not plain:
                module.__dict__["forward"] = Forward(module, module.__dict__["forward"], plain)
