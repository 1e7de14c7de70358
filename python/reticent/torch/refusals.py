"""Refusals, in one wording."""

from __future__ import annotations

from ..errors import DataError, RequestError


def layer(name: str, remedy: str) -> DataError:
    """A layer that has no private gradient."""
    return DataError(f"{name}: {remedy}", code="R318", field="module", value=name, remedy=remedy)


def misuse(what: str, remedy: str) -> RequestError:
    """A loop that does what the plan does not count."""
    return RequestError(f"{what}: {remedy}", code="R103", field=what, remedy=remedy)
