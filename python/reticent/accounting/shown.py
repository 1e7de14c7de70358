"""Numbers and cautions for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any


def rounded_up(value: float, digits: int = 4) -> str:
    """At most so many significant digits, rounded up."""
    return _digits(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 4) -> str:
    """At most so many significant digits, rounded down."""
    return _digits(value, digits, ROUND_FLOOR)


def _digits(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    rounded = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value))
    return plain(float(rounded))


def plain(value: float) -> str:
    """All digits, without an empty fraction."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)


def bracket(lower: float, upper: float) -> str:
    """Both bounds, with as many digits as tell them apart."""
    if lower <= 0.0:
        return "no lower bound is known" if upper > 0.0 else "0"
    digits = 4

    def shown() -> float:
        return float(rounded_up(upper, digits)) - float(rounded_down(lower, digits))

    while digits < 9 and shown() > 1.5 * (upper - lower):
        digits += 1
    return f"between {rounded_down(lower, digits)} and {rounded_up(upper, digits)}"


def caution(warning: Mapping[str, Any]) -> str:
    """What to mind about an answer, in words."""
    kind = warning.get("kind")
    if kind == "shuffled":
        lower = warning.get("lower")
        least = "" if lower is None else f"; they lose at least epsilon = {rounded_down(lower)}"
        return f"shuffled batches: no amplification by sampling is claimed for them{least}"
    if kind == "balls-in-bins":
        return "balls in bins: holds only if every record drew its batch of each epoch independently"
    if kind == "balls-in-bins-unamplified":
        return (
            "balls in bins: amplification is known for Gaussian events under add-remove; elsewhere an epoch "
            "is charged as the event itself"
        )
    if kind == "large-delta":
        records = warning["records"]
        return (
            f"delta = {plain(warning['delta'])} is not below 1 / number of records = 1/{records}: it would "
            "allow giving one record away"
        )
    if kind == "large-epsilon":
        shown = rounded_up(warning["epsilon"])
        return f"epsilon = {shown} hardly protects: outputs may become e^{shown} times likelier"
    if kind == "most-steps":
        return "more steps than 2^40 were not looked for"
    if kind == "least-noise":
        return "hardly any noise meets this budget: a smaller noise multiplier was not looked for"
    return str(kind)
