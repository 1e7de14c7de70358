"""Budgets in memory."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from . import _native
from ._core import at_most, brief, finite, number
from .errors import InvalidValueError, RequestError


class Budget:
    """A limit on what everything charged to it may cost together.

    Pass it as ``budget=`` to releases, mechanisms, fits and trainings about the same data. What would exceed the limit is refused
    before any noise is drawn (:class:`reticent.errors.BudgetError`). The limit holds also if questions are chosen after earlier
    answers.

    >>> import reticent
    >>> budget = reticent.Budget(epsilon=1.0)
    >>> noisy = reticent.mechanisms.laplace(100.0, sensitivity=1.0, epsilon=0.75, budget=budget)
    >>> round(budget.left, 9)
    0.25
    >>> reticent.mechanisms.laplace(100.0, sensitivity=1.0, epsilon=0.5, budget=budget)
    Traceback (most recent call last):
        ...
    reticent.errors.BudgetError: ...

    A budget is kept in the memory of its process: it cannot be copied or pickled, and a forked process cannot charge it.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighboring: str = "add-remove",
        unit: str = "row",
        name: str = "the data",
    ) -> None:
        finite(epsilon=epsilon, delta=delta)
        for field, value in (("epsilon", epsilon), ("delta", delta)):
            if value is None:
                raise _wrong(field, value, "give a number, such as 1")
        if float(epsilon) == 0:
            remedy = "nothing would fit: give a number above 0, such as 1"
            raise InvalidValueError(
                f"epsilon = 0: {remedy}", code="R201", field="epsilon", value="0", remedy=remedy
            )
        for field, text in (("neighboring", neighboring), ("unit", unit), ("name", name)):
            if not isinstance(text, str) or not text.isprintable():
                raise _wrong(field, text, "give text, such as 'row'")
        self._native = _native.Budget(float(epsilon), float(delta), neighboring, unit, name)

    @property
    def epsilon(self) -> float:
        """The limit on ε."""
        return self._native.terms()[0]

    @property
    def delta(self) -> float:
        """The limit on δ."""
        return self._native.terms()[1]

    @property
    def left(self) -> float:
        """The largest ε of one more release without δ that fits, rounded down."""
        return self._native.left()

    @property
    def spent(self) -> tuple[float, float] | None:
        """At most so much was spent, as (ε, δ); ``None`` where only the limit itself is known to hold.

        A budget with a δ states all charges together at its own δ, also those that have none: the second number is then the δ at
        which ε holds, and does not say that nothing of it is left.
        """
        return self._native.spent()

    @property
    def events(self) -> list[list[dict[str, Any]]]:
        """The events of everything that was charged, one list for each charge."""
        return json.loads(self._native.plans())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        epsilon, delta, relation, unit, name = self._native.terms()
        spent = self.spent
        if spent is None:
            used = "at most the limit"
        else:
            used = f"at most ε {at_most(spent[0])}" + (f" at δ {at_most(spent[1])}" if spent[1] else "")
        return (
            f"Budget of {name}: ε {number(epsilon)}, δ {number(delta)} for each {unit} ({relation}); "
            f"spent: {used}; left: ε {math.floor(self.left * 1e4) / 1e4:g}{' without δ' if delta else ''}"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget cannot be copied or pickled: a copy would be a second limit beside the first")

    def __copy__(self) -> NoReturn:
        self.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self.__reduce__()


def _wrong(field: str, value: object, remedy: str) -> RequestError:
    message = f"{field} = {brief(value)}: {remedy}"
    return RequestError(message, code="R104", field=field, value=brief(value), remedy=remedy)


def native(budget: Budget | None) -> _native.Budget | None:
    """What the native module charges."""
    if budget is None:
        return None
    if not isinstance(budget, Budget):
        raise TypeError(f"budget: give a reticent.Budget, not {type(budget).__name__}")
    return budget._native
