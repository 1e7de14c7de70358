"""Choices among candidates by their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from .. import _native, _tables
from .._refusals import conflict, invalid, missing, relation
from .._budget import Budget, native
from .._core import brief
from ..errors import ReticentError, RequestError
from .arrays import reals
from .requests import json_number, refused
from .results import Selected


def exponential(
    scores: Any,
    *,
    sensitivity: float,
    epsilon: float,
    candidates: Sequence[Any] | None = None,
    monotone: bool = False,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Selected:
    """Chooses a candidate by the exponential mechanism: the higher its score, the likelier.

    ``sensitivity`` bounds the change of **each** score between neighboring data. ``candidates`` are public
    and name what the scores are of. Set ``monotone`` only if all scores move the same way between neighboring
    data, as counts do under add-remove: the same ε then chooses better. Under replace-one, one row can raise
    one score and lower another, so ``monotone`` is refused.

    >>> from reticent import mechanisms
    >>> mechanisms.exponential([1.0, 400.0], sensitivity=1.0, epsilon=1.0).value
    1
    """
    return _select("exponential", scores, sensitivity, epsilon, candidates, monotone, neighboring, budget)


def permute_and_flip(
    scores: Any,
    *,
    sensitivity: float,
    epsilon: float,
    candidates: Sequence[Any] | None = None,
    monotone: bool = False,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Selected:
    """Chooses a candidate by permute-and-flip.

    At the same ε it is never worse than the exponential mechanism. The arguments are those of
    :func:`exponential`.

    >>> from reticent import mechanisms
    >>> colors = ["red", "blue"]
    >>> mechanisms.permute_and_flip([400.0, 1.0], sensitivity=1.0, epsilon=1.0, candidates=colors).value
    'red'
    """
    rule = "permute-and-flip"
    return _select(rule, scores, sensitivity, epsilon, candidates, monotone, neighboring, budget)


def report_noisy_max(
    scores: Any,
    *,
    sensitivity: float,
    epsilon: float,
    candidates: Sequence[Any] | None = None,
    monotone: bool = False,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Selected:
    """Chooses the candidate whose score is the largest after discrete Laplace noise.

    The arguments are those of :func:`exponential`.

    >>> from reticent import mechanisms
    >>> mechanisms.report_noisy_max([0, 0, 500], sensitivity=1.0, epsilon=1.0, monotone=True).index
    2
    """
    rule = "report-noisy-max"
    return _select(rule, scores, sensitivity, epsilon, candidates, monotone, neighboring, budget)


def _select(
    rule: str,
    scores: Any,
    sensitivity: float,
    epsilon: float,
    candidates: Sequence[Any] | None,
    monotone: bool,
    neighboring: str,
    budget: Budget | None,
) -> Selected:
    flat, shape = reals(scores, "scores")
    if shape is None or len(shape) != 1:
        remedy = "give a list with one score for each candidate"
        raise RequestError(f"scores: {remedy}", code="R104", field="scores", remedy=remedy)
    named = None if candidates is None else _candidates(candidates)
    if named is not None and len(named) != flat.size:
        raise RequestError(
            f"candidates: there are {len(named)}, and {flat.size} scores: give one score for each candidate",
            code="R103",
            field="candidates",
            value=str(len(named)),
            remedy="give one score for each candidate",
        )
    if not isinstance(monotone, (bool, np.bool_)):
        raise invalid("monotone", brief(monotone), "give True or False")
    if monotone and relation(neighboring) == "replace-one":
        remedy = "scores such as counts are monotone under add-remove only: leave it out, or use add-remove"
        raise conflict("monotone", True, remedy)
    if sensitivity is None:
        raise missing("sensitivity", "give the largest change of a score, e.g. sensitivity=1.0")
    if epsilon is None:
        raise missing("epsilon", "give a privacy budget, such as 1")
    request = (
        f'{{"rule":"{rule}","sensitivity":{json_number("sensitivity", sensitivity)},'
        f'"epsilon":{json_number("epsilon", epsilon)},"monotone":{"true" if monotone else "false"},'
        f'"neighboring":"{relation(neighboring)}"}}'
    )
    try:
        index, cost = _native.choose(request, flat, native(budget))
    except ReticentError as refusal:
        raise refused(refusal) from None
    return Selected(index if named is None else named[index], cost, index, neighboring)


def _candidates(candidates: Any) -> list[Any]:
    is_ordered = hasattr(candidates, "__iter__") and not isinstance(candidates, (str, bytes, Mapping, Set))
    if not is_ordered or hasattr(candidates, "columns"):
        raise invalid("candidates", brief(candidates), "give a list with a name for each score")
    return _tables.listed(candidates, "candidates")
