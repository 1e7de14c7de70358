"""Threads, processes and signals: noise never repeats, limits hold, and long calls can be stopped."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import _native, errors, mechanisms, release

#: What a thread, a fork or a process draws. Two of them are equal with probability 2^-50 for each number.
LENGTH = 16
NOISE = json.dumps({"mechanism": "laplace", "sensitivity": 1.0, "epsilon": 1e-3})
INTEGER_NOISE = json.dumps({"mechanism": "discrete-laplace", "sensitivity": 1.0, "epsilon": 1e-6})
COIN_COUNT = 256


def draw(_: object = None) -> list[tuple[float, ...]]:
    """Noise of every source there is."""
    reals = _native.perturb_reals(NOISE, np.zeros(LENGTH))[0]
    long = _native.perturb_reals(NOISE, np.zeros(4096))[0][-LENGTH:]
    whole = _native.perturb_integers(INTEGER_NOISE, np.zeros(LENGTH, dtype=np.int64))[0]
    public = mechanisms.gaussian(np.zeros(LENGTH), sensitivity=1.0, epsilon=1.0, delta=1e-6).value
    released = release.sum({"x": [0.0] * 10}, "x", bounds=(0.0, 1e9), epsilon=1e-3).value
    coins = _native.coins(COIN_COUNT)
    return [tuple(reals), tuple(long), tuple(whole), tuple(public), (released,), tuple(coins)]


def assert_all_differ(draws: list[list[tuple[float, ...]]]) -> None:
    for source in zip(*draws, strict=True):
        assert len(set(source)) == len(source), "two draws are the same"


def test_threads_draw_different_noise() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert_all_differ(list(threads.map(draw, range(32))))


def test_many_threads_on_one_array_leave_it_alone() -> None:
    values = np.arange(5000.0)
    before = values.copy()

    def perturb(_: int) -> float:
        return float(_native.perturb_reals(NOISE, values)[0].sum())

    with ThreadPoolExecutor(8) as threads:
        sums = list(threads.map(perturb, range(64)))
    assert len(set(sums)) == 64
    assert (values == before).all()


def in_fork(work: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What a forked child returns, or the exception it raises. A child that does not end is killed."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(receive)
            try:
                answer: Any = work()
            except Exception as error:
                answer = error
            with os.fdopen(send, "wb") as pipe:
                pickle.dump(answer, pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(send)
    killer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    killer.start()
    try:
        with os.fdopen(receive, "rb") as pipe:
            answered = pipe.read()
        _, status = os.waitpid(child, 0)
    finally:
        killer.cancel()
    assert status == 0, f"the child ended with {status}"
    return pickle.loads(answered)


def test_noise_survives_a_fork() -> None:
    draw()
    draws = [in_fork(draw) for _ in range(4)]
    assert_all_differ([draw(), *draws, draw()])


def test_siblings_of_one_fork_differ_while_threads_draw() -> None:
    """Forks during calls of other threads: no lock stays locked in the child, and no state is shared."""
    stop = threading.Event()

    def keep_drawing() -> None:
        while not stop.is_set():
            _native.perturb_reals(NOISE, np.zeros(2000))

    others = [threading.Thread(target=keep_drawing) for _ in range(2)]
    for other in others:
        other.start()
    try:
        draws = [in_fork(draw) for _ in range(8)]
    finally:
        stop.set()
        for other in others:
            other.join()
    assert_all_differ([*draws, draw()])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_draw_different_noise(method: str) -> None:
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        draws = pool.map_async(draw, range(6), chunksize=1).get(timeout=60)
    assert_all_differ([*draws, draw()])


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_draws_different_noise(backend: str) -> None:
    joblib = pytest.importorskip("joblib")
    draws = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(draw)(place) for place in range(6))
    assert_all_differ([*draws, draw()])


def test_training_works_in_a_fork_of_a_process_that_trained() -> None:
    """Threads do not survive a fork: a pool that was kept from before would wait for ever."""

    def train() -> float:
        trained: Any = endless_training(steps=3, threads=2)
        return float(trained.predict_proba(np.zeros((2, 3))).sum())

    assert abs(train() - 2.0) < 1e-6
    assert abs(in_fork(train) - 2.0) < 1e-6
    assert abs(train() - 2.0) < 1e-6


def test_a_forked_budget_refuses() -> None:
    budget = reticent.Budget(epsilon=1.0)

    def charge() -> Any:
        return mechanisms.laplace(1.0, sensitivity=1.0, epsilon=0.5, budget=budget).epsilon

    attempts: list[Callable[[], Any]] = [
        charge,
        lambda: budget.left,
        lambda: budget.spent,
        lambda: budget.events,
        lambda: repr(budget),
        lambda: release.count({"x": [1.0]}, epsilon=0.5, budget=budget).value,
    ]
    for attempt in attempts:
        error = in_fork(attempt)
        assert isinstance(error, errors.RequestError), error
        assert (error.code, error.field) == ("R103", "budget"), error
    assert budget.left == 1.0
    assert charge() == 0.5
    assert budget.left == 0.5


def test_a_budget_cannot_be_sent_to_another_process() -> None:
    import copy

    budget = reticent.Budget(epsilon=1.0)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="budget"):
            attempt(budget)  # type: ignore[operator]
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(budget._native)  # type: ignore[operator]
    joblib = pytest.importorskip("joblib")
    with pytest.raises((TypeError, pickle.PicklingError)):
        joblib.Parallel(n_jobs=2)(joblib.delayed(repr)(budget) for _ in range(2))


def charged(budget: reticent.Budget, epsilon: float) -> bool:
    try:
        mechanisms.laplace(1.0, sensitivity=1.0, epsilon=epsilon, budget=budget)
    except errors.BudgetError as error:
        assert error.code == "R405", error
        return False
    return True


@pytest.mark.parametrize("kind", ["scalar", "array", "integers", "choice", "release"])
def test_threads_never_exceed_a_limit(kind: str) -> None:
    """100 charges of a tenth of the limit in 8 threads: exactly ten succeed."""
    # Both are doubles, so the tenth charge fits exactly.
    limit, epsilon = 1.25, 0.125
    budget = reticent.Budget(epsilon=limit)
    attempts: dict[str, Callable[[], object]] = {
        "scalar": lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=epsilon, budget=budget),
        # Long enough to be drawn without the interpreter's lock.
        "array": lambda: mechanisms.laplace(np.zeros(2000), sensitivity=1.0, epsilon=epsilon, budget=budget),
        "integers": lambda: mechanisms.discrete_laplace(1, sensitivity=1, epsilon=epsilon, budget=budget),
        "choice": lambda: mechanisms.exponential([1.0, 2.0], sensitivity=1.0, epsilon=epsilon, budget=budget),
        "release": lambda: release.count({"x": [1.0, 2.0]}, epsilon=epsilon, budget=budget),
    }
    start = threading.Barrier(8)
    own = threading.local()

    def attempt(_: int) -> bool:
        if not hasattr(own, "began"):
            own.began = True
            start.wait(30)
        try:
            attempts[kind]()
        except errors.BudgetError as error:
            assert error.code == "R405", error
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        succeeded = sum(threads.map(attempt, range(100)))
    assert succeeded == 10
    assert len(budget.events) == 10
    assert budget.spent == (limit, 0.0)
    assert budget.left == 0.0


def test_a_tenth_ten_times() -> None:
    """The double 0.1 is above a tenth: ten charges may not fit, and what is spent never exceeds the limit."""
    budget = reticent.Budget(epsilon=1.0)
    succeeded = sum(charged(budget, 0.1) for _ in range(100))
    assert succeeded in (9, 10)
    assert budget.spent is not None and budget.spent[0] <= 1.0


def test_a_charge_that_fails_in_a_thread_leaves_the_budget_usable() -> None:
    budget = reticent.Budget(epsilon=1.0)

    def attempt(epsilon: float) -> bool:
        try:
            return charged(budget, epsilon)
        except errors.InvalidValueError:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert not any(threads.map(attempt, [-1.0, 0.0, 2.0, 1e300] * 25))
    assert budget.left == 1.0 and budget.spent == (0.0, 0.0) and budget.events == []
    assert charged(budget, 1.0)


# Without the interpreter's lock


class Ticker:
    """A thread of Python that counts; it stands still while another one holds the interpreter's lock."""

    def __init__(self) -> None:
        self.ticks = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._count)

    def _count(self) -> None:
        while not self._stop.wait(0.001):
            self.ticks += 1

    def __enter__(self) -> Ticker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def long_account() -> str:
    """About a second of work in one call."""
    run = {"noise_multiplier": 0.5, "steps": 1_000_000_000, "neighboring": "replace-one"}
    question = {"compare": {"delta": 0.01, "curves": True}}
    return _native.account(json.dumps({"question": question, "happened": {"training": run}}))


def long_draw() -> int:
    return len(_native.perturb_reals(NOISE, np.zeros(2_000_000))[0])


def long_release() -> str:
    table = _native.Table.from_columns("t", [("x", np.zeros(1_000_000))])
    asked = {"kind": "quantile", "column": "x", "bounds": [0.0, 1.0], "candidates": 100_001}
    return _native.release(json.dumps({"file": "", "question": asked, "epsilon": 1.0}), table)


@pytest.mark.parametrize("work", [long_account, long_draw, long_release])
def test_long_calls_let_other_threads_run(work: Callable[[], object]) -> None:
    with Ticker() as ticker:
        began = time.monotonic()
        work()
        seconds, ticks = time.monotonic() - began, ticker.ticks
    if seconds < 0.1:
        pytest.skip(f"took only {1000 * seconds:.0f} ms")
    # One tick takes about 1.1 ms on an idle machine.
    assert ticks > 20 * seconds, f"{ticks} ticks in {seconds:.2f} s"


# Ctrl-C


@contextmanager
def interrupted(after: float) -> Iterator[Callable[[], float]]:
    """Sends SIGINT to this process; yields how long ago that was."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        yield lambda: time.monotonic() - sent[0] if sent else float("nan")
    finally:
        timer.cancel()
        timer.join()


def endless_training(**more: Any) -> object:
    from reticent.train import Linear, Network

    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 1.0, (64, 3))
    y = (X[:, 0] > 0.5).astype(np.int64)
    settings: dict[str, Any] = {
        "noise_multiplier": 1000.0,
        "delta": 1e-3,
        "dataset_size": 64,
        "bounds": (0.0, 1.0),
        "classes": [0, 1],
        "steps": 100_000_000,
        "batch_size": 32,
        "threads": 1,
    }
    return Network([Linear(2)]).fit(X, y, **(settings | more))


def assert_usable() -> None:
    assert len(draw()) == 6
    assert reticent.Budget(epsilon=1.0).left == 1.0


def test_interrupting_a_training_raises_and_keeps_the_charge() -> None:
    budget = reticent.Budget(epsilon=1e6, delta=0.1)
    with interrupted(1.5) as since:
        with pytest.raises(KeyboardInterrupt):
            endless_training(budget=budget)
        assert since() < 3.0, f"{since():.1f} s after the signal"
    assert len(budget.events) == 1
    assert_usable()


def test_interrupting_an_account_raises() -> None:
    with interrupted(0.05), pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            long_account()
    assert_usable()


def test_a_long_account_stops_soon_after_an_interrupt() -> None:
    """A question that takes minutes must not take the terminal with it."""
    code = """if True:
        import json, os, signal, threading
        from reticent import _native
        event = {"laplace": {"noise_multiplier": 0.5}}
        event = {"poisson_sampled": {"rate": 0.9999999999999999, "event": event}}
        log = {"neighboring": "replace-one", "events": [{"repeated": {"count": 4294967296, "event": event}}]}
        question = {"rate": {"epsilon": 1.0, "delta": 0.5}}
        request = json.dumps({"question": question, "happened": {"events": {"log": log}}})
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            _native.account(request)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            os._exit(0)
        print("answered", flush=True)
    """
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15)
    except subprocess.TimeoutExpired:
        pytest.fail("15 s after the signal it still works")
    assert done.stdout.strip() in ("stopped", "answered"), done.stderr


def test_an_interrupt_in_another_thread_is_not_swallowed() -> None:
    """Only the main thread handles signals: a worker goes on, and the main thread is interrupted."""
    outcome: list[object] = []

    def work() -> None:
        outcome.append(long_draw())

    worker = threading.Thread(target=work)
    with interrupted(0.1), pytest.raises(KeyboardInterrupt):
        worker.start()
        while True:
            time.sleep(0.01)
    worker.join(60)
    assert outcome == [2_000_000]


# Progress


class Stop(Exception):
    """What a callback raises."""


def test_an_exception_of_a_callback_stops_the_training() -> None:
    seen: list[dict[str, Any]] = []

    def stop(metrics: dict[str, Any]) -> None:
        seen.append(metrics)
        raise Stop

    began = time.monotonic()
    with pytest.raises(Stop):
        endless_training(callbacks=stop, steps=2_000_000)
    assert time.monotonic() - began < 30.0
    assert len(seen) >= 1
    assert_usable()


@pytest.mark.parametrize("raised", [Stop, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_exceptions_of_progress_are_raised_as_they_are(raised: type[BaseException]) -> None:
    def stop(notes: list[tuple[str, str, int]]) -> None:
        raise raised("enough")

    table = _native.Table.from_columns("t", [("x", np.zeros(300_000))])
    request = json.dumps({"file": "", "question": {"kind": "count"}, "epsilon": 1.0})
    with pytest.raises(raised, match="enough"):
        _native.release(request, table, None, stop)
    assert_usable()


@pytest.mark.parametrize("progress", [42, "text", object(), [], len])
def test_a_progress_that_cannot_be_called_is_an_error(progress: Any) -> None:
    table = _native.Table.from_columns("t", [("x", np.zeros(300_000))])
    request = json.dumps({"file": "", "question": {"kind": "count"}, "epsilon": 1.0})
    try:
        _native.release(request, table, None, progress)
    except TypeError as error:
        assert "callable" in str(error) or "argument" in str(error)
    assert_usable()


def test_a_callback_may_call_the_library() -> None:
    """The interpreter's lock is free during the work, so a callback may draw, and may use another budget."""
    budget = reticent.Budget(epsilon=1.0)
    drawn: list[float] = []

    def again(notes: list[tuple[str, str, int]]) -> None:
        if not drawn:
            drawn.append(mechanisms.laplace(0.0, sensitivity=1.0, epsilon=0.5, budget=budget).value)

    table = _native.Table.from_columns("t", [("x", np.zeros(300_000))])
    request = json.dumps({"file": "", "question": {"kind": "count"}, "epsilon": 0.25})
    for _ in range(20):
        _native.release(request, table, None, again)
    _native.release(request, table, budget._native, again)
    assert len(drawn) <= 1
    assert budget.left in (0.25, 0.75)
