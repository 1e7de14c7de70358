"""The kinds of events."""

from __future__ import annotations

import json
from typing import Any

from .._refusals import invalid, missing
from .._core import brief
from .events import Events
from .values import optional, real, reals, whole
from .wire import checked_event, parts_of


def _event(kind: str, **fields: Any) -> Events:
    given = {name: value for name, value in fields.items() if value is not None}
    return Events._build(parts_of([checked_event(json.dumps({kind: given}))]))


def Gaussian(noise_multiplier: float) -> Events:  # noqa: N802
    """Gaussian noise, or anything computed from its output. ``noise_multiplier`` is σ / ℓ2 sensitivity.

    >>> Gaussian(5).epsilon(delta=1e-6) < 0.8342
    True
    """
    return _event("gaussian", noise_multiplier=real("noise_multiplier", noise_multiplier))


def ClippedSum(noise_multiplier: float) -> Events:  # noqa: N802
    """Gaussian noise on a sum of vectors of norm at most C: the gradient sum of DP-SGD.

    ``noise_multiplier`` is σ / C.

    It has the same meaning under both relations: adding a record changes the sum by at most C, replacing
    one by at most 2C.

    >>> ClippedSum(1).poisson(0.01).under("replace-one").epsilon(delta=1e-5) < 1
    True
    """
    return _event("clipped_sum", noise_multiplier=real("noise_multiplier", noise_multiplier))


def Laplace(noise_multiplier: float) -> Events:  # noqa: N802
    """Laplace noise, independent on every coordinate. ``noise_multiplier`` is b / ℓ1 sensitivity.

    >>> Laplace(2).epsilon(delta=1e-9) <= 0.5
    True
    """
    return _event("laplace", noise_multiplier=real("noise_multiplier", noise_multiplier))


def DiscreteGaussian(noise_multiplier: float, *, sensitivity: float | None = None) -> Events:  # noqa: N802
    """Discrete Gaussian noise on integers. ``noise_multiplier`` is σ / ℓ2 sensitivity.

    With the ℓ2 ``sensitivity`` of the integers the cost is exact; without it, a bound is used that holds
    for every sensitivity.

    >>> DiscreteGaussian(5, sensitivity=1).epsilon(delta=1e-6) < 0.835
    True
    """
    moved = optional("sensitivity", sensitivity)
    noise = real("noise_multiplier", noise_multiplier)
    return _event("discrete_gaussian", noise_multiplier=noise, sensitivity=moved)


def DiscreteLaplace(noise_multiplier: float, *, sensitivity: int | None = None) -> Events:  # noqa: N802
    """Discrete Laplace (two-sided geometric) noise on integers.

    ``noise_multiplier`` is scale / ℓ1 sensitivity.

    ``sensitivity`` is the ℓ1 sensitivity of the integers; 1, if it is not given, is the worst case.

    >>> DiscreteLaplace(2).epsilon(delta=1e-9) <= 0.5
    True
    """
    moved = None if sensitivity is None else whole("sensitivity", sensitivity, 1)
    noise = real("noise_multiplier", noise_multiplier)
    return _event("discrete_laplace", noise_multiplier=noise, sensitivity=moved)


def StudentT(noise_multiplier: float, *, degrees_of_freedom: int) -> Events:  # noqa: N802
    """Student-t noise, independent on every coordinate. ``noise_multiplier`` is scale / ℓ2 sensitivity.

    >>> StudentT(5, degrees_of_freedom=3).epsilon(delta=1e-6) < 0.73
    True
    """
    degrees = whole("degrees_of_freedom", degrees_of_freedom, 1)
    return _event(
        "student_t", noise_multiplier=real("noise_multiplier", noise_multiplier), degrees_of_freedom=degrees
    )


def EncodedStudentT(  # noqa: N802
    noise_multiplier: float, *, degrees_of_freedom: int, levels: Any, counts: Any
) -> Events:
    """Student-t noise on a sum to which every unit adds a vector of bounded shape.

    Its sorted magnitudes are at most a public profile: ``counts[0]`` entries of ``levels[0]``, the next
    ``counts[1]`` of ``levels[1]`` and so on, and all others are 0. ``noise_multiplier`` is scale / ℓ2 norm of
    the profile. Add-remove only, for tight bounds.

    >>> noise = EncodedStudentT(1, degrees_of_freedom=9, levels=[2, 1], counts=[1000, 4000])
    >>> (1000 * noise.poisson(0.01)).epsilon(delta=1e-5) < 1.53
    True
    """
    return _event(
        "encoded_student_t",
        noise_multiplier=real("noise_multiplier", noise_multiplier),
        degrees_of_freedom=whole("degrees_of_freedom", degrees_of_freedom, 1),
        levels=reals("levels", levels),
        counts=[whole("counts", count, 1) for count in reals("counts", counts)],
    )


def MixtureOfGaussians(  # noqa: N802
    noise_multiplier: float, *, sensitivities: Any, probabilities: Any
) -> Events:
    """Gaussian noise on a sum that one unit changes by a random amount.

    One of ``sensitivities``, with ``probabilities``.

    ``noise_multiplier`` is σ in units of sensitivity 1. Add-remove only.

    >>> users = MixtureOfGaussians(3, sensitivities=[0, 1, 2], probabilities=[0.9, 0.07, 0.03])
    >>> users.epsilon(delta=1e-6) < 0.4554
    True
    """
    return _event(
        "mixture_of_gaussians",
        sensitivities=reals("sensitivities", sensitivities),
        probabilities=reals("probabilities", probabilities),
        noise_multiplier=real("noise_multiplier", noise_multiplier),
    )


def TreeAggregation(noise_multiplier: float, *, steps: int) -> Events:  # noqa: N802
    """Running sums over a stream of ``steps`` by a binary tree with Gaussian noise on every node.

    Each unit is in one element of the stream. ``noise_multiplier`` is σ / sensitivity of one node.

    >>> TreeAggregation(2.2, steps=700).epsilon(delta=1e-6) < 7.43
    True
    """
    return _event(
        "tree_aggregation",
        noise_multiplier=real("noise_multiplier", noise_multiplier),
        steps=whole("steps", steps, 1),
    )


def RandomizedResponse(keep_probability: float, *, categories: int = 2) -> Events:  # noqa: N802
    """The true category is reported with ``keep_probability``, and otherwise one of the others, uniformly.

    >>> RandomizedResponse(0.75).epsilon(delta=1e-6) < 1.0987
    True
    """
    return _event(
        "randomized_response",
        keep_probability=real("keep_probability", keep_probability),
        categories=whole("categories", categories),
    )


def Exponential(epsilon: float) -> Events:  # noqa: N802
    """A selection by the exponential mechanism with this ε. (Permute-and-flip is :func:`Pure`.)

    >>> (Exponential(0.1) * 100).epsilon(delta=1e-6) < (Pure(0.1) * 100).epsilon(delta=1e-6)
    True
    """
    return _event("exponential", epsilon=real("epsilon", epsilon))


def Pure(epsilon: float) -> Events:  # noqa: N802
    """Anything that is ε-differentially private.

    >>> Pure(0.5).epsilon(delta=1e-6) <= 0.5
    True
    """
    return _event("pure", epsilon=real("epsilon", epsilon))


def Approximate(epsilon: float, delta: float) -> Events:  # noqa: N802
    """Anything that is (ε, δ)-differentially private.

    >>> Approximate(0.5, 1e-7).epsilon(delta=1e-6) <= 0.5
    True
    """
    return _event("approximate", epsilon=real("epsilon", epsilon), delta=real("delta", delta))


def ZCDP(rho: float) -> Events:  # noqa: N802
    """Anything that is ρ-zero-concentrated differentially private.

    >>> ZCDP(0.1).epsilon(delta=1e-6) < 2.15
    True
    """
    return _event("zcdp", rho=real("rho", rho))


def RDP(order: float, epsilon: float) -> Events:  # noqa: N802
    """Anything whose Rényi divergence at one ``order`` is at most ``epsilon``.

    >>> RDP(8, 0.2).epsilon(delta=1e-6) < 1.75
    True
    """
    return _event("rdp", order=real("order", order), epsilon=real("epsilon", epsilon))


def GDP(mu: float) -> Events:  # noqa: N802
    """Anything that is μ-Gaussian differentially private.

    >>> GDP(0.2).epsilon(delta=1e-6) == Gaussian(5).epsilon(delta=1e-6).upper
    True
    """
    return _event("gdp", mu=real("mu", mu))


def Parallel(*parts: Events) -> Events:  # noqa: N802
    """Events on disjoint parts of the data, one argument for each part: a unit is in one of them.

    >>> Parallel(Laplace(10), Laplace(2)).epsilon(delta=1e-6) <= 0.5
    True
    """
    if not parts:
        raise missing("parts", "give the events of each part")
    for part in parts:
        if not isinstance(part, Events):
            raise invalid("parts", brief(part), "give events such as Laplace(10)", "R203")
    first = parts[0]
    unit = first._unit
    for part in parts[1:]:
        unit = first._joined(part) or unit
    event = checked_event(f'{{"parallel":{{"events":[{",".join(part._one() for part in parts)}]}}}}')
    stated = any(part._stated for part in parts)
    return Events._build(parts_of([event]), first._neighboring, unit, None, stated)
