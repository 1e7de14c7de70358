"""Surveys in the local model: every answer is randomized by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

from .. import _native, _tables
from .._refusals import missing
from .._budget import Budget, native
from .._core import load, request
from ..errors import RequestError
from ..mechanisms import Proportions, Randomized, estimate_proportions, randomized_response
from .results import RandomizedFile
from .values import Path, argument_names, column_of, file_of, need_column, needing, number_of, shown_progress


@overload
def randomize(
    data: Path,
    column: str | int | None = None,
    *,
    categories: Iterable[Any],
    epsilon: float,
    out: Path,
    keep_columns: Iterable[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> RandomizedFile: ...


@overload
def randomize(
    data: Any,
    column: str | int | None = None,
    *,
    categories: Iterable[Any],
    epsilon: float,
    budget: Budget | None = None,
) -> Randomized: ...


@needing
def randomize(
    data: Any,
    column: str | int | None = None,
    *,
    categories: Iterable[Any],
    epsilon: float,
    out: Path | None = None,
    keep_columns: Iterable[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> RandomizedFile | Randomized:
    """Randomizes every answer of a column by itself (the local model); :func:`estimate` recovers proportions.

    Every row is a different person's answer, and the number of rows is public. A missing or undeclared answer
    counts as one of the public ``categories``. The answers of a file are written to the CSV file ``out``,
    with the ``keep_columns``, which are **not protected**; ``reading`` says how the file is read (see
    :func:`reticent.read_table`); data in memory give the answers back as
    :class:`reticent.mechanisms.Randomized`.

    >>> from reticent import release
    >>> survey = {"smokes": ["yes", "no", "no"]}
    >>> answers = release.randomize(survey, "smokes", categories=["yes", "no"], epsilon=1.0)
    >>> answers.value.shape
    (3,)
    """
    listed, named = _tables.labelled(categories, "categories")
    if not _tables.is_path(data):
        _only_files(reading)
        if out is not None or keep_columns is not None:
            field = "out" if out is not None else "keep_columns"
            raise RequestError(
                f"{field}: only for files: data in memory are returned",
                code="R103",
                field=field,
                remedy="leave it out",
            )
        return randomized_response(_answers(data, column), categories=listed, epsilon=epsilon, budget=budget)
    if out is None:
        raise missing("out", "give the CSV file to write, such as out='randomized.csv'")
    if epsilon is None:
        raise missing("epsilon", "give a privacy budget, such as 1")
    fields = {
        "file": file_of("data", data),
        "reading": _tables.reading_of(reading),
        "column": need_column(column),
        "categories": named,
        "epsilon": number_of("epsilon", epsilon),
        "out": file_of("out", out),
        "keep_columns": None if keep_columns is None else _tables.labels(keep_columns, "keep_columns"),
    }
    with argument_names():
        answer = _native.randomize(request(fields), native(budget), shown_progress(progress))
    return RandomizedFile(load(answer))


@needing
def estimate(
    data: Any,
    column: str | int | None = None,
    *,
    categories: Iterable[Any],
    epsilon: float | None = None,
    keep_probability: float | None = None,
    confidence: float = 0.95,
    reading: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Proportions:
    """Estimates proportions from answers that :func:`randomize` made.

    This costs nothing: the answers are released already. Give the ``epsilon`` of the randomization or its
    ``keep_probability``, and the same ``categories``.

    >>> from reticent import release
    >>> reported = {"smokes": ["yes"] * 600 + ["no"] * 400}
    >>> shares = release.estimate(reported, "smokes", categories=["yes", "no"], keep_probability=0.75)
    >>> [round(share, 6) for share in shares.value]
    [0.7, 0.3]
    """
    named = _tables.labels(categories, "categories")
    if not _tables.is_path(data):
        _only_files(reading)
        return estimate_proportions(
            _answers(data, column),
            categories=named,
            epsilon=epsilon,
            keep_probability=keep_probability,
            confidence=confidence,
        )
    fields = {
        "file": file_of("data", data),
        "reading": _tables.reading_of(reading),
        "column": need_column(column),
        "categories": named,
        "epsilon": number_of("epsilon", epsilon),
        "keep_probability": number_of("keep_probability", keep_probability),
        "confidence": number_of("confidence", confidence),
    }
    with argument_names():
        return Proportions(load(_native.estimate(request(fields), shown_progress(progress))))


def _only_files(reading: Mapping[str, Any] | None) -> None:
    if reading is not None:
        raise RequestError(
            "reading: only for files: data in memory are not read from text",
            code="R103",
            field="reading",
            remedy="leave it out",
        )


def _answers(data: Any, column: str | int | None) -> Any:
    """The answers of a survey in memory."""
    if _tables.single(data) is not None:
        return data
    if column is None:
        raise missing("column", "give the name of a column, such as column='smokes'")
    return _tables.pick(data, column_of(data, column), "data")
