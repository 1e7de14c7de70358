"""Statistics of one column."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, Protocol, cast

from .. import _native, _tables
from .._refusals import invalid, missing, one_of, relation
from .._budget import Budget, native
from .._core import brief, load, request, warn
from .results import Preview, Release
from .values import (
    Path,
    argument_names,
    column_of,
    file_of,
    needing,
    number_of,
    numbers_of,
    shown_progress,
    truth_of,
    whole_of,
)

_P = ParamSpec("_P")
_P_co = ParamSpec("_P_co")


class _Asked(NamedTuple):
    """A statistic that is asked for."""

    data: Any
    column: str | int | None
    question: dict[str, Any]
    terms: dict[str, Any]
    budget: Budget | None
    progress: bool | None
    needs_column: bool = True


class Statistic(Protocol[_P_co]):
    """A statistic: call it for a private answer, or ask for its ``preview``."""

    def __call__(self, *args: _P_co.args, **kwargs: _P_co.kwargs) -> Release: ...

    def preview(self, *args: _P_co.args, **kwargs: _P_co.kwargs) -> Preview:
        """What the release would be like: its error and its cost. Nothing is read or spent."""
        ...


def _statistic(asks: Callable[_P, _Asked]) -> Statistic[_P]:
    ask = needing(asks)

    @functools.wraps(ask)
    def release(*args: _P.args, **kwargs: _P.kwargs) -> Release:
        asked = ask(*args, **kwargs)
        table, text = _request(asked)
        with argument_names():
            answer = _native.release(text, table, native(asked.budget), shown_progress(asked.progress))
        outcome = Release(load(answer))
        warn(outcome.warnings)
        return outcome

    def preview(*args: _P.args, **kwargs: _P.kwargs) -> Preview:
        table, text = _request(ask(*args, **kwargs))
        with argument_names():
            return Preview(load(_native.preview(text, table)))

    shown = inspect.signature(ask).replace(return_annotation="Release")
    release.__signature__ = shown  # type: ignore[attr-defined]
    release.__annotations__ = {**ask.__annotations__, "return": "Release"}
    preview.__doc__ = f"The error and the cost of :func:`{ask.__name__}`. Nothing is read or spent."
    preview.__signature__ = shown.replace(return_annotation="Preview")  # type: ignore[attr-defined]
    release.preview = preview  # type: ignore[attr-defined]
    return cast("Statistic[_P]", release)


@_statistic
def count(
    data: Any,
    column: str | int | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    error: float | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    mechanism: str | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """Counts rows: all, those that have a value in ``column``, or those that satisfy ``where``.

    ``where`` is a condition such as ``"sex=f and age>=18"``. Conditions are joined by ``and``, ``or``, ``not`` and parentheses:
    comparisons (``= != < <= > >=``), ``carrier in (AA, UA)``, ``age between 18 and 65``, ``age is missing``, dates
    (``date >= 2013-05-01``) and arithmetic between columns (``arr_delay - dep_delay > 15``). A value with signs goes into quotes, a
    column with signs, or on the right of ``=``, into backquotes. A comparison with a missing value is never true, and neither is
    its negation.

    ``reading`` says how the files of a path are read: see :func:`reticent.read_table`.

    Give ``epsilon``, or a target ``error``: the least ε that reaches it at the ``confidence`` is spent.
    ``mechanism`` is ``"laplace"`` (the default), ``"gaussian"`` (the default with a ``delta``) or
    ``"discrete-gaussian"``.

    >>> from reticent import release
    >>> people = {"age": [31, 45, 62, 28] * 250}
    >>> answer = release.count(people, where="age>=40", epsilon=1.0)
    >>> isinstance(answer.value, int)
    True
    """
    question = {"kind": "count", "error": number_of("error", error)}
    terms = _terms(epsilon, delta, mechanism, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress, needs_column=False)


@_statistic
def sum(
    data: Any,
    column: str | int | None = None,
    *,
    bounds: Sequence[float],
    epsilon: float | None = None,
    delta: float | None = None,
    error: float | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    integers: bool = False,
    count_clamped: bool = False,
    schema: Path | None = None,
    mechanism: str | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """Sums a column whose values are clamped to public ``bounds``.

    Give ``epsilon``, or a target ``error``. ``integers`` declares that a column holds integers if its type
    does not. ``count_clamped`` spends 5 % of ε on a count of the values that were clamped. ``schema`` is the
    path of a public schema: a warning says if the bounds exclude values that it allows. Other arguments are
    those of :func:`count`.

    >>> from reticent import release
    >>> visits = {"visits": [2, 0, 5, 1] * 250}
    >>> answer = release.sum(visits, "visits", bounds=(0, 10), epsilon=1.0, integers=True)
    >>> answer.query["bounds"]
    [0.0, 10.0]
    """
    numeric = _numeric(bounds, integers, count_clamped, schema)
    question = {"kind": "sum", "error": number_of("error", error), **numeric}
    terms = _terms(epsilon, delta, mechanism, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def mean(
    data: Any,
    column: str | int | None = None,
    *,
    bounds: Sequence[float],
    epsilon: float,
    delta: float | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    integers: bool = False,
    count_clamped: bool = False,
    schema: Path | None = None,
    mechanism: str | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """The mean of a column whose values are clamped to public ``bounds``.

    The arguments are those of :func:`sum`.

    >>> from reticent import release
    >>> import numpy as np
    >>> ages = np.repeat([31.0, 45.0, 62.0, 28.0], 250)
    >>> 0 <= release.mean(ages, bounds=(0, 100), epsilon=1.0).value <= 100
    True
    """
    question = {"kind": "mean", **_numeric(bounds, integers, count_clamped, schema)}
    terms = _terms(epsilon, delta, mechanism, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def histogram(
    data: Any,
    column: str | int | None = None,
    *,
    categories: Iterable[Any] | None = None,
    bins: Iterable[float] | None = None,
    epsilon: float,
    delta: float | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    mechanism: str | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """Counts the rows in each of the public ``categories``, or between the public edges ``bins``.

    The edges ``[0, 10, 20]`` have the bins ``[0, 10)`` and ``[10, 20]``. A row falls into one cell at most,
    so all counts together cost what one of them costs. Other arguments are those of :func:`count`.

    >>> from reticent import release
    >>> answer = release.histogram({"age": [31, 45, 62, 28] * 250}, "age", bins=[0, 40, 60, 120], epsilon=1.0)
    >>> answer.labels, len(answer.value)
    (['[0,40)', '[40,60)', '[60,120]'], 3)
    """
    remedy = "give increasing edges, such as [0, 10, 20]"
    question = {
        "kind": "histogram",
        "categories": None if categories is None else _tables.labels(categories, "categories"),
        "bins": None if bins is None else numbers_of("bins", bins, remedy),
    }
    terms = _terms(epsilon, delta, mechanism, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def quantile(
    data: Any,
    column: str | int | None = None,
    *,
    quantile: float,
    bounds: Sequence[float],
    epsilon: float,
    candidates: int | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    integers: bool = False,
    count_clamped: bool = False,
    schema: Path | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """A quantile (0.001 to 0.999) of a column whose values are clamped to public ``bounds``.

    The answer is chosen among at most ``candidates`` (1001 by default) evenly spaced values between the
    bounds. Other arguments are those of :func:`sum`.

    >>> from reticent import release
    >>> ages = {"age": [31, 45, 62, 28] * 250}
    >>> answer = release.quantile(ages, "age", quantile=0.9, bounds=(0, 100), epsilon=1.0)
    >>> answer.interval[0] <= answer.value <= answer.interval[1]
    True
    """
    question = {
        "kind": "quantile",
        "quantile": number_of("quantile", quantile),
        "candidates": whole_of("candidates", candidates),
        **_numeric(bounds, integers, count_clamped, schema),
    }
    terms = _terms(epsilon, None, None, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def median(
    data: Any,
    column: str | int | None = None,
    *,
    bounds: Sequence[float],
    epsilon: float,
    candidates: int | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    integers: bool = False,
    count_clamped: bool = False,
    schema: Path | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """The median of a column whose values are clamped to public ``bounds``.

    The arguments are those of :func:`quantile`.

    >>> from reticent import release
    >>> answer = release.median([31, 45, 62, 28] * 250, bounds=(0, 100), epsilon=1.0)
    >>> answer.query["quantile"]
    0.5
    """
    question = {
        "kind": "quantile",
        "quantile": 0.5,
        "candidates": whole_of("candidates", candidates),
        **_numeric(bounds, integers, count_clamped, schema),
    }
    terms = _terms(epsilon, None, None, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def mode(
    data: Any,
    column: str | int | None = None,
    *,
    categories: Iterable[Any],
    epsilon: float,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    rule: str = "permute-and-flip",
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """The most common of the public ``categories``.

    It is chosen by the ``rule`` ``"permute-and-flip"`` (which is never worse than the exponential mechanism),
    ``"exponential"`` or ``"report-noisy-max"``. The answer has a ``shortfall``: at most so many rows fewer
    than the most common category has, with the ``confidence``.

    >>> from reticent import release
    >>> release.mode({"sex": ["f"] * 900 + ["m"] * 100}, "sex", categories=["f", "m"], epsilon=1.0).value
    'f'
    """
    rules = ("permute-and-flip", "exponential", "report-noisy-max")
    question = {
        "kind": "mode",
        "categories": _tables.labels(categories, "categories"),
        "rule": one_of("rule", rule, rules),
    }
    terms = _terms(epsilon, None, None, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


@_statistic
def proportion(
    data: Any,
    column: str | int | None = None,
    *,
    value: Any,
    epsilon: float,
    delta: float | None = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    mechanism: str | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> _Asked:
    """The proportion of rows that have a ``value`` in a column. Other arguments are those of :func:`count`.

    >>> from reticent import release
    >>> answer = release.proportion({"smokes": [True, False] * 500}, "smokes", value=True, epsilon=1.0)
    >>> 0 <= answer.interval[0] <= answer.interval[1] <= 1
    True
    """
    question = {"kind": "proportion", "value": _tables.labels([value], "value")[0]}
    terms = _terms(epsilon, delta, mechanism, neighboring, confidence, where, reading)
    return _Asked(data, column, question, terms, budget, progress)


def _request(asked: _Asked) -> tuple[_native.Table | None, str]:
    """The table in memory, if the data are, and the request."""
    data, where, reading = asked.data, asked.terms["filter"], asked.terms["reading"]
    name = None if asked.column is None else column_of(data, asked.column)
    alone = _tables.single(data, name)
    if alone is not None:
        name, data = (alone[0] if asked.needs_column else name), alone[1]
    if name is None and asked.needs_column:
        raise missing("column", "give the name of a column, such as column='age'")
    table, file = None, ""
    if _tables.is_path(data):
        file = file_of("data", data)
    else:

        def is_read(own: str) -> bool:
            return own == name or (where is not None and own in where)

        known = _tables.names(data)
        is_known = where is None and (name is None or known is None or name in known)
        if reading["derive"]:
            # A column may be computed from any other.
            table = _tables.table(data, reading=reading)
        else:
            table = _tables.table(data, read=is_read, rest=not is_known, reading=reading)
    return table, request({"file": file, "question": {**asked.question, "column": name}, **asked.terms})


def _terms(
    epsilon: float | None,
    delta: float | None,
    mechanism: str | None,
    neighboring: str,
    confidence: float,
    where: str | None,
    reading: Mapping[str, Any] | None,
) -> dict[str, Any]:
    if where is not None and not isinstance(where, str):
        raise invalid("where", brief(where), "give a condition as text, such as 'sex=f and age>=18'")
    if confidence is None:
        raise missing("confidence", "give a number strictly between 0 and 1, e.g. 0.95")
    noises = ("laplace", "gaussian", "discrete-gaussian")
    return {
        "epsilon": number_of("epsilon", epsilon),
        "delta": number_of("delta", delta),
        "mechanism": None if mechanism is None else one_of("mechanism", mechanism, noises),
        "neighboring": relation(neighboring),
        "confidence": number_of("confidence", confidence),
        "filter": None if where is None else _tables.text(where, "where"),
        "reading": _tables.reading_of(reading),
    }


def _numeric(
    bounds: Sequence[float], integers: bool, count_clamped: bool, schema: Path | None
) -> dict[str, Any]:
    """What all statistics of numbers have in common."""
    remedy = "give the lower and the upper bound, such as (0, 120)"
    pair = numbers_of("bounds", bounds, remedy)
    if len(pair) != 2:
        raise invalid("bounds", brief(bounds), remedy)
    return {
        "bounds": pair,
        "integers": truth_of("integers", integers),
        "count_clamped": truth_of("count_clamped", count_clamped),
        "schema": None if schema is None else file_of("schema", schema),
    }
