"""Requests to the library, and its refusals with the names of arguments."""

from __future__ import annotations

import math
import re

from .._refusals import missing
from .._core import finite
from ..errors import ReticentError

#: Integers up to here are exact as floats.
_EXACT = 2**53

#: What the library calls by other names than the arguments here.
_NAMES = {
    "dimension": "value",
    "keep": "keep_probability",
    "sigma": "scale",
    "total": "reported",
}


def json_number(name: str, value: float | None) -> str:
    """A number as JSON, which has finite ones only; ranges are the library's to check."""
    if value is None:
        return "null"
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return repr(value)
    if type(value) is not float or not math.isfinite(value):
        finite(**{name: value})
        value = float(value)
    return repr(value)


def json_confidence(confidence: float) -> str:
    """The confidence of an interval as JSON."""
    if confidence is None:
        raise missing("confidence", "give a number strictly between 0 and 1, e.g. 0.95")
    return json_number("confidence", confidence)


def refused(error: ReticentError, scale: float | None = None) -> ReticentError:
    """The same refusal with the name of the argument. A scale that was not given follows from ε."""
    text, remedy, field = str(error), error.remedy, error.field
    inner = re.match(r"([a-z_]+): (?=([a-z_]+) = )", text)
    if inner and (inner[2] == "sensitivity" or inner[2] in ("scale", "sigma") and scale is not None):
        text, field = text[inner.end() :], inner[2]
        remedy = remedy.partition(": ")[2] or remedy
    if field is None:
        named = re.match(r"([a-z_]+)(?= = )", text)
        field = named[1] if named else None
    if field is None or (field == error.field and field not in _NAMES):
        return error
    name = _NAMES.get(field, field)
    if text.startswith((f"{field} =", f"{field}:")):
        text = name + text[len(field) :]
    return type(error)(text, code=error.code, field=name, value=error.value, remedy=remedy)
