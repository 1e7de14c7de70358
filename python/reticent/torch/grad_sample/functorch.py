"""A module as a function of its parameters, by the name that Opacus has for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call


def make_functional(model: nn.Module) -> tuple[Callable[..., Any], tuple[nn.Parameter, ...]]:
    """What a module computes as a function of its parameters and inputs, and the parameters. The module's gradients are found without
    it; an engine does not see those that are computed with it.

    >>> import torch
    >>> from reticent.torch.grad_sample.functorch import make_functional
    >>> layer = torch.nn.Linear(2, 1)
    >>> function, weights = make_functional(layer)
    >>> torch.equal(function(weights, torch.ones(3, 2)), layer(torch.ones(3, 2)))
    True
    """
    names = [name for name, _ in model.named_parameters()]

    def function(parameters: Sequence[Tensor], *given: Any, **named: Any) -> Any:
        return functional_call(model, dict(zip(names, parameters, strict=True)), given, named)

    return function, tuple(model.parameters())
