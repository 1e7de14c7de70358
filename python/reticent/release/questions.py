"""The statistics of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _tables
from .._core import brief
from .._refusals import invalid, missing
from .values import name_of, number_of, numbers_of, truth_of, whole_of

Column = str | int


class Question:
    """One statistic of a page: made by its methods, such as :meth:`mean`.

    All of them take ``name`` (what it is called in the outcome), ``weight`` (its share of the budget where that is split by
    weights), ``error`` (the wanted error, where the budget is split by error) and ``size`` (the number of rows of a group for
    which that error is to hold).

    >>> from reticent.release import Question
    >>> Question.mean("age", bounds=(0, 120), weight=2)
    Question(kind='mean', column='age', bounds=[0.0, 120.0], weight=2.0)
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Any]

    def __init__(self, kind: str, **fields: Any) -> None:
        if not isinstance(kind, str):
            raise invalid("kind", brief(kind), "give the name of a statistic, such as 'mean'", "R104")
        kept = {name: value for name, value in fields.items() if value is not None}
        object.__setattr__(self, "_fields", {"kind": _tables.text(kind, "kind"), **kept})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a question cannot be changed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Question({', '.join(f'{name}={value!r}' for name, value in self._fields.items())})"

    def to_dict(self) -> dict[str, Any]:
        """The fields, as in a ``report.toml``."""
        return dict(self._fields)

    @classmethod
    def count(cls, column: Column | None = None, **terms: Any) -> Question:
        """The number of rows, or of rows that have a value in ``column``."""
        return cls("count", column=None if column is None else name_of("column", column), **_terms(terms))

    @classmethod
    def people(cls, **terms: Any) -> Question:
        """The number of people: of distinct values of the page's ``unit``."""
        return cls("people", **_terms(terms))

    @classmethod
    def sum(cls, column: Column, *, bounds: Any = None, integers: bool = False, **terms: Any) -> Question:
        """The sum of a column whose values are clamped to public ``bounds``."""
        return cls("sum", **_numeric(column, bounds, integers), **_terms(terms))

    @classmethod
    def mean(cls, column: Column, *, bounds: Any = None, integers: bool = False, **terms: Any) -> Question:
        """The mean of a column whose values are clamped to public ``bounds``."""
        return cls("mean", **_numeric(column, bounds, integers), **_terms(terms))

    @classmethod
    def variance(
        cls, column: Column, *, bounds: Any = None, integers: bool = False, **terms: Any
    ) -> Question:
        """The variance, with the number of values as divisor."""
        return cls("variance", **_numeric(column, bounds, integers), **_terms(terms))

    @classmethod
    def stddev(
        cls, column: Column, *, bounds: Any = None, integers: bool = False, **terms: Any
    ) -> Question:
        """The standard deviation: the root of the variance."""
        return cls("standard-deviation", **_numeric(column, bounds, integers), **_terms(terms))

    @classmethod
    def median(
        cls,
        column: Column,
        *,
        bounds: Any = None,
        integers: bool = False,
        candidates: int | None = None,
        **terms: Any,
    ) -> Question:
        """The median, among ``candidates`` that are evenly spaced between the bounds."""
        candidates = whole_of("candidates", candidates)
        return cls("median", **_numeric(column, bounds, integers), candidates=candidates, **_terms(terms))

    @classmethod
    def quantiles(
        cls,
        column: Column,
        quantiles: Sequence[float] = (0.25, 0.5, 0.75),
        *,
        bounds: Any = None,
        integers: bool = False,
        candidates: int | None = None,
        **terms: Any,
    ) -> Question:
        """Several quantiles from one release; they never cross."""
        levels = numbers_of("quantiles", quantiles, "give numbers between 0 and 1, such as [0.25, 0.5, 0.75]")
        own = {"quantiles": levels, "candidates": whole_of("candidates", candidates)}
        return cls("quantiles", **_numeric(column, bounds, integers), **own, **_terms(terms))

    @classmethod
    def histogram(
        cls,
        column: Column,
        *,
        categories: Iterable[Any] | None = None,
        bins: Iterable[float] | None = None,
        dates: Iterable[Any] | None = None,
        **terms: Any,
    ) -> Question:
        """The rows in each of the public ``categories``, between the edges ``bins``, or between ``dates``."""
        return cls("histogram", **cells(column, categories, bins, dates), **_terms(terms))

    @classmethod
    def mode(cls, column: Column, *, categories: Iterable[Any] | None = None, **terms: Any) -> Question:
        """The most common of the public ``categories``."""
        return cls("mode", **cells(column, categories, None, None), **_terms(terms))

    @classmethod
    def top(
        cls, column: Column, k: int, *, categories: Iterable[Any] | None = None, **terms: Any
    ) -> Question:
        """The ``k`` most common of the public ``categories``, with their counts."""
        if k is None:
            raise missing("k", "give how many categories are wanted, such as k=3")
        own = {"k": whole_of("k", k), **cells(column, categories, None, None)}
        return cls("top-k", **own, **_terms(terms))

    @classmethod
    def proportion(cls, column: Column, value: Any, **terms: Any) -> Question:
        """The proportion of rows that have a ``value``."""
        own = {"column": name_of("column", column), "value": _tables.labels([value], "value")[0]}
        return cls("proportion", **own, **_terms(terms))

    @classmethod
    def distinct(cls, column: Column, *, categories: Iterable[Any] | None = None, **terms: Any) -> Question:
        """How many of the declared values occur."""
        return cls("distinct-count", **cells(column, categories, None, None), **_terms(terms))

    @classmethod
    def covariance(cls, x: Column, y: Column, *, bounds: Any = None, **terms: Any) -> Question:
        """The covariance of two columns; ``bounds`` are two pairs."""
        return cls("covariance", **_pair(x, y, bounds), **_terms(terms))

    @classmethod
    def correlation(cls, x: Column, y: Column, *, bounds: Any = None, **terms: Any) -> Question:
        """The correlation of two columns; ``bounds`` are two pairs."""
        return cls("correlation", **_pair(x, y, bounds), **_terms(terms))

    @classmethod
    def trend(cls, x: Column, y: Column, *, bounds: Any = None, **terms: Any) -> Question:
        """The line of ``y`` on ``x`` by least squares; ``bounds`` are two pairs."""
        return cls("trend", **_pair(x, y, bounds), **_terms(terms))

    @classmethod
    def contingency(cls, columns: Mapping[str, Any], *, margins: bool = True, **terms: Any) -> Question:
        """The rows in each combination of cells: ``columns`` has the categories, or the edges of bins, of each column.

        >>> from reticent.release import Question
        >>> Question.contingency({"sex": ["f", "m"], "age": [0, 40, 120]}).to_dict()["columns"][1]
        {'column': 'age', 'bins': [0.0, 40.0, 120.0]}
        """
        if not isinstance(columns, Mapping):
            remedy = "give the cells of each column, such as {'sex': ['f', 'm'], 'age': [0, 40, 120]}"
            raise invalid("columns", brief(columns), remedy, "R104")
        listed = [_declared(name, own) for name, own in columns.items()]
        return cls("contingency", columns=listed, margins=truth_of("margins", margins), **_terms(terms))


def question(given: Any) -> dict[str, Any]:
    """A question as plain data: one that was made, or the fields of a ``report.toml``."""
    if isinstance(given, Question):
        return given.to_dict()
    if isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return dict(given)
    remedy = "give questions such as Question.mean('age', bounds=(0, 120))"
    raise invalid("questions", brief(given), remedy, "R104")


def _terms(terms: dict[str, Any]) -> dict[str, Any]:
    """What all questions have in common."""
    for other in sorted(set(terms) - {"name", "weight", "error", "size"}):
        remedy = "give name, weight, error or size, or leave it out"
        raise invalid(other, brief(terms[other]), f"not an argument of a question: {remedy}", "R104")
    name = terms.get("name")
    if name is not None and not isinstance(name, str):
        raise invalid("name", brief(name), "give a name", "R104")
    return {
        "name": None if name is None else _tables.text(name, "name"),
        "weight": number_of("weight", terms.get("weight")),
        "error": number_of("error", terms.get("error")),
        "size": whole_of("size", terms.get("size")),
    }


def pair_of(bounds: Any) -> list[float] | None:
    """The lower and the upper bound."""
    if bounds is None:
        return None
    remedy = "give the lower and the upper bound, such as (0, 120)"
    pair = numbers_of("bounds", bounds, remedy)
    if len(pair) != 2:
        raise invalid("bounds", brief(bounds), remedy)
    return pair


def _numeric(column: Column, bounds: Any, integers: bool) -> dict[str, Any]:
    own: dict[str, Any] = {"column": name_of("column", column), "bounds": pair_of(bounds)}
    return {**own, "integers": True} if truth_of("integers", integers) else own


def _pair(x: Column, y: Column, bounds: Any) -> dict[str, Any]:
    remedy = "give a pair of bounds for each column, such as [(0, 120), (0, 99)]"
    both = None
    if bounds is not None:
        listed = None if isinstance(bounds, (str, bytes, Mapping)) else _tables.listed(bounds, "bounds")
        if listed is None or len(listed) != 2 or any(not hasattr(own, "__iter__") for own in listed):
            raise invalid("bounds", brief(bounds), remedy)
        both = [pair_of(own) for own in listed]
    return {"columns": [name_of("x", x), name_of("y", y)], "bounds": both}


def cells(
    column: Column, categories: Iterable[Any] | None, bins: Iterable[float] | None, dates: Iterable[Any] | None
) -> dict[str, Any]:
    """A column with declared cells."""
    edges = "give increasing edges, such as [0, 10, 20]"
    return {
        "column": name_of("column", column),
        "categories": None if categories is None else _tables.labels(categories, "categories"),
        "bins": None if bins is None else numbers_of("bins", bins, edges),
        "dates": None if dates is None else [_date(own) for own in _tables.listed(dates, "dates")],
    }


def _date(value: Any) -> str:
    """A date or a time as text."""
    import datetime

    import numpy as np

    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, str):
        return _tables.text(value, "dates")
    raise invalid("dates", brief(value), "give dates, such as '2013-06-01'", "R104")


def _declared(name: Any, own: Any) -> dict[str, Any]:
    """Categories, or edges of bins if they are numbers."""
    listed = _tables.listed(own, "columns") if not isinstance(own, (str, bytes)) else None
    if listed is None:
        raise invalid("columns", brief(own), "give a list of categories or of edges", "R104")
    is_number = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in listed]
    found = cells(name, None, listed, None) if all(is_number) and listed else cells(name, listed, None, None)
    return {key: value for key, value in found.items() if value is not None}
