"""Refusals of arguments, in one wording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._core import brief
from .errors import InvalidValueError, RequestError


def invalid(name: str, value: str, remedy: str, code: str = "R201") -> InvalidValueError:
    """The error of a value that is out of its range."""
    return InvalidValueError(f"{name} = {value}: {remedy}", code=code, field=name, value=value, remedy=remedy)


def missing(name: str, remedy: str) -> RequestError:
    """The error of an argument that is needed."""
    return RequestError(f"{name}: missing: {remedy}", code="R102", field=name, remedy=remedy)


def conflict(name: str, value: object, remedy: str) -> RequestError:
    """The error of an argument that does not go with another one."""
    text = f"{name} = {value}: {remedy}"
    return RequestError(text, code="R103", field=name, value=str(value), remedy=remedy)


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """One of a few names."""
    if isinstance(value, str) and value in known:
        return value
    remedy = f"unknown: give {', '.join(known[:-1])} or {known[-1]}"
    raise invalid(name, value if isinstance(value, str) else brief(value), remedy, "R203")


def relation(neighboring: Any) -> str:
    """A neighboring relation."""
    return one_of("neighboring", neighboring, ("add-remove", "replace-one"))
