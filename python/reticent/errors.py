"""Errors, one class for each family of codes.

Every error has ``code`` (such as ``"R201"``; ``reticent.explain("R201")`` tells what it means), ``field`` (the argument it is
about, or ``None``), ``value`` (what was given, as text, or ``None``) and ``remedy`` (what to do).

>>> import reticent
>>> try:
...     reticent.mechanisms.laplace(10.0, sensitivity=1.0, epsilon=-1.0)
... except reticent.errors.InvalidValueError as error:
...     print(error.code, error.field)
R201 epsilon
"""

from __future__ import annotations

__all__ = [
    "AuditError",
    "BudgetError",
    "DataError",
    "InternalError",
    "InvalidValueError",
    "ModelError",
    "PrivacyError",
    "ReticentError",
    "RequestError",
]


class ReticentError(Exception):
    """What all errors of the package have in common."""

    code: str
    field: str | None
    value: str | None
    remedy: str

    def __init__(
        self,
        message: str,
        *,
        code: str = "R901",
        field: str | None = None,
        value: str | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.value = value
        self.remedy = remedy or message

    def __reduce__(self) -> tuple[object, ...]:
        details = {"code": self.code, "field": self.field, "value": self.value, "remedy": self.remedy}
        return (_rebuild, (type(self), self.args[0], details))


def _rebuild(kind: type[ReticentError], message: str, details: dict[str, str]) -> ReticentError:
    return kind(message, **details)


class RequestError(ReticentError, ValueError):
    """R1xx: an argument that is missing, unknown, or does not go with another one."""


class InvalidValueError(ReticentError, ValueError):
    """R2xx: a value outside of its range."""


class DataError(ReticentError, ValueError):
    """R3xx: a file, a table, a column or a schema that cannot be used."""


class PrivacyError(ReticentError, ValueError):
    """R4xx: what no guarantee covers."""


class BudgetError(PrivacyError):
    """R405, R406, R7xx: a budget that does not cover what is asked for, or that cannot be charged."""


class ModelError(ReticentError, ValueError):
    """R5xx: a stored model or run that is missing, broken, or does not fit the data."""


class AuditError(ReticentError, ValueError):
    """R6xx: an audit that the records cannot support."""


class InternalError(ReticentError, RuntimeError):
    """R9xx: the machine, or a defect of the program."""


_FAMILIES: dict[int, type[ReticentError]] = {
    1: RequestError,
    2: InvalidValueError,
    3: DataError,
    4: PrivacyError,
    5: ModelError,
    6: AuditError,
}


def from_refusal(
    message: str, *, code: int, field: str | None, value: str | None, remedy: str
) -> ReticentError:
    """The error of a refusal by the library."""
    kind = BudgetError if code in (405, 406) or code // 100 == 7 else _FAMILIES.get(code // 100, InternalError)
    return kind(message, code=f"R{code}", field=field, value=value, remedy=remedy)
