"""Memory stays flat over many calls, and no reference to what was passed is kept."""

from __future__ import annotations

import gc
import json
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import _native, errors, mechanisms, release
from reticent.accounting import Gaussian, Laplace

#: How much the resident memory may grow, in bytes.
GROWTH = 5_000_000
STATUS = Path("/proc/self/statm")


def resident() -> int:
    """The resident memory of this process."""
    import resource

    gc.collect()
    return int(STATUS.read_text().split()[1]) * resource.getpagesize()


def assert_flat(call: Callable[[], object], count: int) -> None:
    """Calls so often, after a warm-up of a tenth; the resident memory stays where it was."""
    if not STATUS.exists():
        pytest.skip("no /proc/self/statm here")
    for _ in range(count // 10):
        call()
    before = resident()
    for _ in range(count):
        call()
    grown = resident() - before
    assert grown < GROWTH, f"{grown / 1e6:.1f} MB more after {count} calls"


def refused(call: Callable[[], object], kind: type[Exception] = errors.ReticentError) -> Callable[[], None]:
    """The same call, which must raise."""

    def attempt() -> None:
        try:
            call()
        except kind:
            return
        raise AssertionError("was not refused")

    return attempt


NOISE = json.dumps({"mechanism": "laplace", "sensitivity": 1.0, "epsilon": 1.0})
VALUES = np.zeros(10)
WHOLE = np.zeros(10, dtype=np.int64)
CODES = np.zeros(10, dtype=np.uint64)
FRAME = {"x": np.arange(10.0), "s": ["a", "b"] * 5}
RUN = Gaussian(1.1).poisson(0.01) * 1000
SHARES = json.dumps({"categories": 3, "epsilon": 1.0})


def test_scalar_mechanism() -> None:
    assert_flat(lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=1.0), 100_000)


def test_scalar_mechanism_that_is_refused() -> None:
    assert_flat(refused(lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=-1.0)), 30_000)


def test_epsilon() -> None:
    events = Gaussian(5.0) * 10
    assert_flat(lambda: events.epsilon(delta=1e-5), 10_000)


def test_epsilon_of_a_training() -> None:
    assert_flat(lambda: RUN.epsilon(delta=1e-5), 500)


def test_epsilon_of_new_events() -> None:
    assert_flat(lambda: (Laplace(20.0) * 3 + Laplace(10.0)).epsilon(delta=1e-5), 1_000)


def test_epsilon_that_is_refused() -> None:
    assert_flat(refused(lambda: RUN.epsilon(delta=2.0)), 10_000)


SHORT: dict[str, Callable[[], object]] = {
    "integers": lambda: mechanisms.discrete_laplace(1, sensitivity=1, epsilon=1.0),
    "array": lambda: mechanisms.gaussian(VALUES, sensitivity=1.0, epsilon=1.0, delta=1e-6),
    "choice": lambda: mechanisms.exponential(VALUES, sensitivity=1.0, epsilon=1.0),
    "answers": lambda: _native.randomize_answers(SHARES, CODES),
    "shares": lambda: _native.estimate_shares(SHARES, [1, 2, 3], 0.95),
    "budget": lambda: repr(reticent.Budget(epsilon=1.0)),
    "table": lambda: _native.Table.from_columns("t", [("x", VALUES), ("s", ["a"] * 10)]).columns(),
    "release": lambda: release.mean(FRAME, "x", bounds=(0.0, 10.0), epsilon=1.0),
    "broken request": refused(lambda: _native.account('{"question": 1}')),
    "broken events": refused(lambda: _native.read_events("[" * 500)),
    "wrong type": refused(lambda: _native.perturb_reals(NOISE, WHOLE), TypeError),  # type: ignore[arg-type]
    "wrong column": refused(lambda: release.mean(FRAME, "y", bounds=(0.0, 10.0), epsilon=1.0)),
    "unknown code": refused(lambda: reticent.explain("R999")),
    "explanation": lambda: reticent.explain("R201"),
    "coins": lambda: _native.coins(1000),
    "error": lambda: repr(errors.from_refusal("x", code=201, field="x", value="1", remedy="y")),
}


@pytest.mark.parametrize("name", SHORT)
def test_short_call(name: str) -> None:
    assert_flat(SHORT[name], 3_000)


def test_arrow_stream() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.table({"x": np.arange(20_000.0), "s": ["abc"] * 20_000})
    allocated = pyarrow.total_allocated_bytes()
    assert_flat(lambda: release.mean(frame, "x", bounds=(0.0, 10.0), epsilon=1.0), 1_000)
    gc.collect()
    assert pyarrow.total_allocated_bytes() == allocated


def test_long_arrays_that_are_dropped() -> None:
    """100 results of 8 MB: each is freed with its array."""
    long = np.zeros(100_000)
    assert_flat(lambda: mechanisms.laplace(long, sensitivity=1.0, epsilon=1.0), 60)


def counts(values: list[Any]) -> list[int]:
    return [sys.getrefcount(value) for value in values]


def test_references_to_arrays() -> None:
    """No call keeps or loses a reference to what it was given, whether it succeeds or not."""
    budget = reticent.Budget(epsilon=1e6)
    seen: list[object] = []

    def progress(notes: object) -> None:
        seen.append(notes)

    name, texts = "".join(["a", "b"]), ["a", "b", None]
    table = _native.Table.from_columns("t", [(name, VALUES[:3]), ("s", texts)])
    count = json.dumps({"file": "", "question": {"kind": "count"}, "epsilon": 1.0})
    pixels, labels = np.zeros((2, 1, 3, 3), dtype=np.uint8), np.zeros(2, dtype=np.uint8)
    given: list[Any] = [VALUES, WHOLE, CODES, budget, budget._native, progress, name, texts, table, count]
    given += [NOISE, SHARES, pixels, labels, None]
    calls: list[Callable[[], object]] = [
        lambda: _native.perturb_reals(NOISE, VALUES, budget._native),
        lambda: _native.perturb_reals("{}", VALUES, budget._native),
        lambda: _native.perturb_reals(NOISE, WHOLE),  # type: ignore[arg-type]
        lambda: _native.perturb_integers(NOISE.replace("laplace", "discrete-laplace"), WHOLE),
        lambda: _native.randomize_answers(SHARES, CODES),
        lambda: _native.choose(
            json.dumps({"rule": "exponential", "sensitivity": 1.0, "epsilon": 1.0}), VALUES
        ),
        lambda: _native.Table.from_columns("t", [(name, VALUES), ("s", texts * 3 + ["a"])]),
        lambda: _native.Table.from_columns("t", [(name, VALUES), ("s", texts)]),
        lambda: _native.Table.from_columns("t", [(name, given)]),
        lambda: _native.Table.from_arrow("t", VALUES),
        lambda: _native.Pictures("p", pixels, labels),
        lambda: _native.Pictures("p", pixels, labels[:1]),
        lambda: _native.release(count, table, budget._native, progress),
        lambda: _native.release(count, table, budget._native, given),  # type: ignore[arg-type]
        lambda: _native.release("{}", table, budget._native, progress),
        lambda: mechanisms.laplace(VALUES, sensitivity=1.0, epsilon=1.0, budget=budget),
        lambda: release.count({"x": VALUES}, epsilon=1.0, budget=budget),
    ]

    def attempt(call: Callable[[], object]) -> None:
        try:
            call()
        except (errors.ReticentError, TypeError):
            pass

    for call in calls:
        attempt(call)
    # None is referred to by everything else that runs, so some tolerance is needed there.
    for place, call in enumerate(calls):
        gc.collect()
        before = counts(given[:-1])
        nothing = sys.getrefcount(None)
        for _ in range(100):
            attempt(call)
        seen.clear()
        gc.collect()
        assert counts(given[:-1]) == before, f"call {place}"
        assert abs(sys.getrefcount(None) - nothing) < 50, f"call {place}"


def test_results_own_their_memory() -> None:
    values = np.zeros(1000)
    noisy = _native.perturb_reals(NOISE, values)[0]
    assert not np.shares_memory(noisy, values)
    kept = noisy.copy()
    del values
    gc.collect()
    _ = [np.ones(1000) for _ in range(100)]
    assert (noisy == kept).all()


def test_a_table_outlives_its_source() -> None:
    """A table of Arrow memory keeps that memory alive, and a table of arrays has a copy."""
    pyarrow = pytest.importorskip("pyarrow")
    whole = {"file": "", "question": {"kind": "sum", "column": "x", "bounds": [0.0, 1.0]}, "epsilon": 50.0}
    array = np.ones(5000)
    frame = pyarrow.table({"x": array})
    tables = [_native.Table.from_arrow("t", frame), _native.Table.from_columns("t", [("x", array)])]
    array[:] = 0.0
    watched = weakref.ref(frame)
    del frame, array
    gc.collect()
    assert watched() is None
    _ = [np.full(5000, 7.0) for _ in range(100)]
    for table, least in zip(tables, (0.0, 4990.0), strict=True):
        assert json.loads(_native.release(json.dumps(whole), table))["value"] >= least - 1.0


def test_a_table_is_freed() -> None:
    rows = np.zeros(1_000_000)

    def build() -> None:
        _native.Table.from_columns("t", [("x", rows)])

    assert_flat(build, 30)
