# mypy: ignore-errors
"""Accounting: whatever is given is answered, or refused by name."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reticent
from reticent import accounting, errors
from reticent.accounting import (
    GDP,
    RDP,
    ZCDP,
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
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
    from_dp_accounting,
    from_opacus,
    noise_multiplier,
    posterior,
    rate,
    steps,
)

NAN, INF, HUGE = math.nan, math.inf, 10**400
G = Gaussian(1)
T: dict[str, Any] = {"target_epsilon": 1.0, "target_delta": 1e-5}
NOISES: list[tuple[Any, str]] = [
    *[(value, "R201") for value in (0, -1, NAN, INF, HUGE, -HUGE, np.float64("nan"))],
    *[(value, "R202") for value in ("1", b"1", True, [1], (1,), {}, np.array([1.0]), 1j, object(), G)],
    *[(value, "R202") for value in (np.array(["a"]), np.datetime64("2020-01-01"), np.bool_(True))],
    (None, "R102"),
]
SAMPLE: dict[str, Any] = {"epsilon": 1, "delta": 1e-5, "excess": 0.1, "failure": 0.1, "radius": 1}
SAMPLE |= {"lipschitz": 1, "dimension": 0}
COUNTS: list[Any] = [-1, 1.5, "a", 2**64, 1e300, NAN, True, [2], G, np.arange(3), 1 + 0j]
DELTAS: list[Any] = [0, 1, -1, 2, NAN, INF, "a", [1e-5], HUGE]
BAD: list[tuple[Callable[[], Any], str, str | None]] = [
    *[(lambda value=value: Gaussian(value), code, "noise_multiplier") for value, code in NOISES],
    *[(lambda value=value: G * value, "R2", "count") for value in COUNTS],
    (lambda: np.arange(3) * G, "R202", "count"),
    (lambda: (G * 2**63) * 2, "R201", "count"),
    (lambda: G.poisson(1.5), "R201", "rate"),
    (lambda: G.poisson(-0.1), "R201", "rate"),
    (lambda: G.poisson("0.1"), "R202", "rate"),
    (lambda: G.under("x"), "R203", "neighboring"),
    (lambda: G.under(None), "R203", "neighboring"),
    (lambda: G.without_replacement(dataset_size=10, batch_size=11), "R201", "batch_size"),
    (lambda: G.without_replacement(dataset_size=0, batch_size=0), "R201", "dataset_size"),
    (lambda: G.truncated_poisson(0.1, dataset_size=10, max_batch=0), "R201", "max_batch"),
    (lambda: G.truncated_poisson(2, dataset_size=10, max_batch=1), "R201", "rate"),
    (lambda: G.shuffled(steps_per_epoch=0), "R201", "steps_per_epoch"),
    (lambda: G.shuffled(steps_per_epoch=1, epochs=-1), "R201", "epochs"),
    (lambda: G.balls_in_bins(bins=0), "R201", "bins"),
    (lambda: G.repeat_and_select(0.5), "R201", "mean"),
    (lambda: G.repeat_and_select(2, shape=-1), "R201", "shape"),
    (lambda: G.repeat_and_select(2, shape="x"), "R203", "shape"),
    (lambda: G.repeat_and_select(2, shape=NAN), "R201", "shape"),
    (lambda: RandomizedResponse(0.2), "R201", "keep_probability"),
    (lambda: RandomizedResponse(1.0), "R201", "keep_probability"),
    (lambda: RandomizedResponse(0.5, categories=1), "R201", "categories"),
    (lambda: RandomizedResponse(0.5, categories=2.5), "R201", "categories"),
    (lambda: DiscreteLaplace(1, sensitivity=0), "R201", "sensitivity"),
    (lambda: DiscreteLaplace(1, sensitivity=1.5), "R201", "sensitivity"),
    (lambda: DiscreteGaussian(1, sensitivity=-1), "R201", "sensitivity"),
    (lambda: StudentT(1, degrees_of_freedom=0), "R201", "degrees_of_freedom"),
    (lambda: StudentT(1, degrees_of_freedom=None), "R102", "degrees_of_freedom"),
    (lambda: MixtureOfGaussians(1, sensitivities=[0, 1], probabilities=[0.5, 0.6]), "R201", "probabilities"),
    (lambda: MixtureOfGaussians(1, sensitivities=[0, -1], probabilities=[0.5, 0.5]), "R201", "sensitivities"),
    (lambda: MixtureOfGaussians(1, sensitivities=[0], probabilities=[0.5, 0.5]), "R201", "probabilities"),
    (lambda: MixtureOfGaussians(1, sensitivities="ab", probabilities=[0.5, 0.5]), "R202", "sensitivities"),
    (
        lambda: MixtureOfGaussians(1, sensitivities=[0, NAN], probabilities=[0.5, 0.5]),
        "R201",
        "sensitivities",
    ),
    (lambda: MixtureOfGaussians(1, sensitivities=[], probabilities=[]), "R201", "probabilities"),
    (lambda: TreeAggregation(1, steps=0), "R201", "steps"),
    (lambda: RDP(0.5, 0.1), "R201", "order"),
    (lambda: RDP(2, -1), "R201", "epsilon"),
    (lambda: Approximate(1, 2), "R201", "delta"),
    (lambda: Pure(-1), "R201", "epsilon"),
    (lambda: ZCDP(-1), "R201", "rho"),
    (lambda: GDP(-1), "R201", "mu"),
    (lambda: Exponential(INF), "R201", "epsilon"),
    (lambda: Parallel(), "R102", "parts"),
    (lambda: Parallel(G, 1), "R203", "parts"),
    *[(lambda value=value: G.epsilon(value), "R2", "delta") for value in DELTAS],
    (lambda: G.epsilon(None), "R102", "delta"),
    (lambda: G.epsilon(1e-5, accountant="x"), "R203", "accountant"),
    (lambda: G.epsilon(1e-5, accountant=3), "R203", "accountant"),
    (lambda: G.epsilon(1e-5, width=3), "R201", "width"),
    (lambda: G.epsilon(1e-5, width="a"), "R202", "width"),
    (lambda: G.epsilon(1e-5, accountant="rdp", width=0.1), "R103", "width"),
    (lambda: Approximate(1, 1e-3).epsilon(1e-6), "R201", "delta"),
    (lambda: G.without_replacement(dataset_size=9, batch_size=3).epsilon(1e-5), "R401", None),
    (lambda: G.delta(-1), "R201", "epsilon"),
    (lambda: G.rdp(), "R102", "orders"),
    (lambda: G.rdp([0.5]), "R205", "orders"),
    (lambda: G.rdp([NAN]), "R201", "orders"),
    (lambda: G.rdp("2"), "R202", "orders"),
    (lambda: Approximate(1, 1e-6).rdp([2]), "R401", None),
    (lambda: G.tradeoff([2]), "R205", "fpr"),
    (lambda: G.tradeoff([]), "R102", "fpr"),
    (lambda: G.reconstruction([2]), "R205", "prior"),
    (lambda: G.reconstruction([]), "R102", "prior"),
    (lambda: G.beta(2), "R205", "alpha"),
    (lambda: G.beta([]), "R102", "alpha"),
    (lambda: G.beta([[0.1]]), "R202", "alpha"),
    (lambda: G.group(0, 1e-5), "R201", "size"),
    (lambda: G.group(2), "R102", "delta"),
    (lambda: G.group(2.5, 1e-5), "R201", "size"),
    (lambda: G.outcome(2), "R201", "probability"),
    (lambda: G.posterior(0.5), "R102", "delta"),
    (lambda: G.posterior([]), "R102", "prior"),
    (lambda: G.posterior(1.5, delta=1e-5), "R201", "prior"),
    (lambda: G.statement(1e-5, unit=""), "R201", "unit"),
    (lambda: G.statement(1e-5, unit=3), "R203", "unit"),
    (lambda: G.compare(2), "R201", "delta"),
    (
        lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=1).compare(1e-5, curves=True),
        "R103",
        "curves",
    ),
    (lambda: G.plot("x"), "R203", "kind"),
    (lambda: Events([{"a": 1}]), "R314", "events"),
    (lambda: Events([{"gaussian": {"sigma": 1}}]), "R314", "events"),
    (lambda: Events([{"gaussian": {"noise_multiplier": NAN}}]), "R314", "events"),
    (lambda: Events([{"gaussian": {"noise_multiplier": object()}}]), "R314", "events"),
    (lambda: Events([3]), "R314", "events"),
    (lambda: Events(3), "R104", "events"),
    (lambda: Events("a"), "R104", "events"),
    (lambda: Events({"gaussian": {"noise_multiplier": 1}}), "R104", "events"),
    (lambda: Events(neighboring="x"), "R203", "neighboring"),
    (lambda: Events(unit=3), "R203", "unit"),
    (lambda: Events.from_json("{"), "R314", "events"),
    (lambda: Events.from_json(""), "R314", "events"),
    (lambda: Events.from_json(b"\xff"), "R305", "events"),
    (lambda: Events.from_json(3), "R314", "events"),
    (lambda: Events.from_json("[" * 200), "R314", "events"),
    (lambda: Events.from_json("[]", neighboring="x"), "R203", "neighboring"),
    (lambda: Events.load(3), "R203", "path"),
    (lambda: Events.load("/"), "R305", "path"),
    (lambda: Events.load("a\0b"), "R302", "path"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=2, steps=3), "R201", "sample_rate"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0, steps=3), "R201", "sample_rate"),
    (lambda: dpsgd(noise_multiplier=0, sample_rate=0.1, steps=3), "R201", "noise_multiplier"),
    (
        lambda: dpsgd(noise_multiplier=None, sample_rate=0.1, steps=3),
        "R102",
        "noise_multiplier",
    ),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1), "R102", "steps"),
    (lambda: dpsgd(noise_multiplier=1, steps=3), "R102", "sample_rate"),
    (lambda: dpsgd(noise_multiplier=1, dataset_size=10, steps=3), "R102", "sample_rate"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=3, epochs=2), "R103", "epochs"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, batch_size=3, steps=3), "R103", "batch_size"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=0), "R201", "steps"),
    (
        lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=1.5),
        "R201",
        "steps",
    ),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, epochs=-1), "R201", "epochs"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=1e-300, epochs=1e300), "R201", "epochs"),
    (lambda: dpsgd(noise_multiplier=1, batch_size=10, steps=3), "R102", "dataset_size"),
    (lambda: dpsgd(noise_multiplier=1, batch_size=10, dataset_size=5, steps=3), "R201", "batch_size"),
    (
        lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=3, sampling="shuffled"),
        "R102",
        "dataset_size",
    ),
    (lambda: dpsgd(noise_multiplier=1, batch_size=1, dataset_size=5, steps=3, sampling="without-replacement"),
     "R402", "sampling"),
    (lambda: dpsgd(noise_multiplier=1, sample_rate=0.1, steps=3, sampling="x"), "R203", "sampling"),
    (
        lambda: noise_multiplier(target_epsilon=0, target_delta=1e-5, sample_rate=0.1, steps=3),
        "R201",
        "target_epsilon",
    ),
    (
        lambda: noise_multiplier(target_epsilon=1, target_delta=2, sample_rate=0.1, steps=3),
        "R201",
        "target_delta",
    ),
    (
        lambda: noise_multiplier(**{**T, "target_epsilon": "a"}, sample_rate=1, steps=3),
        "R202",
        "target_epsilon",
    ),
    (lambda: noise_multiplier(**T, sample_rate=3, steps=3), "R201", "sample_rate"),
    (lambda: noise_multiplier(**T, sample_rate=0.1), "R102", "steps"),
    (lambda: noise_multiplier(**T, steps=3), "R102", "sample_rate"),
    (lambda: noise_multiplier(**T, events=G, steps=3), "R103", "steps"),
    (lambda: noise_multiplier(**T, events=Pure(1)), "R314", "events"),
    (lambda: noise_multiplier(**T, events=G + Gaussian(2)), "R314", "events"),
    (lambda: noise_multiplier(**T, events=3), "R203", "events"),
    (lambda: noise_multiplier(**T, sample_rate=0.1, steps=3, accountant="x"), "R203", "accountant"),
    (
        lambda: steps(target_epsilon=1e-3, target_delta=1e-5, noise_multiplier=1, sample_rate=0.9),
        "R406",
        "target_epsilon",
    ),
    (lambda: steps(**T, sample_rate=0.9), "R102", "noise_multiplier"),
    (lambda: steps(**T, noise_multiplier=1), "R102", "sample_rate"),
    (lambda: rate(**T, noise_multiplier=1), "R102", "steps"),
    (lambda: rate(**T, steps=3), "R102", "noise_multiplier"),
    (lambda: rate(**T, events=G), "R314", "events"),
    (lambda: posterior(0.5, epsilon=-1), "R201", "epsilon"),
    (lambda: posterior(0.5, epsilon=[]), "R102", "epsilon"),
    (lambda: posterior(2, epsilon=1), "R201", "prior"),
    (lambda: formula("x"), "R203", "name"),
    (lambda: formula(3), "R203", "name"),
    (lambda: formula("gaussian"), "R102", "epsilon"),
    (lambda: formula("gaussian", a=1), "R101", "a"),
    (lambda: formula("gaussian", epsilon=1, delta=1e-5, sensitivity=-1), "R201", "sensitivity"),
    (lambda: formula("gaussian", epsilon=-1, delta=1e-5, sensitivity=1), "R201", "epsilon"),
    (lambda: formula("gaussian", epsilon=1, delta=1e-5, sensitivity="a"), "R202", "sensitivity"),
    (lambda: formula("selection", choices="ab", epsilon=1, sensitivity=1), "R205", "choices"),
    (lambda: formula("selection", choices=["ab"], epsilon=1, sensitivity=1), "R205", "choices"),
    (lambda: formula("selection", choices=3, epsilon=1, sensitivity=1), "R205", "choices"),
    (lambda: formula("selection", choices={"a": NAN}, epsilon=1, sensitivity=1), "R201", "choices"),
    (lambda: formula("selection", choices={}, epsilon=1, sensitivity=1), "R102", "choices"),
    (
        lambda: formula("selection", choices={"a": 1}, epsilon=1, sensitivity=1, mechanism="x"),
        "R203",
        "mechanism",
    ),
    (
        lambda: formula("selection", choices={"a": 1}, epsilon=1, sensitivity=1, monotone=3),
        "R203",
        "monotone",
    ),
    (lambda: formula("sensitivity"), "R102", "counts"),
    (lambda: formula("sensitivity", bounds=(1,)), "R205", "bounds"),
    (lambda: formula("random-record", dataset_size=0), "R201", "dataset_size"),
    (lambda: formula("random-record", dataset_size=2.5), "R201", "dataset_size"),
    (lambda: formula("sample-size", **SAMPLE), "R201", "dimension"),
    (lambda: from_opacus(3), "R104", "history"),
    (lambda: from_opacus({"a": 3}), "R104", "history"),
    (lambda: from_opacus([3]), "R104", "history"),
    (lambda: from_opacus([(1, 2)]), "R104", "history"),
    (lambda: from_opacus(["abc"]), "R104", "history"),
    (lambda: from_opacus([(1, 2, 3)]), "R314", "history"),
    (lambda: from_opacus([(0, 0.2, 3)]), "R314", "history"),
    (lambda: from_opacus([("a", 0.2, 3)]), "R202", "history"),
    (lambda: from_opacus([(1, 0.2, -3)]), "R201", "history"),
    (lambda: from_opacus([(1, 0.2, 1.5)]), "R201", "history"),
    (lambda: from_opacus("nowhere.json"), "R301", "history"),
    (lambda: from_dp_accounting(3), "R314", "event"),
    (lambda: from_dp_accounting(None), "R314", "event"),
    (lambda: from_dp_accounting(None, neighboring="x"), "R203", "neighboring"),
]


@pytest.mark.parametrize(("call", "code", "field"), BAD, ids=range(len(BAD)))
def test_bad_input_is_refused_by_name(call: Callable[[], Any], code: str, field: str | None) -> None:
    with pytest.raises(errors.ReticentError) as caught:
        call()
    error = caught.value
    assert error.code.startswith(code), error
    assert error.field == field, error
    assert error.remedy and "\n" not in str(error) and len(str(error)) < 260
    assert "invalid argument" not in str(error)
    if field is not None:
        assert field in str(error) or error.remedy in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.field) == (str(error), error.code, error.field)
    assert reticent.explain(error.code)


def test_other_operands_are_type_errors() -> None:
    for other in (1, 1.5, "a", None, True, [Gaussian(1)]):
        with pytest.raises(TypeError):
            Gaussian(1) + other


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5),
    st.lists(st.floats(), max_size=3), st.complex_numbers(), st.decimals(), st.fractions(),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from([np.float32(1.5), np.int8(3), np.array(2.0), np.array([1, 2]), np.bool_(True)]),
    st.sampled_from([object(), Gaussian(1)]),
)
CALLS: list[Callable[[Any], Any]] = [
    Gaussian, Laplace, Pure, ZCDP, GDP, Exponential, RandomizedResponse,
    lambda x: DiscreteLaplace(1, sensitivity=x), lambda x: DiscreteGaussian(1, sensitivity=x),
    lambda x: StudentT(1, degrees_of_freedom=x), lambda x: TreeAggregation(1, steps=x), lambda x: RDP(x, 0.1),
    lambda x: MixtureOfGaussians(1, sensitivities=x, probabilities=[1.0]), lambda x: Approximate(1, x),
    lambda x: G * x, lambda x: G.poisson(x), lambda x: G.under(x), lambda x: G.repeat_and_select(2, shape=x),
    lambda x: G.shuffled(steps_per_epoch=x), lambda x: G.balls_in_bins(bins=x), lambda x: G.epsilon(x),
    lambda x: Pure(0.5).delta(x), lambda x: G.epsilon(1e-5, accountant=x), lambda x: Pure(1).beta(x),
    lambda x: G.rdp(x), lambda x: Pure(1).group(x), lambda x: Pure(1).posterior(x),
    lambda x: G.statement(1e-5, unit=x), lambda x: Events(neighboring=x), lambda x: Events(x),
    lambda x: Events([x]), lambda x: Events.from_json(x), lambda x: Events(unit=x),
    lambda x: dpsgd(noise_multiplier=1, sample_rate=x, steps=2),
    lambda x: dpsgd(noise_multiplier=1, sample_rate=1, epochs=x),
    lambda x: dpsgd(noise_multiplier=1, sample_rate=1, steps=x), lambda x: posterior(0.5, epsilon=x),
    lambda x: formula("random-record", dataset_size=x), lambda x: formula(x),
    lambda x: formula("selection", choices=x, epsilon=1, sensitivity=1), lambda x: from_opacus([x]),
    lambda x: from_opacus([(x, 0.1, 3)]), lambda x: from_opacus([(1, 0.1, x)]),
    lambda x: from_opacus([(1, x, 3)]), lambda x: from_dp_accounting(x),
]


@given(st.sampled_from(CALLS), ANYTHING)
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.filterwarnings("ignore")
def test_anything_is_answered_or_refused(call: Callable[[Any], Any], value: Any) -> None:
    try:
        call(value)
    except errors.InternalError:
        raise
    except errors.ReticentError as error:
        assert error.code and error.remedy


NOISE = st.floats(2, 20)
BUILT = st.recursive(
    st.builds(Gaussian, NOISE) | st.builds(Laplace, NOISE) | st.builds(Pure, st.floats(0, 1)),
    lambda inner: (
        st.builds(lambda a, b: a + b, inner, inner)
        | st.builds(lambda a, n: a * n, inner, st.integers(0, 5))
        | st.builds(lambda a, b: Parallel(a, b), inner, inner)
    ),
    max_leaves=6,
)


@given(BUILT)
@settings(max_examples=40, deadline=None)
def test_built_events_survive_writing_and_composition_costs(events: Events) -> None:
    assert Events.from_json(events.to_json()) == events
    assert eval(repr(events), vars(accounting)) == events
    assert pickle.loads(pickle.dumps(events)) == events
    bounds, more = events.epsilon(1e-5), (events + Laplace(3)).epsilon(1e-5)
    assert bounds.lower <= bounds.upper and bounds.lower <= more.upper * (1 + 1e-9)
