"""Budgets in memory and in files."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from . import _native
from ._core import at_most, brief, finite, number
from ._tables import reading_of
from .errors import InvalidValueError, RequestError

#: The name of tables in memory among the data of a budget in a file.
MEMORY = "memory"


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

    A budget that is made like this is kept in the memory of its process: it cannot be copied or pickled, and a forked process
    cannot charge it. :meth:`create` makes one in a file, which many processes share and which is never forgotten:

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> people = os.path.join(folder, "people.csv")
    >>> with open(people, "w") as file:
    ...     _ = file.write("age\\n31\\n45\\n62\\n")
    >>> path = os.path.join(folder, "people.budget")
    >>> budget = reticent.Budget.create(path, epsilon=1.0, data=people)
    >>> first = reticent.release.count(people, epsilon=0.75, budget=budget)
    >>> again = reticent.release.count(people, epsilon=0.75, budget=reticent.Budget.open(path))
    >>> first.value == again.value
    True
    >>> [charge["about"].split(",")[0] for charge in budget.history()]
    ['count']
    """

    __slots__ = ("_analyst", "_native", "_path", "_purpose", "_refresh")

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighboring: str = "add-remove",
        unit: str = "row",
        name: str = "the data",
    ) -> None:
        _checked(epsilon, delta, neighboring=neighboring, unit=unit, name=name)
        self._path: str | None = None
        self._analyst: str | None = None
        self._purpose: str | None = None
        self._refresh = False
        self._native = _native.Budget(float(epsilon), float(delta), neighboring, unit, name)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float,
        delta: float = 0.0,
        *,
        data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = MEMORY,
        neighboring: str = "add-remove",
        unit: str = "row",
        name: str | None = None,
        valid_until: str | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> Budget:
        """Makes a budget in a file, which must be new.

        ``data`` are the files, folders or patterns (``"visits/*.parquet"``) that hold the people's data; ``"memory"``, the default,
        stands for data frames and arrays. ``unit`` is ``"row"`` or the column that all rows of one person share. ``valid_until`` is
        the last day on which it can be charged, such as ``"2027-01-01"``.

        ``reading`` says how the files are read, with the options of :func:`reticent.read_table` but ``also`` and ``derive``; a
        question that reads them in another way is refused, because what a row is would be another thing.

        Questions about files are remembered: the same question returns the same answer and costs nothing, but for a part that was set
        aside for somebody who has not paid for it. Questions about data in memory are always paid for, because nothing tells one data
        frame from another.
        """
        _checked(epsilon, delta, neighboring=neighboring, unit=unit, name="" if name is None else name)
        request = {
            "file": _path(path),
            "epsilon": float(epsilon),
            "delta": float(delta) or None,
            "data": _paths(data),
            "neighboring": neighboring,
            "unit": unit,
            "name": name,
            "valid_until": valid_until,
            "reading": reading_of(reading),
        }
        _native.manage_budget("create", json.dumps(request))
        return cls.open(path)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        analyst: str | None = None,
        purpose: str | None = None,
        refresh: bool = False,
    ) -> Budget:
        """The budget in a file, charged in the name of ``analyst`` and for ``purpose``.

        With ``refresh``, questions are paid for anew, also where the budget remembers an answer.
        """
        for field, text in (("analyst", analyst), ("purpose", purpose)):
            if text is not None and (not isinstance(text, str) or not text.isprintable()):
                raise _wrong(field, text, "give text, such as 'ana'")
        budget = cls.__new__(cls)
        budget._path = _path(path)
        budget._analyst = analyst
        budget._purpose = purpose
        budget._refresh = bool(refresh)
        budget._native = _native.Budget.stored(budget._path, analyst, purpose, bool(refresh))
        return budget

    def asked_by(
        self, analyst: str | None = None, purpose: str | None = None, *, refresh: bool | None = None
    ) -> Budget:
        """The same budget in a file, charged in other names."""
        refresh = self._refresh if refresh is None else refresh
        return Budget.open(self._file(), analyst=analyst, purpose=purpose, refresh=refresh)

    @property
    def path(self) -> str | None:
        """The file; ``None`` for a budget in memory."""
        return self._path

    @property
    def epsilon(self) -> float:
        """The limit on ε."""
        return self._native.terms()[0] if self._path is None else float(self.show()["epsilon"])

    @property
    def delta(self) -> float:
        """The limit on δ."""
        return self._native.terms()[1] if self._path is None else float(self.show()["delta"])

    @property
    def left(self) -> float:
        """The largest ε of one more release without δ that fits, rounded down."""
        return self._native.left() if self._path is None else float(self.show()["left"])

    @property
    def spent(self) -> tuple[float, float] | None:
        """At most so much was spent, as (ε, δ); ``None`` where only the limit itself is known to hold.

        A budget with a δ states all charges together at its own δ, also those that have none: the second number is then the δ at
        which ε holds, and does not say that nothing of it is left.
        """
        if self._path is None:
            return self._native.spent()
        spent = self.show()["spent"]
        return None if spent is None else (spent["epsilon"], spent["delta"])

    @property
    def events(self) -> list[list[dict[str, Any]]]:
        """The events of everything that was charged, one list for each charge."""
        if self._path is None:
            return json.loads(self._native.plans())  # type: ignore[no-any-return]
        return [charge["events"] for charge in self.history()]

    def show(self) -> dict[str, Any]:
        """How a budget in a file stands: its terms, what is spent and left, and the parts that were set aside."""
        return self._manage("show")

    def history(
        self, *, analyst: str | None = None, purpose: str | None = None, last: int | None = None
    ) -> list[dict[str, Any]]:
        """The charges of a budget in a file, in sequence; ``pandas.DataFrame(budget.history())`` is a table of them."""
        found = self._manage("history", analyst=analyst, purpose=purpose, last=last)
        return found["charges"]  # type: ignore[no-any-return]

    def add_data(self, *data: str | os.PathLike[str], reading: Mapping[str, Any] | None = None) -> None:
        """Declares more data of the same people, which are read as ``reading`` says. They share the budget."""
        self._manage("add_data", data=[_path(one) for one in data], reading=reading_of(reading))

    def allot(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        analyst: str | None = None,
        purpose: str | None = None,
        valid_until: str | None = None,
    ) -> None:
        """Sets a part of a budget in a file aside for an analyst or a purpose.

        From then on every charge names an analyst (or a purpose) who has a part, and must fit the part and the whole.
        """
        _checked(epsilon, delta)
        self._manage(
            "allot",
            epsilon=float(epsilon),
            delta=float(delta) or None,
            analyst=analyst,
            purpose=purpose,
            valid_until=valid_until,
        )

    def close(self, reason: str | None = None) -> None:
        """Closes a budget in a file for good. Remembered answers stay available."""
        self._manage("close", reason=reason)

    def verify(self) -> list[str]:
        """Recomputes the whole record of a budget in a file; what is wrong with it, nothing if all is in order."""
        problems = self._manage("verify")["problems"]
        return [
            one["what"] if one["entry"] is None else f"entry {one['entry']}: {one['what']}" for one in problems
        ]

    def export(self, out: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The record of a budget in a file, without answers, as one document; written to ``out`` if that is given."""
        return self._manage("export", out=None if out is None else _path(out))

    def page(self, out: str | os.PathLike[str]) -> str:
        """Writes a page that shows spending over time, and returns its path."""
        return str(self._manage("page", out=_path(out))["out"])

    def _file(self) -> str:
        if self._path is None:
            remedy = "make one with reticent.Budget.create"
            raise RequestError(
                f"budget: this needs a budget in a file: {remedy}", code="R103", field="budget", remedy=remedy
            )
        return self._path

    def _manage(self, verb: str, **fields: Any) -> dict[str, Any]:
        given = {name: value for name, value in fields.items() if value is not None}
        request = {"file": self._file(), **given}
        try:
            text = json.dumps(request)
        except TypeError as error:
            raise RequestError(f"budget: {error}", code="R104", remedy="give text and numbers") from None
        return json.loads(_native.manage_budget(verb, text))  # type: ignore[no-any-return]

    def _stands(self) -> tuple[str, float, float, str, str, float, tuple[float, float] | None, int | None]:
        """The name, ε, δ, relation, unit, what is left, what is spent and the number of charges."""
        if self._path is None:
            epsilon, delta, relation, unit, name = self._native.terms()
            return name, epsilon, delta, relation, unit, self.left, self.spent, None
        shown = self.show()
        spent = shown["spent"]
        used = None if spent is None else (spent["epsilon"], spent["delta"])
        return (
            shown["name"],
            shown["epsilon"],
            shown["delta"],
            shown["neighboring"],
            shown["unit"],
            shown["left"],
            used,
            shown["charges"],
        )

    def __repr__(self) -> str:
        name, epsilon, delta, relation, unit, left, spent, _ = self._stands()
        return (
            f"Budget of {name}: ε {number(epsilon)}, δ {number(delta)} for each {unit} ({relation}); "
            f"spent: {_used(spent)}; left: ε {math.floor(left * 1e4) / 1e4:g}{' without δ' if delta else ''}"
        )

    def _repr_html_(self) -> str:
        name, epsilon, delta, relation, unit, left, spent, charges = self._stands()
        rows = [
            ("limit", f"ε = {number(epsilon)}" + (f", δ = {number(delta)}" if delta else "")),
            ("protects", f"{unit} ({relation})"),
            ("spent", _used(spent) + ("" if charges is None else f", by {charges} charges")),
            ("left for one more question", f"ε = {math.floor(left * 1e4) / 1e4:g}" + (" without δ" if delta else "")),
        ]
        if self._path is not None:
            rows.append(("file", self._path))
        share = 0.0 if not epsilon else min(1.0, max(0.0, 1.0 - left / epsilon))
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(label)}</th>"
            f"<td style='text-align:left'>{html.escape(str(text))}</td></tr>"
            for label, text in rows
        )
        bar = (
            "<div style='width:16em;height:.5em;background:#d9dee4;border-radius:3px'>"
            f"<div style='width:{100 * share:.1f}%;height:100%;background:#0072b2;border-radius:3px'></div></div>"
        )
        return f"<div><strong>Budget of {html.escape(name)}</strong>{bar}<table>{cells}</table></div>"

    def __reduce__(self) -> Any:
        if self._path is not None:
            return _reopened, (os.path.abspath(self._path), self._analyst, self._purpose, self._refresh)
        raise TypeError("a budget cannot be copied or pickled: a copy would be a second limit beside the first")

    def __copy__(self) -> Any:
        if self._path is not None:
            return self
        self._refuse()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.__copy__()

    def _refuse(self) -> NoReturn:
        self.__reduce__()
        raise AssertionError


def _reopened(path: str, analyst: str | None, purpose: str | None, refresh: bool) -> Budget:
    return Budget.open(path, analyst=analyst, purpose=purpose, refresh=refresh)


def _used(spent: tuple[float, float] | None) -> str:
    if spent is None:
        return "at most the limit"
    return f"at most ε {at_most(spent[0])}" + (f" at δ {at_most(spent[1])}" if spent[1] else "")


def _checked(epsilon: float, delta: float, **texts: str) -> None:
    finite(epsilon=epsilon, delta=delta)
    for field, value in (("epsilon", epsilon), ("delta", delta)):
        if value is None:
            raise _wrong(field, value, "give a number, such as 1")
    if float(epsilon) == 0:
        remedy = "nothing would fit: give a number above 0, such as 1"
        raise InvalidValueError(
            f"epsilon = 0: {remedy}", code="R201", field="epsilon", value="0", remedy=remedy
        )
    for field, text in texts.items():
        if not isinstance(text, str) or not text.isprintable():
            raise _wrong(field, text, "give text, such as 'row'")


def _path(path: str | os.PathLike[str]) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise _wrong("path", path, "give a path, such as 'people.budget'") from None


def _paths(data: Any) -> list[str]:
    if isinstance(data, (str, os.PathLike)):
        return [_path(data)]
    try:
        return [_path(one) for one in data]
    except TypeError:
        raise _wrong("data", data, "give a path, or a list of paths") from None


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
