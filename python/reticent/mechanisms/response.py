"""Randomized response: answers that are randomized one by one, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from .. import _native, _tables
from .._refusals import invalid
from .._budget import Budget, native
from ..errors import DataError, ReticentError, RequestError
from .arrays import Integers, Shape
from .requests import json_confidence, json_number, refused
from .results import Proportions, Randomized


def randomized_response(
    values: Any,
    *,
    categories: Sequence[Any],
    epsilon: float | None = None,
    keep_probability: float | None = None,
    budget: Budget | None = None,
) -> Randomized:
    """Randomizes every answer by itself (the local model).

    An answer is kept with some probability, and is one of the other categories otherwise. ``values`` is one
    answer, or an array of answers with one dimension, each of a different person; its length is public. For
    several questions, call this once for each question, with a ``budget``. ``categories`` are the possible
    answers, which are public too. A missing or undeclared answer counts as one of them: it is never an error,
    because that would disclose it. Values match categories by their text, so ``1``, ``1.0`` and ``"1"`` are
    the same answer.

    The charge to a ``budget``, which must be one of ``"replace-one"``, is what each person pays.

    >>> from reticent import mechanisms
    >>> answers = mechanisms.randomized_response([0, 1, 1, 0], categories=[0, 1], keep_probability=0.75)
    >>> answers.value.shape, round(answers.epsilon, 4)
    ((4,), 1.0986)
    """
    listed, lookup = _categories(categories)
    codes, shape = _codes(values, lookup, "values")
    if shape is not None and len(shape) > 1:
        remedy = "give one answer per person; for several questions, call this once for each, with a budget"
        raise RequestError(
            f"values: has {len(shape)} dimensions: {remedy}", code="R104", field="values", remedy=remedy
        )
    request = _response(len(listed), epsilon, keep_probability)
    # An undeclared answer has a number that no category has: what it counts as is the library's to decide.
    codes[codes < 0] = len(listed)
    try:
        reported, cost, keep, _ = _native.randomize_answers(request, codes.astype(np.uint64), native(budget))
    except ReticentError as error:
        raise refused(error) from None
    places = reported.astype(np.int64)
    if shape is None:
        return Randomized(listed[int(places[0])], cost, listed, keep)
    value = _category_array(listed)[places].reshape(shape)
    value.setflags(write=False)
    return Randomized(value, cost, listed, keep)


def estimate_proportions(
    reported: Any,
    *,
    categories: Sequence[Any],
    epsilon: float | None = None,
    keep_probability: float | None = None,
    confidence: float = 0.95,
) -> Proportions:
    """Estimates the proportions of all categories from randomized answers.

    This costs nothing: the answers are released already. ``reported`` are answers that were randomized with
    these ``categories``, at this ``epsilon`` or with this ``keep_probability``.

    >>> from reticent import mechanisms
    >>> reported = ["yes"] * 600 + ["no"] * 400
    >>> shares = mechanisms.estimate_proportions(reported, categories=["yes", "no"], keep_probability=0.75)
    >>> [round(share, 6) for share in shares.value]
    [0.7, 0.3]
    """
    listed, lookup = _categories(categories)
    codes, _ = _codes(reported, lookup, "reported")
    if codes.size == 0:
        raise DataError(
            "reported: there are no answers: give at least one",
            code="R308",
            field="reported",
            remedy="give at least one answer",
        )
    wrong = np.flatnonzero(codes < 0)
    if wrong.size:
        raise DataError(
            f"reported: the answer at position {wrong[0]} is missing or not one of the categories: "
            "declare every value, or fix the answer",
            code="R307",
            field="reported",
            remedy="declare every value, or fix the answer",
        )
    counts = [int(count) for count in np.bincount(codes, minlength=len(listed))]
    request, level = _response(len(listed), epsilon, keep_probability), float(json_confidence(confidence))
    try:
        shares = _native.estimate_shares(request, counts, level)
        keep = _native.randomize_answers(request, np.zeros(0, np.uint64))[2]
    except ReticentError as error:
        raise refused(error) from None
    return Proportions(
        {
            "query": {"kind": "estimate", "categories": list(lookup)},
            "value": [share for share, _, _ in shares],
            "standard_error": [error for _, error, _ in shares],
            "interval": [list(interval) for _, _, interval in shares],
            "confidence": level,
            "rows": int(codes.size),
            "keep_probability": keep,
        }
    )


def _response(categories: int, epsilon: float | None, keep_probability: float | None) -> str:
    """The request of randomized answers."""
    return (
        f'{{"categories":{categories},"epsilon":{json_number("epsilon", epsilon)},'
        f'"keep_probability":{json_number("keep_probability", keep_probability)}}}'
    )


def _categories(categories: Any) -> tuple[list[Any], dict[str, int]]:
    """Public categories, and the place of each by its text."""
    listed, named = _tables.labelled(categories, "categories")
    texts = [text.strip() for text in named]
    lookup = {text: place for place, text in enumerate(texts)}
    remedy = None
    if any(not text for text in texts):
        remedy = "one of the names is empty: leave it out"
    elif len(lookup) < len(texts):
        remedy = "a category is listed twice: list it once"
    elif len(texts) < 2:
        remedy = "give at least 2 categories"
    if remedy:
        raise invalid("categories", ",".join(texts), remedy, "R205")
    return listed, lookup


def _codes(values: Any, lookup: dict[str, int], argument: str) -> tuple[Integers, Shape]:
    """The category of every value, or -1; and the shape, none for a scalar. No value is an error."""
    if isinstance(values, (str, bytes, np.generic)) or not hasattr(values, "__iter__"):
        return np.array([_code(values, lookup)], dtype=np.int64), None
    if isinstance(values, (Mapping, Set)) or hasattr(values, "columns") or not hasattr(values, "__len__"):
        remedy = "give one answer, or an array of answers"
        raise DataError(
            f"{argument}: {remedy}, not {type(values).__name__}", code="R309", field=argument, remedy=remedy
        )
    if _tables.is_of(values, "pyarrow") and hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif _tables.is_of(values, "polars") and hasattr(values, "to_list"):
        values = values.to_list()
    elif _tables.is_of(values, "pandas") and not isinstance(values.dtype, np.dtype):
        values = values.astype(object).to_numpy()
    if isinstance(values, (list, tuple)):
        array = np.fromiter(values, dtype=object)
    elif isinstance(values, np.ma.MaskedArray):
        array = np.ma.filled(values.astype(object), None)
    else:
        array = _tables._array(values, argument)
    if array.dtype.kind in "biufU":
        distinct, inverse = np.unique(array, return_inverse=True)
        known = np.array([_code(value, lookup) for value in distinct.tolist()] or [-1], dtype=np.int64)
        return known[inverse.reshape(-1)] if array.size else np.zeros(0, np.int64), array.shape
    if array.dtype.kind not in "OST":
        raise _tables._unsupported(argument, str(array.dtype))
    codes = np.fromiter((_code(value, lookup) for value in array.flat), dtype=np.int64, count=array.size)
    return codes, array.shape


def _code(value: Any, lookup: dict[str, int]) -> int:
    if isinstance(value, str):
        return lookup.get(value.strip(), -1)
    try:
        return -1 if _tables.is_missing(value) else lookup.get(_tables.label(value, "values").strip(), -1)
    except DataError:
        return -1


def _category_array(listed: list[Any]) -> np.ndarray[Any, Any]:
    kinds = set(map(type, listed))
    if len(kinds) == 1 and next(iter(kinds)) in (str, bool, int, float):
        array = np.array(listed)
        if array.dtype.kind in "Ubif":
            return array
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
