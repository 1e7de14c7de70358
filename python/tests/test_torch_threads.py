"""Sums and noise on the threads that PyTorch computes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from reticent import _native  # noqa: E402
from reticent.torch import threads  # noqa: E402

#: Measures and adds up convolutions, and adds noise, on three threads; tells how many there are in the process.
CODE = """
import sys
from pathlib import Path
import torch
from reticent import _native
from reticent.torch import threads
from reticent.torch.layers.sliding import Slides
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(3)
torch.randn(1 << 20).exp_()
alone = len(list(Path("/proc/self/task").iterdir()))
is_lent = sys.argv[1] == "lent" and threads.lend()
layer = nn.Conv2d(3, 5, 3, padding=1)
values, gradient = torch.randn(7, 3, 16, 15), torch.randn(7, 5, 16, 15)
term = Slides(layer).term(values, gradient, 1, lambda: None)
squared = term.squared()
into = torch.zeros(layer.weight.numel())
term.add(torch.arange(7.0), into)
assert term.kept is not None
print(is_lent, alone, len(list(Path("/proc/self/task").iterdir())), squared.tolist(), into.tolist())
"""


def told(way):
    found = subprocess.run([sys.executable, "-c", CODE, way], check=True, capture_output=True, text=True).stdout
    return found.split(" ", 3)


@pytest.mark.skipif(not threads.openmp(), reason="PyTorch does not compute on threads of GNU OpenMP here")
def test_results_are_the_same_on_lent_threads_and_on_own_ones():
    lent, own = told("lent"), told("own")
    assert (lent[0], own[0]) == ("True", "False") and lent[3] == own[3]
    # The threads of PyTorch are there already, and no others come.
    assert lent[1] == lent[2]


@pytest.mark.parametrize("library", ["", "\0", "nothing.so", "/", "libc.so.6", "x" * 10_000, "/proc/self/exe"])
def test_what_has_no_threads_lends_none(library):
    code = "import sys; from reticent import _native; print(_native.lend_threads(sys.stdin.read()))"
    found = subprocess.run([sys.executable, "-c", code], input=library, check=True, capture_output=True, text=True)
    assert found.stdout == "False\n"


def test_threads_stay_those_that_were_lent():
    first = threads.lend()
    assert _native.lend_threads("nothing.so") is first
    with pytest.raises(TypeError):
        _native.lend_threads(5)
