"""Statistics that are released as a page of one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .pages import one
from .questions import Question
from .sheets import Page



def people(data: Any, *, unit: str, **terms: Any) -> Page:
    """The number of people: of distinct values of the column ``unit``. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> visits = {"patient": [1, 1, 2, 3] * 250}
    >>> release.people(visits, unit="patient", epsilon=1.0)["people"].unit
    'people'
    """
    return one(data, Question.people(), {**terms, "unit": unit})


def variance(data: Any, column: str | int, *, bounds: Sequence[float], **terms: Any) -> Page:
    """The variance of a column whose values are clamped to public ``bounds``. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> ages = {"age": [31, 45, 62, 28] * 250}
    >>> release.variance(ages, "age", bounds=(0, 100), epsilon=1.0)["variance of age"].estimate >= 0
    True
    """
    return one(data, Question.variance(column, bounds=bounds), terms)


def stddev(data: Any, column: str | int, *, bounds: Sequence[float], **terms: Any) -> Page:
    """The standard deviation of a column whose values are clamped to public ``bounds``. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> ages = {"age": [31, 45, 62, 28] * 250}
    >>> len(release.stddev(ages, "age", bounds=(0, 100), epsilon=1.0).rows)
    1
    """
    return one(data, Question.stddev(column, bounds=bounds), terms)


def quantiles(
    data: Any,
    column: str | int,
    quantiles: Sequence[float] = (0.25, 0.5, 0.75),
    *,
    bounds: Sequence[float],
    candidates: int | None = None,
    **terms: Any,
) -> Page:
    """Several quantiles of a column from one release; they never cross. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> ages = {"age": [31, 45, 62, 28] * 250}
    >>> found = release.quantiles(ages, "age", [0.1, 0.9], bounds=(0, 100), epsilon=1.0)
    >>> low, high = (row["estimate"] for row in found.rows)
    >>> low <= high
    True
    """
    return one(data, Question.quantiles(column, quantiles, bounds=bounds, candidates=candidates), terms)


def covariance(data: Any, x: str | int, y: str | int, *, bounds: Sequence[Sequence[float]], **terms: Any) -> Page:
    """The covariance of two columns that are clamped to a pair of ``bounds`` each. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> people = {"age": [31, 45, 62, 28] * 250, "visits": [1, 2, 5, 1] * 250}
    >>> found = release.covariance(people, "age", "visits", bounds=[(0, 100), (0, 10)], epsilon=1.0)
    >>> found.questions[0]["kind"]
    'covariance'
    """
    return one(data, Question.covariance(x, y, bounds=bounds), terms)


def correlation(data: Any, x: str | int, y: str | int, *, bounds: Sequence[Sequence[float]], **terms: Any) -> Page:
    """The correlation of two columns that are clamped to a pair of ``bounds`` each. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> people = {"age": [31, 45, 62, 28] * 250, "visits": [1, 2, 5, 1] * 250}
    >>> found = release.correlation(people, "age", "visits", bounds=[(0, 100), (0, 10)], epsilon=1.0)
    >>> low, high = found.rows[0]["interval"]
    >>> -1 <= low <= high <= 1
    True
    """
    return one(data, Question.correlation(x, y, bounds=bounds), terms)


def trend(data: Any, x: str | int, y: str | int, *, bounds: Sequence[Sequence[float]], **terms: Any) -> Page:
    """The line of ``y`` on ``x`` by least squares: slope and intercept. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> people = {"age": [31, 45, 62, 28] * 250, "visits": [1, 2, 5, 1] * 250}
    >>> found = release.trend(people, "age", "visits", bounds=[(0, 100), (0, 10)], epsilon=1.0)
    >>> [row["cell"] for row in found.rows]
    ['slope', 'intercept']
    """
    return one(data, Question.trend(x, y, bounds=bounds), terms)


def distinct(data: Any, column: str | int, *, categories: Iterable[Any], **terms: Any) -> Page:
    """How many of the declared ``categories`` occur. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> cities = {"city": ["a"] * 900 + ["b"] * 100}
    >>> release.distinct(cities, "city", categories=["a", "b", "c"], epsilon=1.0).rows[0]["unit"]
    'values'
    """
    return one(data, Question.distinct(column, categories=categories), terms)


def top(data: Any, column: str | int, k: int, *, categories: Iterable[Any], **terms: Any) -> Page:
    """The ``k`` most common of the declared ``categories``, with their counts. Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> cities = {"city": ["a"] * 900 + ["b"] * 400 + ["c"] * 10}
    >>> [row["cell"] for row in release.top(cities, "city", 2, categories=["a", "b", "c"], epsilon=5.0).rows]
    ['a', 'b']
    """
    return one(data, Question.top(column, k, categories=categories), terms)


def contingency(data: Any, columns: Mapping[str, Any], *, margins: bool = True, **terms: Any) -> Page:
    """The rows in each combination of cells of several ``columns``, each with its categories or its edges of bins.

    Other arguments are those of :func:`page`.

    >>> from reticent import release
    >>> people = {"sex": ["f", "m"] * 500, "age": [31, 45, 62, 28] * 250}
    >>> found = release.contingency(people, {"sex": ["f", "m"], "age": [0, 40, 120]}, epsilon=1.0)
    >>> len(found.rows) >= 4
    True
    """
    return one(data, Question.contingency(columns, margins=margins), terms)
