# mypy: ignore-errors
"""Accounting: events as values, their results and files."""

from __future__ import annotations

import copy
import inspect
import json
import math
import pickle
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent
from reticent import accounting, errors
from reticent.accounting import (
    GDP,
    RDP,
    ZCDP,
    Approximate,
    ClippedSum,
    DiscreteGaussian,
    DiscreteLaplace,
    EncodedStudentT,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    Parallel,
    Pure,
    RandomizedResponse,
    StudentT,
    TreeAggregation,
    dpsgd,
    formula,
    noise_multiplier,
    rate,
    steps,
)

TRAINING = Gaussian(1.1).poisson(0.01) * 1000

#: One of every kind, with the text that writes it again.
KINDS: list[tuple[str, Events]] = [
    ("gaussian", Gaussian(5)),
    ("clipped_sum", ClippedSum(1.5)),
    ("laplace", Laplace(2)),
    ("discrete_gaussian", DiscreteGaussian(5, sensitivity=1)),
    ("discrete_laplace", DiscreteLaplace(2, sensitivity=3)),
    ("student_t", StudentT(5, degrees_of_freedom=3)),
    ("encoded_student_t", EncodedStudentT(5, degrees_of_freedom=3, levels=[2, 1], counts=[1, 4])),
    ("mixture_of_gaussians", MixtureOfGaussians(3, sensitivities=[0, 1, 2], probabilities=[0.9, 0.07, 0.03])),
    ("tree_aggregation", TreeAggregation(2.2, steps=700)),
    ("randomized_response", RandomizedResponse(0.75, categories=2)),
    ("exponential", Exponential(0.1)),
    ("repeat_and_select", Gaussian(1.5).repeat_and_select(8, shape=1)),
    ("pure", Pure(0.5)),
    ("approximate", Approximate(0.5, 1e-7)),
    ("zcdp", ZCDP(0.1)),
    ("rdp", RDP(8, 0.2)),
    ("gdp", GDP(0.9)),
    ("poisson_sampled", Gaussian(1).poisson(0.01)),
    ("sampled_without_replacement", ClippedSum(1).without_replacement(dataset_size=1000, batch_size=10)),
    ("truncated_poisson", Gaussian(1.4).truncated_poisson(0.01, dataset_size=20_000, max_batch=240)),
    ("shuffled", Gaussian(0.8).shuffled(steps_per_epoch=8000, epochs=1)),
    ("balls_in_bins", Gaussian(0.9).balls_in_bins(bins=100, epochs=1)),
    ("repeated", Gaussian(1).poisson(0.01) * 10),
    ("composed", (Laplace(10) + Gaussian(10)).poisson(1)),
    ("parallel", Parallel(Laplace(10), Gaussian(10) * 2)),
]


def relation_of(name: str) -> str:
    return "replace-one" if name == "sampled_without_replacement" else "add-remove"


@pytest.mark.parametrize(("name", "events"), KINDS, ids=[name for name, _ in KINDS])
@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_every_kind_is_built_written_read_and_answered(name: str, events: Events) -> None:
    text = events.to_json()
    assert f'"{name}"' in text
    assert Events.from_json(text) == events
    assert Events(events.events) == events
    assert eval(repr(events), vars(accounting)) == events
    asked = events.under(relation_of(name))
    bounds = asked.epsilon(delta=1e-6)
    assert 0 <= bounds.lower <= bounds.upper == float(bounds)
    assert bounds.neighboring == relation_of(name)
    at = asked.delta(epsilon=float(bounds))
    assert at.upper <= 1e-6 * (1 + 1e-6)
    assert events._repr_html_().count("<tr>") == 1


def test_every_kind_of_the_library_has_a_function() -> None:
    with pytest.raises(errors.DataError) as caught:
        Events([{"xxxxxxxxxxxxxxxxxxxxxxxxxx": {}}])
    listed = set(str(caught.value).split(" of ")[-1].split(", "))
    assert len(listed) > 20
    assert listed == {name for name, _ in KINDS}


def test_numbers_are_those_of_the_command() -> None:
    # The examples of docs/reference/events.md, at δ = 1e-6.
    for events, expected in [
        (Gaussian(5), 0.8342),
        (Laplace(2), 0.5),
        (DiscreteGaussian(5, sensitivity=1), 0.835),
        (StudentT(5, degrees_of_freedom=3), 0.7248),
        (TreeAggregation(2.2, steps=700), 7.426),
        (RandomizedResponse(0.75), 1.099),
        (ZCDP(0.1), 2.142),
        (RDP(8, 0.2), 1.744),
        (GDP(0.9), 4.337),
        (Laplace(10) + Gaussian(10), 0.481),
        (Parallel(Laplace(10), Gaussian(10)), 0.3969),
        (Gaussian(10) * 20 + Gaussian(1).poisson(0.01) * 1000 + Laplace(20) * 5, 2.99),
    ]:
        upper = float(events.epsilon(delta=1e-6))
        assert expected * (1 - 2e-3) < upper <= expected


# Operators


def test_operators_build_flat_lists() -> None:
    step = Gaussian(1.1).poisson(0.01)
    assert step * 10 == 10 * step == step * 10.0 == step * np.int64(10) == np.int64(10) * step
    assert (step * 10) * 10 == step * 100
    assert step * 3 + step * 4 == step * 7
    assert step + step == step * 2
    assert step * 1 == step
    assert step * 0 == Events()
    assert (step + Laplace(2)) * 3 == step * 3 + Laplace(2) * 3
    assert sum([step, step, Laplace(2)]) == step * 2 + Laplace(2)
    assert step + Events() == step == Events() + step
    assert sum([], Events()) == Events()
    assert (step + Laplace(2)).events == [*step.events, *Laplace(2).events]
    assert repr(step * 10_000 + Laplace(20)) == "Gaussian(1.1).poisson(0.01) * 10000 + Laplace(20)"


def test_a_loop_of_additions_stays_small() -> None:
    total, step = Events(), Gaussian(1.1).poisson(0.01)
    for _ in range(5000):
        total = total + step
    assert total == step * 5000
    assert len(total.events) == 1


def test_the_order_of_a_product_does_not_matter() -> None:
    flat = (Gaussian(20) + Laplace(30)) * 10
    nested = Events([{"repeated": {"count": 10, "event": {"composed": {"events": flat.events[:0]}}}}])
    assert nested.epsilon(1e-6) == 0
    whole = {"composed": {"events": [*Gaussian(20).events, *Laplace(30).events]}}
    nested = Events([{"repeated": {"count": 10, "event": whole}}])
    assert abs(nested.epsilon(1e-6) / flat.epsilon(1e-6) - 1) < 1e-9


def test_relations() -> None:
    events = Gaussian(2)
    assert events.neighboring == "add-remove"
    replaced = events.under("replace-one")
    assert (replaced.neighboring, events.neighboring) == ("replace-one", "add-remove")
    assert replaced != events
    assert replaced.under("add-remove") == events
    assert repr(replaced * 3) == "(Gaussian(2) * 3).under('replace-one')"
    both = replaced * 3 + replaced.poisson(0.5)
    assert eval(repr(both), vars(accounting)) == both
    with pytest.raises(errors.RequestError, match="do not add up") as caught:
        events + replaced
    assert caught.value.field == "neighboring"
    with pytest.raises(errors.RequestError, match="do not add up"):
        Parallel(events, replaced)
    # A clipped sum costs twice as much noise under replace-one.
    assert ClippedSum(2).under("replace-one").epsilon(1e-6) == float(Gaussian(1).epsilon(1e-6))


def test_events_do_not_change() -> None:
    events = Gaussian(2)
    with pytest.raises(AttributeError):
        events.neighboring = "replace-one"
    with pytest.raises(AttributeError):
        events._unit = "user"
    with pytest.raises(AttributeError):
        del events._parts
    listed = events.events
    listed[0]["gaussian"]["noise_multiplier"] = 100.0
    assert events == Gaussian(2)
    assert len({events, Gaussian(2), Gaussian(2.0), Gaussian(3)}) == 2
    assert events != "Gaussian(2)"


# Results


def test_bounds_are_numbers() -> None:
    bounds = TRAINING.epsilon(delta=1e-5)
    assert isinstance(bounds, float)
    assert bounds.lower <= bounds.upper == float(bounds) == bounds.epsilon
    assert bounds.upper - bounds.lower < 1e-6
    assert bounds < 1.6 < bounds + 1 and max(bounds, 1.0) is bounds
    assert bounds == bounds.upper and hash(bounds) == hash(bounds.upper) and bounds != bounds.upper + 1
    assert bounds == TRAINING.epsilon(delta=1e-5) and bounds != TRAINING.epsilon(delta=1e-6)
    assert bounds == TRAINING.epsilon(delta=1e-5) and not bounds != TRAINING.epsilon(delta=1e-5)
    assert np.asarray([bounds]).dtype == np.float64
    assert json.loads(json.dumps(bounds)) == bounds.upper
    assert bounds.to_dict()["delta"] == 1e-5 == bounds.delta
    assert (bounds.accountant, bounds.neighboring, bounds.direction) == ("pld", "add-remove", "remove")
    assert str(bounds) == repr(bounds.upper)
    assert "ε ≤ 1.516" in repr(bounds) and "<table>" in bounds._repr_html_()
    with pytest.raises(AttributeError):
        bounds.upper = 0.0
    with pytest.raises(AttributeError, match="it has accountant"):
        bounds.nothing


@given(st.floats(0.3, 50), st.floats(1e-12, 0.1), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_shown_bounds_are_bounds(noise: float, delta: float, digits: int) -> None:
    bounds = Gaussian(noise).epsilon(delta)
    assert float(f"{bounds:.{digits}f}") >= bounds.upper
    assert float(f"{bounds:.{digits}g}") >= bounds.upper
    guarantee = repr(bounds).split("ε ≤ ")[1].split(" ")[0]
    assert bounds.upper <= float(guarantee) <= bounds.upper * 1.001 + 1e-300
    if "between" in repr(bounds):
        low, high = repr(bounds).split("between ")[1].split("\n")[0].split(" and ")
        assert float(low) <= bounds.lower <= bounds.upper <= float(high)


def test_solved_numbers_round_to_the_safe_side() -> None:
    noise = noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.01, steps=100)
    assert float(f"{noise:.2f}") >= noise
    largest = rate(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, steps=100)
    assert float(f"{largest:.3f}") <= largest
    assert float(repr(noise).split("\n")[0].split()[-1]) >= noise
    assert float(repr(largest).split("\n")[0].split()[-1]) <= largest
    count = steps(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, sample_rate=0.01)
    assert isinstance(count, int) and f"{count:,}" == f"{int(count):,}"
    assert list(range(count))[-1] == count - 1


@pytest.mark.parametrize(
    "value",
    [
        Gaussian(2) * 3 + Laplace(1),
        ClippedSum(2).under("replace-one"),
        dpsgd(noise_multiplier=1, sample_rate=0.1, steps=10),
        TRAINING.epsilon(1e-5),
        TRAINING.delta(1),
        TRAINING.rdp([2, math.inf], delta=1e-5),
        Gaussian(1).tradeoff(),
        Gaussian(1).reconstruction(),
        TRAINING.compare(1e-5),
        TRAINING.statement(1e-5),
        TRAINING.group(2, 1e-3),
        Pure(1).outcome(0.1),
        Pure(1).posterior(0.5),
        noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.01, steps=10),
        steps(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, sample_rate=0.01),
        rate(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, steps=10),
        formula("random-record", dataset_size=10),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_copied_and_pickled(value: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value) and again == value and repr(again) == repr(value)
    assert copy.copy(value) == value == copy.deepcopy(value)
    assert value.to_dict() == again.to_dict()
    assert json.loads(json.dumps(value.to_dict())) == value.to_dict()
    assert value._repr_html_().startswith("<")
    if isinstance(value, Events):
        assert str(again.statement(1e-5)) == str(value.statement(1e-5))


# Files


def test_files(tmp_path: Path) -> None:
    events = Gaussian(1.1).poisson(0.01) * 1000 + Laplace(20)
    path = tmp_path / "events.json"
    events.save(path)
    assert Events.load(path) == Events.load(str(path)) == events
    assert json.loads(path.read_text())["neighboring"] == "add-remove"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Events.load(path) == events
    path.write_text('[{"laplace": {"noise_multiplier": 2}}]')
    assert Events.load(path) == Laplace(2)
    assert Events.load(path, neighboring="replace-one") == Laplace(2).under("replace-one")
    path.write_text('{"events": []}')
    with pytest.raises(errors.RequestError) as missing:
        Events.load(path)
    assert (missing.value.code, missing.value.field) == ("R102", "neighboring")
    assert Events.load(path, neighboring="add-remove") == Events()
    with pytest.raises(errors.DataError) as absent:
        Events.load(tmp_path / "none.json")
    assert (absent.value.code, absent.value.field) == ("R301", "path")


def test_certificates_are_events() -> None:
    data = {
        "neighboring": "add-remove",
        "events": [{"laplace": {"noise_multiplier": 2.0}}],
        "unit": "user",
        "epsilon": 0.5,
        "delta": 0.0,
        "accountant": "pld",
        "public": [],
    }
    released = {"value": 3, "certificate": data}
    for certificate in (data, json.dumps(data), released, reticent.Certificate(data)):
        events = Events.from_json(certificate)
        assert (events.unit, events.events) == ("user", data["events"])
    assert Events.from_json(data).epsilon(1e-9) <= 0.5
    assert Events.from_json(events.to_json()) == events != Laplace(2)
    assert (events + Gaussian(1)).unit == (Gaussian(1) + events).unit == "user"
    assert (events * 2).unit == events.poisson(0.1).unit == "user"
    # Laplace noise of 2 sensitivities under add-remove is noise of 1 where replacing a record moves twice as far.
    for stated in (events, events * 2, events + ClippedSum(2), Events.from_json(data).poisson(0.1)):
        with pytest.raises(errors.PrivacyError) as refused:
            stated.under("replace-one")
        assert (refused.value.code, refused.value.field) == ("R402", "neighboring")
    invariant = Events.from_json((ClippedSum(2).poisson(0.1) * 3).to_json())
    assert invariant.under("replace-one").neighboring == "replace-one"
    assert Parallel(Gaussian(1), events).unit == "user"
    with pytest.raises(errors.RequestError, match="each user and each row") as caught:
        events + Events.from_json({**data, "unit": "row"})
    assert caught.value.field == "unit"
    with pytest.raises(errors.RequestError) as conflict:
        Events.from_json(data, neighboring="replace-one")
    assert (conflict.value.code, conflict.value.field) == ("R103", "neighboring")


def test_plots() -> None:
    student = StudentT(5, degrees_of_freedom=3)
    for kind in ("tradeoff", "epsilon"):
        for events in (TRAINING, student, Approximate(0.5, 1e-7), Exponential(0.1), Events()):
            root = ElementTree.fromstring(events.plot(kind))
            assert root.tag.endswith("svg")
            for line in root.iter("{http://www.w3.org/2000/svg}polyline"):
                points = [tuple(map(float, point.split(","))) for point in line.get("points", "").split()]
                assert len(points) >= 2 and all(0 <= x <= 480 and 0 <= y <= 360 for x, y in points)
    with pytest.raises(errors.InvalidValueError):
        Approximate(0.5, 0.5).plot("epsilon")
    pyplot = pytest.importorskip("matplotlib.figure")
    axes = pyplot.Figure().subplots()
    assert Gaussian(1).plot(ax=axes) is axes
    assert len(axes.lines) == 2 and axes.get_xlabel() == "false-positive rate"
    drawn = axes.lines[1].get_xydata()
    for fpr, fnr in drawn[10:90:10]:
        # The drawn curve is a lower bound that is close to the curve.
        assert fnr <= Gaussian(1).beta(float(fpr)) + 1e-9 and fnr > Gaussian(1).beta(float(fpr)) - 0.02


# The module


def test_the_import_is_light() -> None:
    code = (
        "import sys, reticent.accounting\n"
        "heavy = {'torch', 'opacus', 'dp_accounting', 'matplotlib', 'pandas', 'sklearn', 'attr'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_all_names_exist_and_have_examples() -> None:
    for name in accounting.__all__:
        value = getattr(accounting, name)
        assert value.__doc__
    for name, method in inspect.getmembers(Events, inspect.isfunction):
        assert name.startswith("_") or method.__doc__, name
    with pytest.raises(AttributeError):
        accounting.nothing


def test_little_is_added_to_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from reticent import _native
    from reticent.accounting import questions

    events = Gaussian(1.1).poisson(0.01) * 1000
    expected = events.epsilon(1e-5)
    answer = _native.account(f'{{"question":{{"epsilon":{{"delta":1e-5}}}},"happened":{events._describe()}}}')

    class Quick:
        account = staticmethod(lambda request: answer)

    monkeypatch.setattr(questions, "_native", Quick)
    best = math.inf
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(100):
            found = events.epsilon(1e-5)
        best = min(best, (time.perf_counter() - start) / 100)
    assert found == expected
    assert best < 50e-6


def test_threads() -> None:
    noises = [0.8 + 0.05 * place for place in range(16)]

    def epsilon(noise: float) -> float:
        return float((Gaussian(noise).poisson(0.02) * 200).epsilon(1e-5))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(epsilon, noises))
    assert found == [epsilon(noise) for noise in noises]
