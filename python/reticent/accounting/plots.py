"""Curves of a guarantee."""

from __future__ import annotations

import math

from .._charts import Chart, Curve
from ..errors import InvalidValueError
from .questions import Questions
from .results import EpsilonBounds


def tradeoff_chart(events: Questions) -> Chart:
    """The least false-negative rate against the false-positive rate."""
    # Steeper lines than at this δ, or than this ε, cannot be seen.
    steepest = _quiet_epsilon(events, 1e-4)
    widest = 20.0 if steepest is None else min(max(float(steepest), 0.1), 20.0)
    lines: list[tuple[float, float]] = []
    for step in range(25):
        at = widest * step / 24
        lines.append((at, events._ask(f'{{"delta":{{"epsilon":{at!r}}}}}', quiet=True)["upper"]))
    half = [0.5 * (step / 48) ** 3 for step in range(49)]
    rates = [*half, *(1.0 - rate for rate in reversed(half))]

    def least(rate: float) -> float:
        # Every (ε, δ) that holds is a pair of straight lines below the curve.
        return max(
            0.0,
            *(
                max(1.0 - delta - math.exp(epsilon) * rate, math.exp(-epsilon) * (1.0 - delta - rate))
                for epsilon, delta in lines
            ),
        )

    curves = [
        Curve("no information", [(0.0, 1.0), (1.0, 0.0)], dashed=True),
        Curve("no attack is below", [(rate, least(rate)) for rate in rates]),
    ]
    unit = (0.0, 1.0)
    return Chart("Trade-off", "false-positive rate", "false-negative rate", curves, (unit, unit))


def epsilon_chart(events: Questions) -> Chart:
    """ε against δ."""
    asked_for = [_quiet_epsilon(events, 10.0**power) for power in range(-12, -1)]
    found = [bounds for bounds in asked_for if bounds is not None and math.isfinite(bounds)]
    if not found:
        events.epsilon(1e-2)
    upper = [(math.log10(bounds.delta), bounds.upper) for bounds in found]
    lower = [(math.log10(bounds.delta), bounds.lower) for bounds in found]
    curves = [Curve("upper bound", upper)]
    if any(low < 0.995 * up for (_, low), (_, up) in zip(lower, upper)) and any(low for _, low in lower):
        curves.append(Curve("lower bound", lower, dashed=True))
    most = max((value for _, value in upper), default=1.0)
    return Chart("ε against δ", "log₁₀ δ", "ε", curves, ((-12.0, -2.0), (0.0, 1.05 * most or 1.0)))


def _quiet_epsilon(events: Questions, delta: float) -> EpsilonBounds | None:
    """The bounds at this δ, if there are any."""
    try:
        return EpsilonBounds(events._ask(f'{{"epsilon":{{"delta":{delta!r}}}}}', quiet=True))
    except InvalidValueError:
        return None
