"""Hostile input to the native module: no panic, no crash, and no guarantee that is NaN."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hostile import DRAWN, FRAME, POOL, TIMES, Boom, Exported, Stream, attempt, cases, few, fuzz, no_nan
from hostile import patience, place  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from reticent import _native, errors, release

CERTIFICATE: dict[str, Any] = release.count({"x": [1.0]}, epsilon=1.0).certificate.to_dict()

EVENTS: list[Any] = [
    {
        "repeated": {
            "count": 10,
            "event": {"poisson_sampled": {"rate": 0.1, "event": {"gaussian": {"noise_multiplier": 3.0}}}},
        }
    },
    {"composed": {"events": [{"laplace": {"noise_multiplier": 2.0}}, {"pure": {"epsilon": 0.1}}]}},
    {"randomized_response": {"keep_probability": 0.7, "categories": 3}},
    {"approximate": {"epsilon": 0.5, "delta": 1e-6}},
]
LOG = {"neighboring": "add-remove", "events": EVENTS}
TRAINING = {
    "noise_multiplier": 3.0,
    "sampling_rate": 0.1,
    "steps": 10,
    "sampling": "poisson",
    "neighboring": "add-remove",
}


#: Questions that need the whole distribution of the loss are about one event, to be quick.
ONE = {"events": {"log": {"neighboring": "add-remove", "events": EVENTS[:1]}}}


def about(question: Any, happened: Any = None) -> dict[str, Any]:
    return {"question": question, "happened": happened or {"events": {"log": LOG}}}


PERTURB = {
    "mechanism": "laplace",
    "sensitivity": 1.0,
    "epsilon": 1.0,
    "confidence": 0.9,
    "neighboring": "add-remove",
}
DISCRETE = {"mechanism": "discrete-gaussian", "sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6}
TABLE = _native.Table.from_columns("t", [("x", np.asarray(FRAME["x"])), ("s", FRAME["s"])])
PLAIN = {
    "file": "",
    "epsilon": 1.0,
    "delta": None,
    "neighboring": "add-remove",
    "confidence": 0.9,
    "filter": None,
}
FINDINGS: dict[str, Any] = {"attacks": []}
SGD = {"model": "logistic", "epsilon": 1.0, "delta": 1e-3, "schema": "schema.toml", "test-share": 0.0}


def queried(question: dict[str, Any]) -> dict[str, Any]:
    return {**PLAIN, "question": question}


def reals(request: str) -> Any:
    return _native.perturb_reals(request, np.zeros(3))


def integers(request: str) -> Any:
    return _native.perturb_integers(request, np.zeros(3, dtype=np.int64))


def over(request: str) -> Any:
    return _native.release(request, TABLE)


#: Functions of one request, and requests that are fine.
REQUESTS: dict[str, tuple[Callable[[str], Any], Any, int]] = {
    "account epsilon": (_native.account, about({"epsilon": {"delta": 1e-5}}), 250),
    "account delta": (_native.account, about({"delta": {"epsilon": 1.0}}), 100),
    "account rdp": (_native.account, about({"rdp": {"orders": [2.0, "inf"], "delta": 1e-5}}), 100),
    "account tradeoff": (_native.account, about({"tradeoff": {"fpr": [0.1], "drawn": False}}, ONE), 50),
    "account reconstruction": (_native.account, about({"reconstruction": {"prior": [0.1]}}, ONE), 50),
    "account group": (_native.account, about({"group": {"size": 2, "delta": 1e-5}}, ONE), 50),
    "account outcome": (_native.account, about({"outcome": {"probability": 0.1, "delta": 1e-5}}, ONE), 50),
    "account posterior": (_native.account, about({"posterior": {"prior": [0.1], "delta": 1e-5}}, ONE), 50),
    "account statement": (_native.account, about({"statement": {"delta": 1e-5, "unit": "row"}}, ONE), 50),
    "account training": (_native.account, about({"epsilon": {"delta": 1e-5}}, {"training": TRAINING}), 200),
    "account noise": (
        _native.account,
        about({"noise": {"epsilon": 1.0, "delta": 1e-5}}, {"training": {"sampling_rate": 1.0, "steps": 10}}),
        30,
    ),
    "formula": (_native.formula, {"gaussian": {"epsilon": 0.5, "delta": 1e-5, "sensitivity": 1.0}}, 100),
    "formula selection": (
        _native.formula,
        {"selection": {"choices": [["a", 1.0], ["b", 2.0]], "epsilon": 1.0, "sensitivity": 1.0}},
        100,
    ),
    "formula sensitivity": (
        _native.formula,
        {"sensitivity": {"counts": 3, "overlap": 2, "bounds": [0, 1]}},
        100,
    ),
    "formula composition": (
        _native.formula,
        {"composition": {"epsilon": 0.1, "count": 3, "delta": 1e-5}},
        100,
    ),
    "formula sample-size": (
        _native.formula,
        {
            "sample-size": {
                "epsilon": 0.1,
                "delta": 1e-5,
                "excess": 0.1,
                "failure": 0.1,
                "dimension": 3,
                "radius": 1.0,
                "lipschitz": 1.0,
            }
        },
        100,
    ),
    "read_events": (_native.read_events, LOG, 400),
    "read_events of a list": (_native.read_events, EVENTS, 200),
    "verify": (_native.verify, {**CERTIFICATE, "events": EVENTS, "epsilon": 5.0, "delta": 1e-5}, 200),
    "import_opacus": (_native.import_opacus, {"history": [[1.0, 0.01, 10]]}, 200),
    "perturb_reals": (reals, PERTURB, 400),
    "perturb_integers": (integers, DISCRETE, 400),
    "randomize_answers": (
        lambda request: _native.randomize_answers(request, np.arange(5, dtype=np.uint64)),
        {"categories": 3, "epsilon": 1.0},
        200,
    ),
    "estimate_shares": (
        lambda request: _native.estimate_shares(request, [1, 2, 3], 0.9),
        {"categories": 3, "keep_probability": 0.7},
        200,
    ),
    "choose": (
        lambda request: _native.choose(request, np.arange(3.0)),
        {"rule": "exponential", "sensitivity": 1.0, "epsilon": 1.0, "monotone": True},
        200,
    ),
    "release count": (over, queried({"kind": "count", "column": "x", "error": None}), 150),
    "release sum": (
        over,
        queried({"kind": "sum", "column": "x", "bounds": [0.0, 7.0], "integers": False}),
        200,
    ),
    "release mean": (
        over,
        queried({"kind": "mean", "column": "x", "bounds": [0.0, 7.0], "count_clamped": True}),
        150,
    ),
    "release histogram": (over, queried({"kind": "histogram", "column": "s", "categories": ["a", "b"]}), 150),
    "release bins": (over, queried({"kind": "histogram", "column": "x", "bins": [0.0, 1.0, 2.0]}), 150),
    "release quantile": (
        over,
        queried(
            {"kind": "quantile", "column": "x", "bounds": [0.0, 7.0], "quantile": 0.5, "candidates": 100}
        ),
        150,
    ),
    "release mode": (over, queried({"kind": "mode", "column": "s", "categories": ["a", "b"]}), 100),
    "release proportion": (over, queried({"kind": "proportion", "column": "s", "value": "a"}), 100),
    "release of a file": (_native.release, {**queried({"kind": "count"}), "file": "people.csv"}, 100),
    "preview": (
        lambda request: _native.preview(request, TABLE),
        queried({"kind": "sum", "column": "x", "bounds": [0.0, 7.0]}),
        150,
    ),
    "randomize": (
        _native.randomize,
        {"file": "people.csv", "column": "s", "categories": ["a", "b"], "epsilon": 1.0, "out": "r.csv"},
        100,
    ),
    "estimate": (
        _native.estimate,
        {"file": "people.csv", "column": "s", "categories": ["a", "b"], "epsilon": 1.0},
        100,
    ),
    "learn_schema": (
        lambda request: _native.learn_schema(request, TABLE),
        {"file": "", "label": "s", "ignore": [], "epsilon": 1.0, "delta": 1e-3, "force": False},
        100,
    ),
    "fit": (lambda request: _native.fit(request, TABLE), SGD, 60),
    "train": (
        lambda request: _native.train(request, TABLE, None, None, _stop),
        {**SGD, "model": "mlp", "steps": 1},
        60,
    ),
    "resume": (_native.resume, {"folder": ".", "changes": {"steps": 1}, "finish": False}, 40),
    "predict": (
        lambda request: _native.predict(request, TABLE),
        {"model": ".", "data": "", "threads": 1},
        40,
    ),
    "evaluate": (
        lambda request: _native.evaluate(request, TABLE),
        {"model": ".", "data": "", "threads": 1},
        40,
    ),
    "audit": (
        _native.audit,
        {"scores": {"scores": "people.csv", "attacks": [], "statement": {"confidence": 0.9}}},
        60,
    ),
    "roc": (_native.roc, FINDINGS, 40),
    "report": (_native.report, {"folder": ".", "out": "report"}, 40),
}


def _stop(notes: Any) -> None:
    """A training that hostile values make long is not waited for."""
    raise Boom


#: What is put in place of a part of a request.
ODD_PARTS: list[Any] = [
    None, True, False, "", "x", "NaN", "inf", "a\x00b", "⟦epsilon⟧", "x" * 5000,
    [], [[]], {}, {"x": 1}, [1.0, "a", None],
    0, -0.0, 1, 2, -1, 0.5, 1.0, 1.5, 1e-300, 5e-324, 1e-5, 1e300, 1.7976931348623157e308, 10**400, 2**53 + 1,
    2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 3.0000000000000004, math.nan, math.inf, -math.inf,
]  # fmt: skip


def parts(value: Any) -> list[tuple[Any, Any]]:
    """Every place inside of a request: what holds it, and its key."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, own in items:
        found.append((value, key))
        found.extend(parts(own))
    return found


def spoilt(request: Any, rng: random.Random, times: int) -> str:
    """A request with some parts replaced, removed, added or moved; or its text with some letters changed."""
    request = copy.deepcopy(request)
    for _ in range(times):
        places = parts(request)
        if not places:
            break
        holder, key = rng.choice(places)
        how = rng.randrange(10)
        if how < 7:
            odd = copy.deepcopy(rng.choice(ODD_PARTS))
            holder[key] = odd if how < 6 else [odd] * rng.choice([1, 3, 1000])
        elif how == 7:
            del holder[key]
        elif how == 8 and isinstance(holder, dict):
            holder[rng.choice(["odd", "", "epsilon ", "delta", "\x00"])] = rng.choice(ODD_PARTS)
        else:
            holder[key] = copy.deepcopy(rng.choice(places)[0])
    text = json.dumps(request)
    if rng.random() < 0.1 and text:
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + rng.choice(["", "}", "{", '"', "\\u0000", "1e999", "\x00", "é"])
            + text[place + 1 :]
        )
    return text


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(name: str) -> None:
    call, fine, count = REQUESTS[name]

    @fuzz(count)
    @given(st.integers(0, 2**32), st.integers(1, 3))
    def case(seed: int, times: int) -> None:
        text = spoilt(fine, random.Random(seed), times)
        attempt(f"_native {name}", lambda: no_nan_text(call(text)), native=True)

    case()


def no_nan_text(answer: Any) -> None:
    """Answers of the native module: no bound is NaN."""
    texts = answer if isinstance(answer, tuple) else (answer,)
    for text in texts:
        if isinstance(text, str) and text.startswith("{"):
            no_nan(json.loads(text))
        if isinstance(text, tuple):
            assert all(0.0 <= own < math.inf for own in text[1:]), text
        if isinstance(text, np.ndarray):
            assert np.isfinite(text).all()


def _checked(call: Callable[[str], Any], text: str) -> None:
    no_nan_text(call(text))


def test_requests_of_any_json() -> None:
    """Any JSON at all, for all functions."""
    json_values = st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=6,
    )

    @fuzz(60)
    @given(st.one_of(json_values.map(json.dumps), st.text(max_size=40)))
    def case(text: str) -> None:
        for name, (call, _, _) in REQUESTS.items():
            attempt(f"_native {name}", partial(_checked, call, text), native=True)

    case()


DP_EVENTS = [
    "ComposedDpEvent(events=[SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.01, "
    "event=GaussianDpEvent(noise_multiplier=1.1)), count=1000), LaplaceDpEvent(noise_multiplier=20), "
    "NoOpDpEvent()])",
    "RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=3)",
    "MixtureOfGaussiansDpEvent(standard_deviation=1.0, sensitivities=[0.0, 1.0], sampling_probs=[0.5, 0.5])",
    "DiscreteLaplaceDpEvent(noise_parameter=np.float64(0.5), sensitivity=2)",
    "RepeatAndSelectDpEvent(event=ZCDpEvent(rho=0.1, xi=0.0), mean=3.0, shape=1.0)",
]
TOKENS = [
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "nan",
    "-1",
    "1e400",
    "0",
    "inf",
    "é",
    "\x00",
    "None",
    "np.",
    "'",
    "_",
    " ",
]


def test_printed_events() -> None:
    """Events of dp_accounting as Python prints them, with some letters changed."""

    @fuzz(400)
    @given(
        st.sampled_from(DP_EVENTS),
        st.integers(0, 2**32),
        st.sampled_from([None, "add-remove", "replace-one", "x"]),
    )
    def case(text: str, seed: int, relation: str | None) -> None:
        rng = random.Random(seed)
        for _ in range(rng.randrange(4)):
            start = rng.randrange(len(text) + 1)
            text = text[:start] + rng.choice(TOKENS) + text[start + rng.randrange(6) :]
        attempt(
            "_native import_dp_event",
            lambda: no_nan_text(_native.import_dp_event(text, relation)),
            native=True,
        )

    case()


def _columns(name: Any, values: Any) -> Any:
    return _native.Table.from_columns(name, [(name, values), ("x", values)]).columns()


#: Functions of the native module on any objects.
OBJECTS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "perturb_reals": (lambda own: _native.perturb_reals(json.dumps(PERTURB), own), 62),
    "perturb_integers": (lambda own: _native.perturb_integers(json.dumps(DISCRETE), own), 62),
    "randomize_answers": (
        lambda own: _native.randomize_answers('{"categories": 3, "epsilon": 1.0}', own),
        50,
    ),
    "choose": (
        lambda own: _native.choose('{"rule": "exponential", "sensitivity": 1.0, "epsilon": 1.0}', own),
        50,
    ),
    "estimate_shares": (
        lambda own: _native.estimate_shares('{"categories": 3, "epsilon": 1.0}', own, 0.9),
        50,
    ),
    "estimate_shares at": (
        lambda own: _native.estimate_shares('{"categories": 2, "epsilon": 1.0}', [1, 2], own),
        20,
    ),
    "request": (lambda own: _native.account(own), 20),
    "budget": (lambda own: _native.perturb_reals(json.dumps(PERTURB), np.zeros(1), own), 20),
    "Budget epsilon": (lambda own: _native.Budget(own, 0.0, "add-remove", "row", "t").left(), 20),
    "Budget delta": (lambda own: _native.Budget(1.0, own, "add-remove", "row", "t").spent(), 20),
    "Budget relation": (lambda own: _native.Budget(1.0, 0.0, own, "row", "t").terms(), 15),
    "Budget unit": (lambda own: _native.Budget(1.0, 0.0, "add-remove", own, own).terms(), 15),
    "Table column": (lambda own: _columns("a", own), 62),
    "Table name": (lambda own: _columns(own, np.zeros(2)), 20),
    "Table columns": (lambda own: _native.Table.from_columns("t", own), 20),
    "Table.open": (lambda own: _native.Table.open(own), 25),
    "table of a release": (lambda own: _native.release(json.dumps(queried({"kind": "count"})), own), 15),
    "progress": (lambda own: _native.release(json.dumps(queried({"kind": "count"})), TABLE, None, own), 15),
    "Pictures": (lambda own: _native.Pictures("p", own, np.zeros(2, dtype=np.uint8)), 25),
    "Pictures labels": (lambda own: _native.Pictures("p", np.zeros((2, 1, 3, 3), dtype=np.uint8), own), 25),
    "read_certificate": (lambda own: _native.read_certificate(own), 15),
    "coins": (lambda own: _native.coins(few(own)), 15),
    "explain": (lambda own: _native.explain(own), 20),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name: str) -> None:
    call, count = OBJECTS[name]

    def one(own: Any) -> None:
        attempt(f"_native {name}", lambda: no_nan_text(call(own)), native=True)

    @fuzz(count)
    @given(DRAWN)
    def case(hostile: tuple[str, Any]) -> None:
        one(hostile[1]())

    for make in POOL.values():
        one(make())
    case()


def test_arrow_objects() -> None:
    """Whatever calls itself Arrow data: read, or an exception of it or of the package."""

    @fuzz(200)
    @given(DRAWN)
    def case(hostile: tuple[str, Any]) -> None:
        for wrap in (lambda own: own, Stream, Exported):
            own = wrap(hostile[1]())

            def read(own: Any = own) -> Any:
                try:
                    return _native.Table.from_arrow("t", own).columns()
                except ValueError as error:
                    if isinstance(error, errors.ReticentError):
                        raise
                    # What the reader of Arrow streams says, or the producer.
                    return None

            attempt("_native Table.from_arrow", read, native=True)

    case()


def test_the_number_of_cases() -> None:
    """The whole file is 10 000 cases, over everything that there is."""
    from test_boundary import PUBLIC

    wanted = {*PUBLIC, "Certificate.verify", "_native import_dp_event", "_native Table.from_arrow"}
    wanted |= {f"_native {name}" for name in (*REQUESTS, *OBJECTS)}
    if not wanted <= cases.keys():
        pytest.skip("only a part of the cases ran")
    print(f"{cases.total()} cases over {len(wanted)} entry points")
    assert cases.total() >= 10_000 * TIMES
