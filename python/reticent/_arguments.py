"""Arguments, checked. Every refusal names the argument."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _tables
from ._core import brief, finite
from .errors import ReticentError, from_refusal


def refused(code: int, field: str, problem: str, remedy: str, value: object = None) -> ReticentError:
    """The error of this code about an argument: what is wrong, then what to do."""
    shown = value[:80] if isinstance(value, str) else None if value is None else brief(value)
    return from_refusal(f"{field}: {problem}: {remedy}", code=code, field=field, value=shown, remedy=remedy)


def real(argument: str, value: Any) -> float | None:
    """A finite number, or none."""
    finite(**{argument: value})
    return None if value is None else float(value)


def whole(argument: str, value: Any, least: int = 0) -> int | None:
    """A whole number that is not too small, or none."""
    finite(**{argument: value})
    if value is None:
        return None
    if int(value) != value:
        raise refused(202, argument, f"{value} is not a whole number", "give one, such as 1", value)
    if not least <= int(value) < 1 << 63:
        remedy = f"give a whole number of at least {least}"
        raise refused(201, argument, f"{brief(value)} is out of range", remedy, value)
    return int(value)


def text(argument: str, value: Any) -> str | None:
    """Text, or none."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise refused(104, argument, f"not text but {type(value).__name__}", "give text", value)
    return _tables.text(value, argument)


def flag(argument: str, value: Any) -> bool:
    """A truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise refused(104, argument, "not True or False", "give one of them", value)
    return bool(value)


def path(argument: str, value: Any, remedy: str = "give a path") -> str:
    """A path as text."""
    if not _tables.is_path(value) or not os.fsdecode(value):
        raise refused(104, argument, f"not a path but {brief(value)}", remedy, value)
    return _tables.text(os.fsdecode(value), argument)


def items(values: Any) -> list[Any] | None:
    """The items of a list or an array; none for a text, a mapping, and what has no items."""
    if isinstance(values, (str, bytes, Mapping)):
        return None
    try:
        return list(values.tolist() if hasattr(values, "tolist") else values)
    except Exception:
        return None


def pair(argument: str, bounds: Any) -> tuple[float, float]:
    """Two finite numbers, the first below the second."""
    try:
        if isinstance(bounds, (str, bytes)) or any(isinstance(end, (str, bytes, bool)) for end in bounds):
            raise TypeError
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError, OverflowError):
        low, high = math.nan, math.nan
    if not (math.isfinite(high - low) and low < high):
        remedy = "give (low, high), two finite numbers, the first below the second"
        raise refused(204, argument, f"{brief(bounds)} are not bounds", remedy, bounds)
    return low, high


def bounds_of(bounds: Any, names: Sequence[str], argument: str = "bounds") -> list[tuple[float, float]]:
    """A pair of bounds for each column: one pair stands for all of them."""
    remedy = "give (low, high), or a pair for each column"
    if isinstance(bounds, Mapping):
        pairs = {str(name): own for name, own in bounds.items()}
        wrong = ", ".join(sorted(set(pairs) ^ set(names))[:8])
        if wrong:
            problem = f"its names are not those of the columns ({wrong})"
            raise refused(204, argument, problem, remedy, wrong)
        return [pair(argument, pairs[name]) for name in names]
    ends = items(bounds)
    if ends is None:
        return [pair(argument, bounds)]
    if len(ends) == 2 and not any(isinstance(end, Iterable) for end in ends):
        return [pair(argument, ends)] * len(names)
    if len(ends) != len(names):
        raise refused(204, argument, f"{len(ends)} pairs for {len(names)} columns", remedy, len(ends))
    return [pair(argument, own) for own in ends]


@contextlib.contextmanager
def naming(argument: str) -> Iterator[None]:
    """Refusals that name no argument are about this one."""
    try:
        yield
    except ReticentError as error:
        error.field = error.field or argument
        raise
