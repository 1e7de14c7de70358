"""Names of Opacus for gradients of single examples. Layers of every kind are seen as they are, so none needs a function of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def register_grad_sampler(*_: Any) -> Callable[[F], F]:
    """Leaves a function as it is: the gradients of its layer are found without it.

    >>> from torch import nn
    >>> from reticent.torch.grad_sample import register_grad_sampler
    >>> @register_grad_sampler(nn.Linear)
    ... def gradients(layer, activations, backprops): ...
    """
    return lambda function: function


__all__ = ["register_grad_sampler"]
