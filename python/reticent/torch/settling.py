"""Work that waits for the end of ``backward()``: what a thread of PyTorch collected is added up in the thread of the loop.

Each thread does the work of the modules that it called: another one may be taking a step with its own.
"""

from __future__ import annotations

from functools import wraps
from threading import get_ident
from typing import Any, Protocol
from weakref import ref

import torch


class Waiting(Protocol):
    """What has work that waits."""

    def settle(self) -> None:
        """Does the work, if there is any left."""


#: Whoever has work that waits, by the thread that does it.
_waiting: dict[int, ref[Waiting]] = {}

_plain = torch.autograd.backward


def wait_for(thread: int, own: Waiting) -> None:
    """Has work be done when ``backward()`` returns in a thread."""
    _waiting[thread] = ref(own)


@wraps(_plain)
def _settled(*args: Any, **kwargs: Any) -> None:
    _plain(*args, **kwargs)
    found = _waiting.pop(get_ident(), None)
    own = None if found is None else found()
    if own is not None:
        own.settle()


def settle_after_backward() -> None:
    """Has work be done before ``backward()`` returns. What is not done then, as that of a second module in one pass, is done before a step."""
    if torch.autograd.backward is _plain:
        torch.autograd.backward = _settled
