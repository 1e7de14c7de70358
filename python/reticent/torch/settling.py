"""Work that waits for the end of ``backward()``: what a thread of PyTorch collected is added up in the thread of the loop."""

from __future__ import annotations

from functools import wraps
from typing import Any, Protocol
from weakref import WeakSet

import torch


class Waiting(Protocol):
    """What has work that waits."""

    def settle(self) -> None:
        """Does the work."""


#: Whoever has work that waits.
waiting: WeakSet[Waiting] = WeakSet()

_plain = torch.autograd.backward


@wraps(_plain)
def _settled(*args: Any, **kwargs: Any) -> None:
    _plain(*args, **kwargs)
    if waiting:
        for own in list(waiting):
            own.settle()


def settle_after_backward() -> None:
    """Has work be done before ``backward()`` returns."""
    if torch.autograd.backward is _plain:
        torch.autograd.backward = _settled
