"""The threads that PyTorch computes on, for the sums and the noise of the native library."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import torch

from .. import _native


def openmp() -> list[str]:
    """The libraries of GNU OpenMP that are loaded, the one of PyTorch's package first."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text().splitlines()
        found = {line[line.index("/") :] for line in lines if "/libgomp" in line}
    home = str(Path(torch.__file__).parent)
    return sorted(found, key=lambda own: not own.startswith(home))


@cache
def lend() -> bool:
    """Has the native library compute on PyTorch's threads where it has those of GNU OpenMP. With threads of its own, it would share the
    cores with threads of PyTorch that wait."""
    own = openmp()
    # Of several, only that of the package is surely PyTorch's.
    is_sure = len(own) == 1 or bool(own) and own[0].startswith(str(Path(torch.__file__).parent))
    return is_sure and "OpenMP" in torch.__config__.parallel_info() and _native.lend_threads(own[0])
