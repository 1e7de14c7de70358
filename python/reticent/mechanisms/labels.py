"""Counts by labels that are not known beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _native
from .._budget import Budget, native
from .._core import brief
from .._refusals import relation
from ..errors import ReticentError, RequestError
from .requests import json_confidence, json_number, refused
from .results import FoundLabels


def stable_histogram(
    counts: Mapping[str, int],
    *,
    epsilon: float,
    delta: float,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> FoundLabels:
    """Counts of rows by labels that are found in the data: rare labels stay hidden.

    ``counts`` maps labels to their exact numbers of rows; every row has one label at most. A label comes out
    only if its noisy count reaches a threshold, so δ is the probability that the label of a single row does.

    >>> from reticent import mechanisms
    >>> found = mechanisms.stable_histogram({"flu": 100_000, "plague": 1}, epsilon=1.0, delta=1e-9)
    >>> list(found.value)
    ['flu']
    """
    request = (
        f'{{"epsilon":{json_number("epsilon", epsilon)},"delta":{json_number("delta", delta)},'
        f'"confidence":{json_confidence(confidence)},"neighboring":"{relation(neighboring)}"}}'
    )
    checked = _checked(counts)
    try:
        value, threshold, cost, error = _native.find_labels(request, checked, native(budget))
    except ReticentError as error_:
        raise refused(error_) from None
    return FoundLabels(value, cost, threshold, error, float(confidence), neighboring)


def _checked(counts: Any) -> dict[str, int]:
    """Labels as text with their numbers of rows."""
    remedy = "give a mapping of labels (text) to numbers of rows, such as collections.Counter(labels)"
    if not isinstance(counts, Mapping):
        raise _wrong(counts, remedy)
    checked: dict[str, int] = {}
    for label, count in counts.items():
        is_whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not isinstance(label, str) or not is_whole or not 0 <= int(count) < 2**63:
            raise _wrong({label: count}, remedy)
        try:
            label.encode()
        except UnicodeEncodeError:
            raise _wrong({label: count}, remedy) from None
        checked[label] = int(count)
    return checked


def _wrong(value: object, remedy: str) -> RequestError:
    shown = brief(value)
    message = f"counts = {shown}: {remedy}"
    return RequestError(message, code="R104", field="counts", value=shown, remedy=remedy)
