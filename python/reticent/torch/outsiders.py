"""Weights outside the private module that the loss of private data would train without noise."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Collection
from functools import wraps
from typing import Any
from weakref import WeakSet

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from . import refusals


#: The optimizers that were made since the first module was made private.
_made: WeakSet[Optimizer] = WeakSet()

_plain, _plain_copy = Optimizer.__init__, Optimizer.__setstate__


@wraps(_plain)
def _remembered(self: Optimizer, *args: Any, **kwargs: Any) -> None:
    _made.add(self)
    _plain(self, *args, **kwargs)


@wraps(_plain_copy)
def _remembered_copy(self: Optimizer, state: dict[str, Any]) -> None:
    _made.add(self)
    _plain_copy(self, state)


class Outsiders:
    """Finds, in a backward pass, parameters of other optimizers that it computes gradients of."""

    def __init__(self, own: Collection[nn.Parameter]) -> None:
        self.own = own
        self.optimizers: WeakSet[Optimizer] = WeakSet()
        self.passes = 0
        # Optimizers may be made, and copied, at any time. Those that come in another way are known from their first step on, or looked for.
        if Optimizer.__init__ is _plain:
            Optimizer.__init__ = _remembered  # type: ignore[method-assign]
        if Optimizer.__setstate__ is _plain_copy:
            Optimizer.__setstate__ = _remembered_copy  # type: ignore[method-assign]
        known = self.optimizers
        handle = register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: known.add(optimizer))
        weakref.finalize(self, handle.remove)

    def check(self) -> None:
        """Called within a backward pass of private data."""
        self.passes += 1
        is_seen = Optimizer.__init__ is _remembered and Optimizer.__setstate__ is _remembered_copy
        # Looking for others takes a moment, so it is done ever more rarely, at powers of 4, unless somebody else replaced what is called
        # when one is made.
        if not is_seen or (self.passes & (self.passes - 1) == 0 and self.passes.bit_length() % 2):
            kinds = {id(kind) for kind in _kinds(Optimizer)}
            self.optimizers.update(item for item in gc.get_objects() if id(type(item)) in kinds)
        for optimizer in (*self.optimizers, *_made):
            if "param_groups" not in optimizer.__dict__:
                continue
            for group in optimizer.param_groups:
                for other in group["params"]:
                    if other.requires_grad and other not in self.own and _is_reached(other):
                        raise refusals.misuse(
                            "loss",
                            f"it trains weights of shape {tuple(other.shape)} that are not the private module's, without noise: make "
                            "one module of both before make_private, or detach what they compute with",
                        )


def _kinds(kind: type) -> set[type]:
    """A class and all classes derived from it."""
    found = {kind}
    derived: list[type] = kind.__subclasses__()
    for own in derived:
        if own not in found:
            found |= _kinds(own)
    return found


def _is_reached(parameter: torch.Tensor) -> bool:
    """Whether the backward pass that is running computes the gradient of a parameter."""
    return bool(torch._C._will_engine_execute_node(get_gradient_edge(parameter).node))
