"""Memory that is laid out otherwise, or broken: the right numbers are read, or the data are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import _native, errors, mechanisms, release

PACKAGE = Path(reticent.__file__).resolve().parent


# Layouts of memory: whatever the strides and the alignment, the numbers are those that Python sees


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.setflags(write=False)
    return array


def _packed(kind: str, filler: str) -> np.ndarray[Any, Any]:
    """A field of packed records, which are not aligned; beside it other numbers, which must not be read."""
    records = np.zeros(6, dtype=[("x", kind), ("other", filler)])
    records["x"] = [1, 2, 3, 4, 5, 6]
    records["other"] = b"z" * 16
    return records["x"]


def _misaligned(kind: str) -> np.ndarray[Any, Any]:
    memory = bytearray(1 + 6 * 8)
    array = np.frombuffer(memory, dtype=np.uint8)[1:].view(kind)
    array[:] = [1, 2, 3, 4, 5, 6]
    return array


LAYOUTS: dict[str, Callable[[str], np.ndarray[Any, Any]]] = {
    "contiguous": lambda kind: np.arange(1, 7).astype(kind),
    "strided": lambda kind: np.arange(1, 13).astype(kind)[::2],
    "reversed": lambda kind: np.arange(6, 0, -1).astype(kind)[::-1],
    "column": lambda kind: np.arange(18).astype(kind).reshape(6, 3)[:, 1],
    "read-only": lambda kind: read_only(np.arange(1, 7).astype(kind)),
    "byte-swapped": lambda kind: np.arange(1, 7).astype(kind).astype(">" + kind),
    "broadcast": lambda kind: np.broadcast_to(np.array(3).astype(kind), (6,)),
    "misaligned": _misaligned,
    "packed beside 1 byte": lambda kind: _packed(kind, "S1"),
    "packed beside 4 bytes": lambda kind: _packed(kind, "S4"),
    "packed beside 8 bytes": lambda kind: _packed(kind, "S8"),
    "packed beside 12 bytes": lambda kind: _packed(kind, "S12"),
}

#: So little noise that the numbers can be told.
LITTLE = {"sensitivity": 1e-9, "epsilon": 1.0}
LITTLE_WHOLE = {"sensitivity": 1, "scale": 1e-2}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    floats, whole = LAYOUTS[layout]("f8"), LAYOUTS[layout]("i8")
    np.testing.assert_allclose(mechanisms.laplace(floats, **LITTLE).value, floats, atol=1e-6)
    np.testing.assert_array_equal(mechanisms.discrete_laplace(whole, **LITTLE_WHOLE).value, whole)
    best = mechanisms.exponential(1000.0 * floats, sensitivity=1.0, epsilon=1.0).index
    assert floats[best] == floats.max()
    for column in (floats, whole):
        found = release.sum({"x": column}, "x", bounds=(0, 100), epsilon=50.0)
        assert abs(found.value - column.sum()) < 60.0
        # Every value as a category of its own: which of them are there shows which were read.
        seen = release.histogram({"x": column}, "x", categories=list(range(20)), epsilon=50.0).value
        wanted = np.bincount(column.astype(np.int64), minlength=20)
        assert np.abs(np.asarray(seen) - wanted).max() <= 2, (layout, seen)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_in_the_native_module(layout: str) -> None:
    """Without the package in between: the right numbers, or a refusal."""
    floats, whole = LAYOUTS[layout]("f8"), LAYOUTS[layout]("i8")
    reals_request = json.dumps({"mechanism": "laplace", "sensitivity": 1e-9, "epsilon": 1.0})
    whole_request = json.dumps({"mechanism": "discrete-laplace", "sensitivity": 1.0, "scale": 1e-2})
    question = {"kind": "histogram", "column": "x", "categories": list(map(str, range(20)))}
    counted = json.dumps({"file": "", "question": question, "epsilon": 50.0})
    allowed = (errors.ReticentError, TypeError)
    try:
        drawn = _native.perturb_reals(reals_request, floats)[0]
    except allowed as error:
        assert not isinstance(error, errors.InternalError), error
    else:
        np.testing.assert_allclose(drawn, floats, atol=1e-6)
    try:
        drawn_whole = _native.perturb_integers(whole_request, whole)[0]
    except allowed as error:
        assert not isinstance(error, errors.InternalError), error
    else:
        np.testing.assert_array_equal(drawn_whole, whole)
    for column in (floats, whole):
        try:
            table = _native.Table.from_columns("t", [("x", column)])
        except allowed as error:
            assert not isinstance(error, errors.InternalError), error
            continue
        seen = json.loads(_native.release(counted, table))["value"]
        assert np.abs(np.asarray(seen) - np.bincount(column.astype(np.int64), minlength=20)).max() <= 2


# What would end the process


def in_child(code: str, megabytes: int = 4000) -> None:
    """Runs code in a process of its own with little memory: it must end by itself."""
    prepared = f"""if True:
        import resource, sys
        import numpy as np
        import pyarrow as pa
        import reticent
        from reticent import _native, audit, errors, release
        resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20, {megabytes} << 20))
        def attempt(call):
            try:
                call()
            except (errors.ReticentError, TypeError, OverflowError, MemoryError) as error:
                assert not isinstance(error, errors.InternalError), error
"""
    lines = textwrap.indent(textwrap.dedent(code).strip(), " " * 8) + "\n"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", prepared + lines],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "RUST_BACKTRACE": "0", "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-1500:]}"


@pytest.mark.parametrize("size", ["10**10", "2**62", "2**63", "2**64 - 1", "2**64"])
def test_more_coins_than_memory(size: str) -> None:
    in_child(f"attempt(lambda: audit.coins({size}))")


BROKEN_ARROW = {
    "bytes that are not text": 'text(1, [0, 2], b"\\xff\\xfe")',
    "offsets beyond the data": 'text(2, [0, 10**8, 2], b"ab")',
    "offsets that fall": 'text(3, [0, 2, 1, 2], b"ab")',
    "an unknown code": 'coded([5, -3], ["a"])',
}


@pytest.mark.parametrize("name", BROKEN_ARROW)
def test_broken_arrow_data(name: str) -> None:
    """What a producer of Arrow data got wrong must not be read as if it were right."""
    in_child(f"""
def text(length, offsets, letters):
    memory = [None, pa.py_buffer(np.array(offsets, dtype=np.int32)), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.string(), length, memory)
def coded(codes, names):
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(names), safe=False)
frame = pa.table({{"s": {BROKEN_ARROW[name]}}})
attempt(lambda: release.mode(frame, "s", categories=["a", "b"], epsilon=1.0))
attempt(lambda: release.draft_schema(frame))
""")


def test_text_that_is_not_valid_from_a_cast() -> None:
    """Nothing is built by hand here: pyarrow's own cast makes such a column."""
    in_child("""
import pyarrow.compute as pc
bad = pc.cast(pa.array([b"\\xff\\xfe"] * 10), options=pc.CastOptions(pa.string(), allow_invalid_utf8=True))
attempt(lambda: release.mode(pa.table({"s": bad}), "s", categories=["a", "b"], epsilon=1.0))
""")
