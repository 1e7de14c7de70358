"""Counts by labels that are not known beforehand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from reticent import Budget, errors, mechanisms


def test_common_labels_come_out_and_rare_ones_do_not() -> None:
    counts = Counter({"a": 50_000, "b": 40_000, "lone": 1})
    found = mechanisms.stable_histogram(counts, epsilon=1.0, delta=1e-9)
    # The lone label comes out with probability 1e-9.
    assert list(found.value) == ["a", "b"]
    # Off by 100 with probability below e^-100.
    assert all(abs(found.value[label] - counts[label]) < 100 for label in "ab")
    assert found.epsilon <= 1.0 and found.delta <= 1e-9 and found.threshold > 10
    assert found.to_dict()["threshold"] == found.threshold


def test_the_cost_is_charged() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    mechanisms.stable_histogram({"a": 9}, epsilon=0.9, delta=1e-7, budget=budget)
    with pytest.raises(errors.BudgetError):
        mechanisms.stable_histogram({"a": 9}, epsilon=0.9, delta=1e-7, budget=budget)


@pytest.mark.parametrize(
    ("counts", "more", "field"),
    [
        ([1, 2], {}, "counts"),
        ({"a": -1}, {}, "counts"),
        ({"a": 1.5}, {}, "counts"),
        ({"a": True}, {}, "counts"),
        ({1: 1}, {}, "counts"),
        ({"\ud800": 1}, {}, "counts"),
        ({"a": 2**64}, {}, "counts"),
        ({"a": 1}, {"delta": 0.0}, "delta"),
        ({"a": 1}, {"epsilon": 0.0}, "epsilon"),
        ({"a": 1}, {"epsilon": float("nan")}, "epsilon"),
        ({"a": 1}, {"confidence": 1.0}, "confidence"),
        ({"a": 1}, {"neighboring": "none"}, "neighboring"),
    ],
)
def test_what_means_nothing_is_refused(counts: Any, more: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.ReticentError) as caught:
        mechanisms.stable_histogram(counts, **({"epsilon": 1.0, "delta": 1e-6} | more))
    assert caught.value.field == field
