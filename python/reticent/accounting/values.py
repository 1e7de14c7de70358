"""Arguments of accounting."""

from __future__ import annotations

import json
import math
import operator
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._refusals import invalid, missing
from .._core import brief, finite
from ..errors import DataError, ReticentError

#: The accountants, from the tightest to the loosest.
ACCOUNTANTS = ("pld", "rdp", "moments", "optimal", "advanced", "basic")
#: Counts are whole numbers of 64 bits.
MOST = 2**64 - 1
#: The largest number up to which a float has every whole number.
MOST_EXACT = 2**53


def is_flag(value: object) -> bool:
    """Whether it is true or false, of Python or of NumPy."""
    return type(value).__name__ in ("bool", "bool_")


def real(name: str, value: Any) -> float:
    """A finite number."""
    if type(value) is float and value - value == 0.0:
        return value
    if getattr(value, "ndim", None) or isinstance(value, (complex, list, tuple, Mapping)) or is_flag(value):
        raise invalid(name, brief(value), "give one number, such as 1 or 0.5", "R202")
    if value is None:
        raise missing(name, "give a number, such as 1 or 0.5")
    if isinstance(value, int) and value.bit_length() > 1023:
        raise invalid(name, brief(value), "give a finite number")
    finite(**{name: value})
    return float(value)


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number; 1e4 and 10.0 are whole too, as far as a float is exact."""
    remedy = f"give a whole number of at least {least}"
    if value is None:
        raise missing(name, remedy)
    if getattr(value, "ndim", None) or is_flag(value):
        raise invalid(name, brief(value), remedy, "R202")
    try:
        number = operator.index(value)
    except TypeError:
        float_ = real(name, value)
        if float_ != math.floor(float_) or abs(float_) > MOST_EXACT:
            raise invalid(name, str(value), remedy) from None
        number = int(float_)
    if not least <= number <= MOST:
        remedy = remedy if number < least else f"give at most {MOST}"
        raise invalid(name, brief(number), remedy)
    return number


def items(value: Any) -> list[Any] | None:
    """What is in a list or the like; none for texts, mappings and what cannot be gone through."""
    if isinstance(value, (str, bytes, Mapping)):
        return None
    try:
        return list(value)
    except TypeError:
        return None


def reals(name: str, values: Any, infinite: bool = False) -> list[float]:
    """One or several numbers."""
    if isinstance(values, (str, bytes, Mapping)):
        raise invalid(name, brief(values), "give numbers, such as [0.01, 0.1]", "R202")
    listed = items(values)
    listed = [values] if listed is None else listed
    checked = []
    for place, value in enumerate(listed):
        if infinite and isinstance(value, float) and value == math.inf:
            checked.append(math.inf)
            continue
        try:
            checked.append(real(f"{name}[{place}]" if len(listed) > 1 else name, value))
        except ReticentError as error:
            error.field = name
            raise
    return checked


def renamed(error: ReticentError, names: Mapping[str, str]) -> ReticentError:
    """The same error with the names of the arguments."""

    def text(message: str) -> str:
        return re.sub(r"\b\w+\b", lambda word: names.get(word.group(), word.group()), message)

    field = None if error.field is None else names.get(error.field, error.field)
    return type(error)(
        text(str(error)), code=error.code, field=field, value=error.value, remedy=text(error.remedy)
    )


def placed(error: ReticentError, field: str, place: str) -> ReticentError:
    """The same error about a place inside an argument."""
    return type(error)(
        f"{place}: {error}", code=error.code, field=field, value=error.value, remedy=error.remedy
    )


def optional(name: str, value: Any) -> float | None:
    """A finite number, or none."""
    return None if value is None else real(name, value)


def to_json(value: Any, name: str) -> str:
    """Plain data as JSON."""
    try:
        return json.dumps(value, allow_nan=False, default=_scalar)
    except (TypeError, ValueError, RecursionError) as error:
        remedy = f"give JSON or plain data with finite numbers ({error})"
        raise DataError(f"{name}: {remedy}", code="R314", field=name, remedy=remedy) from None


def _scalar(value: Any) -> Any:
    """A number of NumPy as Python's."""
    if hasattr(value, "item") and not getattr(value, "ndim", None):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def contents(path: str | os.PathLike[str]) -> bytes:
    """What is in a file."""
    try:
        return Path(path).read_bytes()
    except TypeError:
        raise invalid("path", brief(path), "give a path", "R203") from None
    except FileNotFoundError:
        code, remedy = "R301", "no such file: check the path"
    except IsADirectoryError:
        code, remedy = "R305", "it is a folder: give a JSON file"
    except (OSError, ValueError) as error:
        code, remedy = "R302", f"cannot be read: {error}"
    raise DataError(f"{path}: {remedy}", code=code, field="path", value=str(path), remedy=remedy)


def unit_of(unit: Any) -> str | None:
    """The name of what is protected, or none."""
    if unit is not None and not isinstance(unit, str):
        remedy = 'name what one unit of protection is, such as "user"'
        raise invalid("unit", brief(unit), remedy, "R203")
    return unit
