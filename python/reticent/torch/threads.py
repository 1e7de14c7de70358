"""The threads that PyTorch computes on, for the sums and the noise of the native library."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import torch

from .. import _native


#: Where PyTorch's package keeps its libraries.
_HOMES = tuple(f"{Path(torch.__file__).parent}{ending}/" for ending in ("", ".libs"))


def openmp() -> list[str]:
    """The libraries of GNU OpenMP that are loaded, those of PyTorch's package first."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text().splitlines()
        found = {line[line.index("/") :] for line in lines if "/libgomp" in line}
    return sorted(found, key=lambda own: (not own.startswith(_HOMES), own))


@cache
def lend() -> bool:
    """Has the native library compute on PyTorch's threads where it has those of GNU OpenMP. With threads of its own, it would share the
    cores with threads of PyTorch that wait for work."""
    own = openmp()
    # Of several, only that of the package is surely PyTorch's.
    is_sure = bool(own) and (len(own) == 1 or own[0].startswith(_HOMES))
    return is_sure and "OpenMP" in torch.__config__.parallel_info() and _native.lend_threads(own[0])
