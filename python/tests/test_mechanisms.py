"""Mechanisms: what they return, what they cost, what they refuse, and that their noise is what they say."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import Budget, mechanisms
from reticent.errors import BudgetError, DataError, InvalidValueError, ReticentError, RequestError
from reticent.mechanisms import (
    Noisy,
    discrete_gaussian,
    discrete_laplace,
    estimate_proportions,
    exponential,
    gaussian,
    laplace,
    permute_and_flip,
    randomized_response,
    report_noisy_max,
    student_t,
)

Draw = Callable[..., Noisy]

REAL: dict[str, tuple[Draw, dict[str, Any]]] = {
    "laplace": (laplace, {"sensitivity": 1.0, "epsilon": 1.0}),
    "gaussian": (gaussian, {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6}),
    "student_t": (student_t, {"sensitivity": 1.0, "epsilon": 1.0}),
}
WHOLE: dict[str, tuple[Draw, dict[str, Any]]] = {
    "discrete_laplace": (discrete_laplace, {"sensitivity": 1, "epsilon": 1.0}),
    "discrete_gaussian": (discrete_gaussian, {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6}),
}
ADDITIVE = REAL | WHOLE
SELECTIONS = [exponential, permute_and_flip, report_noisy_max]


def band(count: int, probability: float) -> tuple[float, float]:
    """Where a share of so many independent draws lies, but for a probability below 1e-6 in total.

    By Hoeffding's inequality it leaves the band with probability at most 2·exp(−2·count·width²) = 1e-6.
    """
    width = math.sqrt(math.log(2e6) / (2 * count))
    return probability - width, probability + width


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", [5, 5.0, np.float64(5), np.float32(5), np.int8(5), True])
def test_a_scalar_stays_a_scalar(name: str, value: Any) -> None:
    draw, terms = REAL[name]
    noisy = draw(value, **terms)
    assert type(noisy.value) is float and float(noisy) == noisy.value
    low, high = noisy.interval
    assert low <= noisy.value - noisy.error and high >= noisy.value + noisy.error
    assert high - low == pytest.approx(2 * noisy.error, rel=1e-12)
    assert int(noisy) == int(noisy.value)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [5, np.int64(5), np.uint8(5), 2**62, -(2**62)])
def test_an_integer_stays_an_integer(name: str, value: Any) -> None:
    draw, terms = WHOLE[name]
    noisy = draw(value, **terms)
    assert type(noisy.value) is int and noisy.error == int(noisy.error)
    assert all(type(end) is int for end in noisy.interval)
    assert noisy.interval[1] - noisy.interval[0] == 2 * noisy.error
    assert abs(noisy.value - int(value)) < 2**40


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 1, 4)])
def test_shapes_stay(name: str, shape: tuple[int, ...]) -> None:
    draw, terms = ADDITIVE[name]
    dtype = np.int64 if name in WHOLE else np.float64
    given = np.ones(shape, dtype=dtype)
    noisy = draw(given, **terms)
    assert isinstance(noisy.value, np.ndarray) and noisy.value.shape == shape and noisy.value.dtype == dtype
    assert not noisy.value.flags.writeable
    assert np.asarray(noisy).shape == shape and np.array(noisy, dtype=np.float32).dtype == np.float32
    low, high = noisy.interval
    assert (low < high).all() and low.shape == shape
    assert (given == 1).all()


def test_layouts_do_not_matter() -> None:
    # At scale 1e-9 the noise is far below the differences between the numbers.
    base = np.arange(24.0).reshape(4, 6)
    fixed = base.copy()
    fixed.setflags(write=False)
    for array in (base, base[::-1], base[:, ::2], base.T, np.asfortranarray(base), fixed, base.astype(">f8")):
        assert np.allclose(laplace(array, sensitivity=1e-9, scale=1e-9).value, array, atol=1e-6)
    for array in (base, base[:, ::2], base.T, base.astype(">i4"), base.astype(np.uint64)):
        whole = array.astype(np.int64) if array.dtype.kind == "f" else array
        assert (discrete_laplace(whole, sensitivity=1, epsilon=60.0).value == array).all()
    assert np.allclose(laplace([[1, 2], [3, 4]], sensitivity=1e-9, scale=1e-9).value, [[1, 2], [3, 4]])
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0])
    assert np.allclose(laplace(series, sensitivity=1e-9, scale=1e-9).value, series)


def test_costs_are_those_of_the_library() -> None:
    noisy = laplace(1.0, sensitivity=2.0, epsilon=0.5)
    assert (noisy.epsilon, noisy.delta, noisy.event) == (0.5, 0.0, {"laplace": {"noise_multiplier": 2.0}})
    assert noisy.scale >= 4.0 and noisy.scale < 4.0001
    noisy = gaussian(np.zeros(10), sensitivity=1.0, epsilon=1.0, delta=1e-6)
    assert (noisy.epsilon <= 1.0, noisy.delta) == (True, 1e-6)
    # The analytic calibration of Balle and Wang (2018) has σ = 4.2247 for these terms.
    assert 4.22 < noisy.scale < 4.23 and 4.22 < noisy.event["gaussian"]["noise_multiplier"] <= noisy.scale
    scaled = gaussian(0.0, sensitivity=1.0, scale=4.3, delta=1e-6)
    assert 0.9 < scaled.epsilon < 1.0
    assert student_t(0.0, sensitivity=1.0, epsilon=1.0, degrees_of_freedom=5).event["student_t"] == {
        "noise_multiplier": pytest.approx(1, rel=1),
        "degrees_of_freedom": 5,
    }
    # An array costs what its sensitivity says, however long it is.
    assert laplace(np.zeros(1000), sensitivity=1.0, epsilon=0.5).epsilon == 0.5
    assert discrete_laplace(7, sensitivity=3, scale=6.0).epsilon == pytest.approx(0.5)
    assert exponential([1.0, 2.0], sensitivity=1.0, epsilon=0.25).event == {"exponential": {"epsilon": 0.25}}
    assert permute_and_flip([1.0, 2.0], sensitivity=1.0, epsilon=0.25).event == {"pure": {"epsilon": 0.25}}
    response = randomized_response(["a"], categories=["a", "b"], keep_probability=0.75)
    assert response.epsilon == pytest.approx(math.log(3)) and response.epsilon >= math.log(3) - 1e-12


@pytest.mark.parametrize("name", ADDITIVE)
def test_noise_is_never_the_same_twice(name: str) -> None:
    draw, terms = ADDITIVE[name]
    # 64 integers are all equal twice, or all without noise, with probability below 1e-9.
    first, second = draw(np.zeros(64, dtype=np.int64), **terms), draw(np.zeros(64, dtype=np.int64), **terms)
    assert (first.value != second.value).any() and (first.value != 0).any()


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_errors_hold_at_the_confidence(name: str, confidence: float) -> None:
    draw, terms = ADDITIVE[name]
    count = 20_000
    # Weak terms make integer noise wide enough for its steps not to matter.
    weak = {**terms, "epsilon": 0.05}
    noisy = draw(np.zeros(count, dtype=np.int64), **weak, confidence=confidence)
    low, high = noisy.interval
    share = float(((low <= 0) & (high >= 0)).mean())
    least, most = band(count, confidence)
    assert least <= share
    # Errors of integers are whole, so they may cover a little more.
    assert share <= most + (0.02 if name in WHOLE else 0.0)
    assert noisy.confidence == confidence


def test_laplace_noise_has_its_distribution() -> None:
    count = 40_000
    values = laplace(np.zeros(count), sensitivity=1.0, scale=1.0).value
    for point in (-2.0, -0.5, 0.0, 0.5, 2.0):
        expected = 0.5 * math.exp(point) if point < 0 else 1 - 0.5 * math.exp(-point)
        least, most = band(count, expected)
        assert least <= float((values <= point).mean()) <= most


def test_results_cannot_be_changed_and_can_be_stored() -> None:
    results: list[Any] = [
        laplace([1.0, 2.0], sensitivity=1.0, epsilon=1.0),
        discrete_laplace(3, sensitivity=1, epsilon=1.0),
        randomized_response(["a", "b"], categories=["a", "b"], epsilon=1.0),
        exponential([1.0, 2.0], sensitivity=1.0, epsilon=1.0, candidates=["x", "y"]),
    ]
    for result in results:
        for name in ("value", "epsilon", "other"):
            with pytest.raises(AttributeError):
                setattr(result, name, 0)
        with pytest.raises(AttributeError):
            del result.epsilon
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict() and type(again) is type(result)
        assert json.loads(json.dumps(result.to_dict()))["epsilon"] == result.epsilon
        assert "ε ≤ 1" in repr(result) and "\n" not in repr(result)
    with pytest.raises(ValueError):
        results[0].value[0] = 0.0
    assert f"{laplace(1.0, sensitivity=1.0, epsilon=1.0):.2f}".replace("-", "").replace(".", "").isdigit()


def test_bounds_are_shown_rounded_up_and_confidences_down() -> None:
    for value in (1.0984, 1.00001, 0.30000000000000004, 1e-6, 0.0, 1.2345e-9, 9.9999, 99999.1, 0.75):
        shown = reticent._core.at_most(value)
        assert value * (1 - 1e-9) <= float(shown) <= value * 1.0011 and len(shown) <= 9
    for share, shown in ((0.95, "95 %"), (0.999, "99.9 %"), (1 - 1e-9, "99.9999999 %"), (0.5, "50 %")):
        assert reticent._core.percent(share) == shown


def test_large_arrays_are_shown_briefly() -> None:
    assert len(repr(laplace(np.zeros(10_000), sensitivity=1.0, epsilon=1.0))) < 400


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"epsilon": 0.0}, "epsilon", "R201"),
        ({"epsilon": -1}, "epsilon", "R201"),
        ({"epsilon": math.nan}, "epsilon", "R201"),
        ({"epsilon": math.inf}, "epsilon", "R201"),
        ({"epsilon": "1"}, "epsilon", "R202"),
        ({"epsilon": True}, "epsilon", "R202"),
        ({"epsilon": [1.0]}, "epsilon", "R202"),
        ({"epsilon": 10**400}, "epsilon", "R202"),
        ({"epsilon": None}, "epsilon", "R102"),
        ({"scale": 1.0}, "scale", "R103"),
        ({"epsilon": None, "scale": 0.0}, "scale", "R201"),
        ({"epsilon": None, "scale": -1.0}, "scale", "R201"),
        ({"epsilon": None, "scale": math.nan}, "scale", "R201"),
        ({"sensitivity": 0.0}, "sensitivity", "R201"),
        ({"sensitivity": -1.0}, "sensitivity", "R201"),
        ({"sensitivity": math.inf}, "sensitivity", "R201"),
        ({"sensitivity": None}, "sensitivity", "R102"),
        ({"sensitivity": "one"}, "sensitivity", "R202"),
        ({"confidence": 1.0}, "confidence", "R201"),
        ({"confidence": None}, "confidence", "R102"),
        ({"confidence": math.nan}, "confidence", "R201"),
        ({"neighboring": "swap"}, "neighboring", "R203"),
        ({"neighboring": None}, "neighboring", "R203"),
    ],
)
def test_bad_terms_are_refused_by_name(name: str, change: dict[str, Any], field: str, code: str) -> None:
    draw, terms = ADDITIVE[name]
    with pytest.raises(ReticentError) as error:
        draw(3, **{**terms, **change})
    assert (error.value.field, error.value.code) == (field, code), error.value
    assert "\n" not in str(error.value) and error.value.remedy


def test_a_delta_belongs_to_gaussian_noise() -> None:
    for draw in (gaussian, discrete_gaussian):
        for delta in (0.0, 1.0, -1e-6, math.nan):
            with pytest.raises(InvalidValueError) as error:
                draw(1, sensitivity=1.0, epsilon=1.0, delta=delta)
            assert error.value.field == "delta"
        with pytest.raises(RequestError) as missing:
            draw(1, sensitivity=1.0, epsilon=1.0, delta=None)  # type: ignore[arg-type]
        assert (missing.value.field, missing.value.code) == ("delta", "R102")
    for wrong in (0, -1, 1001, 2.5, "3", True, math.nan, None):
        with pytest.raises(InvalidValueError) as refused:
            student_t(1.0, sensitivity=1.0, epsilon=1.0, degrees_of_freedom=wrong)  # type: ignore[arg-type]
        assert refused.value.field == "degrees_of_freedom"
    with pytest.raises(InvalidValueError) as half:
        discrete_laplace(1, sensitivity=0.5, epsilon=1.0)  # type: ignore[arg-type]
    assert half.value.field == "sensitivity"


BAD_VALUES: list[Any] = [
    math.nan,
    math.inf,
    [1.0, -math.inf],
    np.array([1.0, np.nan]),
    "1",
    None,
    1j,
    object(),
    ["a", "b"],
    [[1.0], [2.0, 3.0]],
    np.array([1.0, None], dtype=object),
    np.array([1, 2], dtype=object),
    np.zeros(2, "M8[D]"),
    np.zeros(2, complex),
    np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    {"a": 1},
    10**400,
    2**64,
    [2**64, 1],
    np.array([2**64 - 1], dtype=np.uint64),
]


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("value", BAD_VALUES, ids=repr)
def test_bad_values_are_refused_by_name(name: str, value: Any) -> None:
    draw, terms = ADDITIVE[name]
    budget = Budget(10.0, 1e-5)
    with pytest.raises(DataError) as error:
        draw(value, **terms, budget=budget)
    assert error.value.field == "value" and "\n" not in str(error.value)
    assert budget.events == []


def test_integers_that_no_float_equals_are_not_rounded() -> None:
    # Rounding would move neighbors farther apart than the sensitivity says.
    for value in (2**53 + 1, -(2**53) - 1, np.array([2**60]), np.array([2**63], dtype=np.uint64), [2**60, 1]):
        with pytest.raises(DataError) as error:
            laplace(value, sensitivity=1.0, epsilon=1.0)
        assert error.value.field == "value"
    with pytest.raises(DataError):
        laplace(np.zeros(2, dtype=np.longdouble), sensitivity=1.0, epsilon=1.0)
    assert abs(float(laplace(2**53, sensitivity=1.0, epsilon=1.0)) - 2**53) < 1e3
    for wrong in (1.0, np.array([1.0]), [1.5], np.float64(3)):
        with pytest.raises(DataError) as error:
            discrete_laplace(wrong, sensitivity=1, epsilon=1.0)
        assert error.value.field == "value" and "integers" in str(error.value)
    # The ends of 64 bits hold.
    for end in (2**63 - 1, -(2**63)):
        noisy = discrete_laplace(np.full(100, end), sensitivity=1, epsilon=0.1).value
        assert noisy.dtype == np.int64 and abs(int(noisy[0]) - end) < 2**40


def test_an_integer_among_floats_is_not_rounded() -> None:
    # As float64, 2^54 + 2 and 2^54 + 3 are 2 apart: twice the sensitivity that is paid for.
    large = 2**54 + 3
    cases: list[Any] = [
        [large, 0.5],
        (0.5, -large),
        [2**53 + 1, 0.5],
        [[0.5, 1.0], [large, 2.0]],
        [np.int64(large), 0.5],
        [np.uint64(2**63 + 1), np.int64(-1)],
        [np.array(large), 0.5],
        [np.array([large, 1]), np.array([0.5, 1.5])],
    ]
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    cases += [
        pandas.DataFrame({"a": [large], "b": [0.5]}),
        [torch.tensor(large), torch.tensor(0.5)],
        [torch.tensor(large), 0.5],
    ]
    for value in cases:
        with pytest.raises(DataError) as error:
            laplace(value, sensitivity=1.0, epsilon=1.0)
        assert error.value.field == "value", value
        with pytest.raises(ReticentError) as scored:
            exponential(value, sensitivity=1.0, epsilon=1.0)
        assert scored.value.field == "scores", value
    # Floats are what they are, and so are integers that a float equals.
    fine: list[Any] = [
        [1e17, 0.5],
        [np.float64(1e17), 2],
        [2**53, -(2**53), 0.5],
        np.array([1e17, 0.5]),
        np.array([1e17, 0.5], dtype=">f8"),
        pandas.Series([1e17, 0.5]),
        pandas.DataFrame({"a": [1e17], "b": [0.5]}),
        torch.tensor([1e17, 0.5], dtype=torch.float64),
        [torch.tensor(1e17), torch.tensor(0.5)],
    ]
    for value in fine:
        assert laplace(value, sensitivity=1.0, epsilon=1.0).value.size in (2, 3)


def test_a_number_beyond_the_grid_has_no_interval() -> None:
    for name, (draw, terms) in REAL.items():
        for sign in (1, -1):
            noisy = draw(sign * 1e300, **terms)
            assert noisy.interval == (-math.inf, math.inf), name
            assert "without a known error" in repr(noisy) and "±" not in repr(noisy)
        noisy = draw([0.0, 1e300, -1e300], **terms)
        low, high = noisy.interval
        assert np.isinf(low).tolist() == np.isinf(high).tolist() == [False, True, True]
        assert "2 too large" in repr(noisy) and len(repr(noisy)) < 300
    assert laplace(1e18, sensitivity=1, epsilon=1).interval == (-math.inf, math.inf)
    # In many dimensions rounding to the grid asks for more noise, on the same grid.
    noisy = laplace(np.full(1000, 1e300), sensitivity=1.0, epsilon=1e-12)
    assert np.isinf(noisy.interval[0]).all()
    low, high = discrete_gaussian(2**62, sensitivity=1e-12, scale=1e-12, delta=1e-6).interval
    assert low <= 2**62 <= high
    # So is an interval where the last place of a float is not far below the noise.
    values = laplace(np.full(2000, 2.0**49 + 0.5), sensitivity=1.0, scale=1.0, confidence=0.5).interval
    share = float(((values[0] <= 2.0**49 + 0.5) & (2.0**49 + 0.5 <= values[1])).mean())
    assert share >= band(2000, 0.5)[0]


def test_intervals_of_integers_are_integers() -> None:
    truth = 2**62 + 301
    for name, (draw, terms) in WHOLE.items():
        noisy = draw(np.full(500, truth), **terms, confidence=1 - 1e-9)
        low, high = noisy.interval
        assert low.dtype == high.dtype == np.int64, name
        assert (low <= truth).all() and (truth <= high).all()
        assert (high - low == 2 * noisy.error).all()
        for end in (2**63 - 1, -(2**63)):
            low, high = draw(np.full(50, end), **terms, confidence=1 - 1e-9).interval
            assert (low <= end).all() and (end <= high).all() and (low < high).all()
            ends = draw(end, **terms, confidence=1 - 1e-9).interval
            assert -(2**63) <= ends[0] <= end <= ends[1] < 2**63
        noisy = draw(np.array([5]), **{**terms, "epsilon": None, "scale": 1e8})
        assert noisy.error > 1e8 and noisy.interval[0].dtype == np.int64
    wide = discrete_laplace(np.array([5, -5]), sensitivity=1, scale=1e25).interval
    assert wide[0].tolist() == [-(2**63)] * 2 and wide[1].tolist() == [2**63 - 1] * 2


@pytest.mark.parametrize("size", [0.0, 1.0, 123456.789, 1e12, -1e14, 1e-7, 1e200])
@pytest.mark.parametrize("scale", [1e-3, 0.7, 1.0, 12345.0])
def test_what_is_shown_contains_the_interval(size: float, scale: float) -> None:
    from decimal import Decimal

    unit = max(1.0, abs(size) / 1e11) * scale
    for noisy in (
        laplace(size, sensitivity=unit, scale=unit),
        discrete_laplace(int(min(size, 1e17)) + 7, sensitivity=1, scale=max(scale, 1.0)),
    ):
        value, error = (Decimal(part) for part in repr(noisy)[6:].split(" at ")[0].split(" ± "))
        low, high = noisy.interval
        assert value - error <= Decimal(low) and Decimal(high) <= value + error
        assert value + error - Decimal(high) <= Decimal("0.01") * error + Decimal(math.ulp(high)) * 8
    array = laplace([size, -size], sensitivity=unit, scale=unit)
    numbers, _, rest = repr(array)[7:].partition("], each ± ")
    for place, shown in enumerate(numbers.split(", ")):
        value, error = Decimal(shown), Decimal(rest.split(" at ")[0])
        assert value - error <= Decimal(array.interval[0][place])
        assert Decimal(array.interval[1][place]) <= value + error


def test_a_number_beyond_the_grid_does_not_change_what_is_shown_of_others() -> None:
    assert "± 2.997 at 95 %, but 1 too large" in repr(laplace([1e300, 3.0], sensitivity=1.0, scale=1.0))


def test_the_largest_floats_can_be_shown() -> None:
    for _ in range(20):
        for value in (1.7e308, [1.7e308, -1.7e308]):
            noisy = laplace(value, sensitivity=1.0, scale=5e307)
            assert "±" in repr(noisy) and not np.isnan(noisy.interval).any()


def test_large_integers_are_shown_as_they_are() -> None:
    noisy = discrete_laplace(np.array([2**62 + 301]), sensitivity=1, scale=1e16)
    assert f"± {int(noisy.error)} at" in repr(noisy) and str(int(noisy.value[0])) in repr(noisy)


def test_results_say_their_relation() -> None:
    answers = randomized_response(["a", "b"], categories=["a", "b"], epsilon=1.0)
    assert answers.neighboring == answers.to_dict()["neighboring"] == "replace-one"
    assert "replace-one" in repr(answers) and pickle.loads(pickle.dumps(answers)).neighboring == "replace-one"
    for relation in ("add-remove", "replace-one"):
        terms: dict[str, Any] = {"sensitivity": 1.0, "epsilon": 1.0, "neighboring": relation}
        results = laplace(1.0, **terms), laplace([1.0], **terms), exponential([1.0, 2.0], **terms)
        assert all(relation in repr(result) for result in results)


def test_answers_are_of_different_people() -> None:
    budget = Budget(epsilon=10.0, neighboring="replace-one")
    for values in (np.array([["a", "b"], ["b", "a"]]), np.zeros((2, 1), dtype=int), np.zeros((1, 0))):
        with pytest.raises(RequestError) as error:
            randomized_response(values, categories=["a", "b"], epsilon=1.0, budget=budget)
        assert error.value.field == "values" and "once for each" in error.value.remedy
    assert budget.events == []


@pytest.mark.parametrize("select", SELECTIONS)
def test_scores_are_monotone_under_add_remove_only(select: Callable[..., mechanisms.Selected]) -> None:
    budget = Budget(epsilon=10.0, neighboring="replace-one")
    terms: dict[str, Any] = {"sensitivity": 1.0, "epsilon": 1.0}
    terms |= {"budget": budget, "neighboring": "replace-one"}
    with pytest.raises(RequestError) as error:
        select([1.0, 2.0], **terms, monotone=True)
    assert (error.value.field, error.value.code) == ("monotone", "R103")
    assert "add-remove" in error.value.remedy
    assert budget.events == []
    assert select([1.0, 2.0], **terms).index in (0, 1)


def test_empty_arrays() -> None:
    for draw, terms in (REAL["laplace"], REAL["gaussian"], *WHOLE.values()):
        assert draw([], **terms).value.shape == (0,)
    assert randomized_response([], categories=["a", "b"], epsilon=1.0).value.shape == (0,)
    with pytest.raises(ReticentError) as error:
        exponential([], sensitivity=1.0, epsilon=1.0)
    assert error.value.field == "scores"


def test_a_budget_adds_up_and_refuses_before_any_noise() -> None:
    budget = Budget(epsilon=1.0, delta=1e-5)
    for draw, terms in ADDITIVE.values():
        draw(1, **{**terms, "epsilon": 0.1}, budget=budget)
    exponential([1.0, 2.0], sensitivity=1.0, epsilon=0.1, budget=budget)
    assert len(budget.events) == 6
    left = budget.left
    assert 0.3 < left < 0.95
    for draw, terms in ADDITIVE.values():
        with pytest.raises(BudgetError) as error:
            draw(1, **{**terms, "epsilon": 1.0}, budget=budget)
        assert error.value.code in ("R405", "R406")
    with pytest.raises(BudgetError):
        report_noisy_max([1.0, 2.0], sensitivity=1.0, epsilon=1.0, budget=budget)
    assert (budget.left, len(budget.events)) == (left, 6)
    # What is left is there to be spent.
    report_noisy_max([1.0, 2.0], sensitivity=1.0, epsilon=left, budget=budget)
    with pytest.raises(BudgetError):
        laplace(0.0, sensitivity=1.0, epsilon=0.01, budget=budget)


def test_a_budget_is_of_one_relation() -> None:
    budget = Budget(epsilon=1.0)
    with pytest.raises(ReticentError) as error:
        laplace(1.0, sensitivity=1.0, epsilon=0.1, neighboring="replace-one", budget=budget)
    assert error.value.field == "neighboring"
    with pytest.raises(ReticentError):
        randomized_response(["a"], categories=["a", "b"], epsilon=0.1, budget=budget)
    assert budget.events == []
    local = Budget(epsilon=1.0, neighboring="replace-one")
    randomized_response(["a"] * 100, categories=["a", "b"], epsilon=0.75, budget=local)
    # Every answer is a different person's: each of them paid once.
    assert len(local.events) == 1 and 0.249 < local.left <= 0.251
    with pytest.raises(BudgetError):
        randomized_response(["a"], categories=["a", "b"], epsilon=0.5, budget=local)
    with pytest.raises((TypeError, ReticentError)):
        laplace(1.0, sensitivity=1.0, epsilon=0.1, budget=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("select", SELECTIONS)
def test_selection(select: Callable[..., mechanisms.Selected]) -> None:
    terms = {"sensitivity": 1.0, "epsilon": 1.0}
    assert select([1.0, 2.0, 600.0], **terms, candidates=["a", "b", "c"]).value == "c"
    assert select(np.array([600, 1, 2]), **terms).index == 0
    assert ["x", "y"][select([1, 600], **terms)] == "y"
    assert select([5.0], **terms).value == 0
    named = np.array(["a", "b"])
    assert select([1.0, 600.0], **terms, candidates=named, neighboring="replace-one").value == "b"
    for wrong, field in (
        ({"scores": 3.0}, "scores"),
        ({"scores": [[1.0]]}, "scores"),
        ({"scores": [1.0, math.nan]}, "scores"),
        ({"scores": ["a"]}, "scores"),
        ({"scores": [2**60, 1]}, "scores"),
        ({"candidates": ["a"]}, "candidates"),
        ({"candidates": "ab"}, "candidates"),
        ({"candidates": {"a", "b"}}, "candidates"),
        ({"candidates": 2}, "candidates"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"sensitivity": 0.0}, "sensitivity"),
        ({"sensitivity": None}, "sensitivity"),
        ({"monotone": "yes"}, "monotone"),
        ({"neighboring": "swap"}, "neighboring"),
    ):
        with pytest.raises(ReticentError) as error:
            select(**{"scores": [1.0, 2.0], **terms, **wrong})
        assert error.value.field == field, wrong


def test_the_exponential_mechanism_has_its_probabilities() -> None:
    count = 2000
    for monotone, factor in ((False, 2), (True, 1)):
        terms: dict[str, Any] = {"sensitivity": 1.0, "epsilon": 1.0, "monotone": monotone}
        chosen = [exponential([0.0, 2.0], **terms).index for _ in range(count)]
        expected = 1 / (1 + math.exp(-2 / factor))
        least, most = band(count, expected)
        assert least <= sum(chosen) / count <= most


def test_randomized_response_keeps_what_it_says() -> None:
    count = 20_000
    truth = np.arange(count) % 3
    answers = randomized_response(truth, categories=[0, 1, 2], epsilon=1.0)
    assert answers.keep_probability == pytest.approx(math.e / (math.e + 2))
    kept = float((answers.value == truth).mean())
    least, most = band(count, answers.keep_probability)
    assert least <= kept <= most
    shares = answers.estimate(confidence=1 - 1e-9)
    # Three intervals that fail with probability 1e-9 each.
    assert all(low <= 1 / 3 <= high for low, high in shares.interval)
    assert shares.rows == count and shares.categories == ["0", "1", "2"]
    assert sum(shares.value) == pytest.approx(1)
    assert np.asarray(shares).shape == (3,) and "0.95" not in repr(shares)


def test_answers_come_back_as_they_were_declared() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    sharp: dict[str, Any] = {"epsilon": 60.0}
    cases: list[tuple[Any, list[Any]]] = [
        ("yes", ["yes", "no"]),
        (True, [False, True]),
        (1, [1, 2]),
        (["yes", "no"], ["yes", "no"]),
        (np.array([True, False]), [True, False]),
        (np.array([1, 2, 1]), [1, 2]),
        (np.array([1.0, 2.0]), [1, 2]),
        (["1", 1, 1.0], [1, 2]),
        (pandas.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pandas.Series([1, 2], dtype="Int64"), [1, 2]),
        (pandas.Series(["a", "b"], dtype="string"), ["a", "b"]),
        (polars.Series(["a", "b"]), ["a", "b"]),
        (arrow.array(["a", "b"]), ["a", "b"]),
        ([" yes ", b"no"], ["yes", "no"]),
    ]
    for values, categories in cases:
        # At ε = 60 an answer changes with probability below 1e-25.
        found = randomized_response(values, categories=categories, **sharp).value
        if isinstance(values, (str, bool, int)):
            assert found == values and type(found) is type(values)
            continue
        assert np.shape(found) == np.shape(values)
        texts = reticent._tables.labels(np.ravel(found), "x")
        given = reticent._tables.labels(np.ravel(np.asarray(values, dtype=object)), "x")
        assert texts == [text.strip() for text in given], (values, categories)
    mixed = randomized_response(["a", 1, True], categories=["a", 1, True], **sharp).value
    assert mixed.tolist() == ["a", 1, True] and mixed.dtype == object


def test_an_undeclared_answer_is_never_an_error() -> None:
    pandas = pytest.importorskip("pandas")
    strange: list[Any] = [
        "maybe",
        None,
        math.nan,
        10**400,
        object(),
        b"\xff",
        [1, 2],
        {"a": 1},
        pandas.NA,
        pandas.Timestamp(0),
    ]
    for epsilon in (1.0, 60.0):
        answers = randomized_response([*strange, "no"], categories=["yes", "no"], epsilon=epsilon)
        assert set(answers.value) <= {"yes", "no"} and len(answers.value) == len(strange) + 1
    for value in (None, "maybe", math.nan, pandas.NA, object(), pandas.Timestamp(0)):
        assert randomized_response(value, categories=["yes", "no"], epsilon=1.0).value in ("yes", "no")
    for array in (np.array([7, 8]), np.array([np.nan, 1.0]), np.array([2**64 - 1], dtype=np.uint64)):
        assert set(randomized_response(array, categories=[1, 0], epsilon=1.0).value) <= {0, 1}
    masked = np.ma.masked_array(["yes", "no"], mask=[True, False])
    assert set(randomized_response(masked, categories=["yes", "no"], epsilon=1.0).value) <= {"yes", "no"}
    # A type is not a value: that of a whole array is public.
    for wrong in (np.zeros(2, "M8[D]"), {"a": 1}, {"yes"}, iter(["yes"]), pandas.DataFrame({"a": ["yes"]})):
        with pytest.raises(DataError) as error:
            randomized_response(wrong, categories=["yes", "no"], epsilon=1.0)
        assert error.value.field == "values"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"categories": ["a"]}, "categories"),
        ({"categories": []}, "categories"),
        ({"categories": ["a", "a "]}, "categories"),
        ({"categories": ["a", ""]}, "categories"),
        ({"categories": ["a", None]}, "categories"),
        ({"categories": [1, 1.0]}, "categories"),
        ({"categories": "ab"}, "categories"),
        ({"categories": None}, "categories"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"keep_probability": 0.75}, "keep_probability"),
        ({"epsilon": None, "keep_probability": 1.5}, "keep_probability"),
        ({"epsilon": None, "keep_probability": 1.0}, "keep_probability"),
        ({"epsilon": None, "keep_probability": 0.1}, "keep_probability"),
    ],
)
def test_bad_surveys_are_refused_by_name(arguments: dict[str, Any], field: str) -> None:
    terms = {"categories": ["a", "b"], "epsilon": 1.0, **arguments}
    for survey in (randomized_response, estimate_proportions):
        with pytest.raises(ReticentError) as error:
            survey(["a", "b"], **terms)
        assert error.value.field == field, error.value


def test_estimates_are_of_released_answers() -> None:
    shares = estimate_proportions(["a"] * 60 + ["b"] * 40, categories=["a", "b"], keep_probability=0.75)
    assert shares.value == pytest.approx([0.7, 0.3]) and shares.keep_probability == 0.75
    assert [low <= own <= high for own, (low, high) in zip(shares.value, shares.interval, strict=True)]
    same = estimate_proportions(["a"] * 60 + ["b"] * 40, categories=["a", "b"], epsilon=math.log(3))
    assert same.value == pytest.approx(shares.value) and same.keep_probability == pytest.approx(0.75)
    assert pickle.loads(pickle.dumps(shares)) == shares
    # These are public: what does not fit is said, with its place.
    for wrong, code in ((["a", "c"], "R307"), (["a", None], "R307"), ([], "R308")):
        with pytest.raises(DataError) as error:
            estimate_proportions(wrong, categories=["a", "b"], epsilon=1.0)
        assert (error.value.field, error.value.code) == ("reported", code)
    with pytest.raises(ReticentError) as bad:
        estimate_proportions(["a"], categories=["a", "b"], epsilon=1.0, confidence=2.0)
    assert bad.value.field == "confidence"


def test_a_scale_that_follows_from_epsilon_is_not_an_argument() -> None:
    for name in ("laplace", "student_t", "discrete_laplace"):
        draw, terms = ADDITIVE[name]
        with pytest.raises(ReticentError) as error:
            draw(1, **{**terms, "epsilon": 1e-320})
        assert error.value.field == "epsilon", error.value


def test_events_are_what_accountants_take() -> None:
    for draw, terms in ADDITIVE.values():
        noisy = draw(1, **terms)
        log = json.dumps({"neighboring": noisy.neighboring, "events": [noisy.event]})
        assert json.loads(reticent._native.read_events(log))["events"] == [noisy.event]


def test_threads_can_draw_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    budget = Budget(epsilon=1.0)

    def spend(_: int) -> bool:
        try:
            laplace(np.zeros(2000), sensitivity=1.0, epsilon=0.1, budget=budget)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        paid = sum(pool.map(spend, range(40)))
    assert paid in (9, 10) and len(budget.events) == paid
