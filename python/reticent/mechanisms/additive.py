"""Noise on numbers and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _native
from .._refusals import invalid, missing, relation
from .._budget import Budget, native
from .._core import brief
from ..errors import ReticentError
from .arrays import integers, reals, shaped
from .requests import json_confidence, json_number, refused
from .results import Noisy


def laplace(
    value: Any,
    *,
    sensitivity: float,
    epsilon: float | None = None,
    scale: float | None = None,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Noisy:
    """Adds Laplace noise: pure ε for a number, or for an array as a whole.

    ``sensitivity`` bounds the ℓ1 distance between the arrays of neighboring data. Give either ``epsilon`` or
    the ``scale`` of the noise.

    >>> from reticent import mechanisms
    >>> noisy = mechanisms.laplace([10.0, 20.0, 30.0], sensitivity=2.0, scale=4.0)
    >>> round(noisy.epsilon, 9), noisy.value.shape
    (0.5, (3,))
    """
    return _perturb("laplace", value, sensitivity, epsilon, None, scale, confidence, neighboring, budget)


def gaussian(
    value: Any,
    *,
    sensitivity: float,
    delta: float,
    epsilon: float | None = None,
    scale: float | None = None,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Noisy:
    """Adds Gaussian noise with the least σ for (ε, δ), to a number or to an array as a whole.

    ``sensitivity`` bounds the ℓ2 distance between the arrays of neighboring data. Give either ``epsilon`` or
    the ``scale`` σ; ``delta`` should be well below 1 / number of people.

    >>> from reticent import mechanisms
    >>> noisy = mechanisms.gaussian(50.0, sensitivity=1.0, epsilon=1.0, delta=1e-6)
    >>> noisy.delta, 4.2 < noisy.scale < 4.3
    (1e-06, True)
    """
    return _perturb("gaussian", value, sensitivity, epsilon, delta, scale, confidence, neighboring, budget)


def student_t(
    value: Any,
    *,
    sensitivity: float,
    epsilon: float | None = None,
    scale: float | None = None,
    degrees_of_freedom: int = 3,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Noisy:
    """Adds Student-t noise, which has heavier tails than Laplace noise.

    Its δ, below 1e-30, is that of the sampler. ``sensitivity`` bounds the ℓ2 distance between the arrays of
    neighboring data. Give either ``epsilon`` or the ``scale``.

    >>> from reticent import mechanisms
    >>> mechanisms.student_t(50.0, sensitivity=1.0, epsilon=1.0).delta < 1e-30
    True
    """
    is_whole = isinstance(degrees_of_freedom, (int, np.integer)) and not isinstance(degrees_of_freedom, bool)
    if not is_whole or not 1 <= degrees_of_freedom <= 1000:
        remedy = "give a whole number from 1 to 1000"
        raise invalid("degrees_of_freedom", brief(degrees_of_freedom), remedy)
    kind, degrees = "student-t", int(degrees_of_freedom)
    return _perturb(kind, value, sensitivity, epsilon, None, scale, confidence, neighboring, budget, degrees)


def discrete_laplace(
    value: Any,
    *,
    sensitivity: int,
    epsilon: float | None = None,
    scale: float | None = None,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Noisy:
    """Adds discrete Laplace (two-sided geometric) noise to an integer, or to an array of integers as a whole.

    ``sensitivity`` is a whole number that bounds the ℓ1 distance between the arrays of neighboring data. Give
    either ``epsilon`` or the ``scale``. A result beyond 64 bits is the nearest number of 64 bits.

    >>> from reticent import mechanisms
    >>> noisy = mechanisms.discrete_laplace(1000, sensitivity=1, epsilon=1.0)
    >>> type(noisy.value).__name__, noisy.error
    ('int', 3.0)
    """
    kind = "discrete-laplace"
    return _perturb(kind, value, sensitivity, epsilon, None, scale, confidence, neighboring, budget)


def discrete_gaussian(
    value: Any,
    *,
    sensitivity: float,
    delta: float,
    epsilon: float | None = None,
    scale: float | None = None,
    confidence: float = 0.95,
    neighboring: str = "add-remove",
    budget: Budget | None = None,
) -> Noisy:
    """Adds discrete Gaussian noise to an integer, or to an array of integers as a whole.

    ``sensitivity`` bounds the ℓ2 distance between the arrays of neighboring data. Give either ``epsilon`` or
    the ``scale`` σ. A result beyond 64 bits is the nearest number of 64 bits.

    >>> from reticent import mechanisms
    >>> noisy = mechanisms.discrete_gaussian([5, 7], sensitivity=1.0, epsilon=1.0, delta=1e-6)
    >>> noisy.value.dtype.name, noisy.epsilon <= 1.0
    ('int64', True)
    """
    kind = "discrete-gaussian"
    return _perturb(kind, value, sensitivity, epsilon, delta, scale, confidence, neighboring, budget)


def _perturb(
    mechanism: str,
    value: Any,
    sensitivity: float,
    epsilon: float | None,
    delta: float | None,
    scale: float | None,
    confidence: float,
    neighboring: str,
    budget: Budget | None,
    degrees_of_freedom: int = 3,
) -> Noisy:
    is_whole = mechanism.startswith("discrete")
    flat, shape = integers(value) if is_whole else reals(value, "value")
    if sensitivity is None:
        raise missing("sensitivity", "give the largest change that one row can make, e.g. sensitivity=1.0")
    request = (
        f'{{"mechanism":"{mechanism}","sensitivity":{json_number("sensitivity", sensitivity)},'
        f'"epsilon":{json_number("epsilon", epsilon)},"delta":{json_number("delta", delta)},'
        f'"scale":{json_number("scale", scale)},"degrees_of_freedom":{degrees_of_freedom},'
        f'"confidence":{json_confidence(confidence)},"neighboring":"{relation(neighboring)}"}}'
    )
    draw: Any = _native.perturb_integers if is_whole else _native.perturb_reals
    try:
        noisy, cost, own, error = draw(request, flat, native(budget))
    except ReticentError as refusal:
        raise refused(refusal, scale) from None
    limit = _limit(mechanism, own, sensitivity, epsilon if scale is None else None)
    value = shaped(noisy, shape)
    return Noisy(value, cost, own, error, float(confidence), mechanism, neighboring, limit)


def _limit(mechanism: str, scale: float, sensitivity: float, epsilon: float | None) -> float:
    """The size from which on a number may have been cut off at the end of the noise's grid.

    The grid of Laplace noise ends beyond 2^54 times sensitivity / ε, or times the scale if that is given. The
    grid of Gaussian and Student-t noise ends beyond 2^65 times the scale. Discrete Laplace noise has no grid.
    """
    if mechanism == "discrete-laplace":
        return math.inf
    if mechanism == "discrete-gaussian":
        return 2.0**64 * scale
    if mechanism == "laplace" and epsilon is not None:
        scale = min(scale, float(sensitivity) / float(epsilon))
    return 2.0**50 * scale
