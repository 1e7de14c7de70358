"""What all modules share: requests in, results out."""

from __future__ import annotations

import html
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from . import _native


def request(fields: Mapping[str, Any]) -> str:
    """A request as text: fields that are ``None`` are left out, paths are written as they are.

    Numbers that are not finite have no JSON form; they are written so that the library refuses them with the name of their field.
    """
    return json.dumps(_plain(fields), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (str, bool)) or value is None:
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return _plain(value.item())
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    raise TypeError(f"{value!r} cannot be part of a request")


def finite(**numbers: float | None) -> None:
    """Refuses arguments that are not finite numbers, naming the first of them."""
    from .errors import InvalidValueError

    for name, number in numbers.items():
        if number is None:
            continue
        if isinstance(number, bool) or not _is_number(number):
            raise InvalidValueError(
                f"{name} = {brief(number)}: not a number: give one, such as 1 or 0.5",
                code="R202",
                field=name,
                value=brief(number),
                remedy="not a number: give one, such as 1 or 0.5",
            )
        if not math.isfinite(float(number)):
            raise InvalidValueError(
                f"{name} = {number}: give a finite number",
                code="R201",
                field=name,
                value=str(number),
                remedy="give a finite number",
            )


def brief(value: object) -> str:
    """A refused value on one line."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:
        shown = f"a {type(value).__name__}"
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def read_text(path: str | os.PathLike[str], argument: str = "path") -> str:
    """The text of a file."""
    from .errors import DataError, RequestError

    try:
        name = os.fsdecode(path)
    except TypeError:
        remedy = "give a path, such as 'certificate.json'"
        message = f"{argument} = {brief(path)}: {remedy}"
        raise RequestError(message, code="R104", field=argument, value=brief(path), remedy=remedy) from None
    code, why = "R302", "not UTF-8 text"
    try:
        return Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        code, why = "R301", "no such file"
    except OSError as error:
        why = error.strerror or "cannot be read"
    except ValueError:
        pass
    message = f"{argument} = {brief(name)}: {why}: check the path"
    raise DataError(message, code=code, field=argument, value=name, remedy="check the path")


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (str, bytes))


def number(value: float | None, digits: int = 4) -> str:
    """A number for people."""
    if value is None:
        return "–"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    # 1e-6, not 1e-06.
    return re.sub(r"e([+-])0+(?=\d)", r"e\1", f"{value:.{digits}g}")


def at_most(value: float, digits: int = 4) -> str:
    """An upper bound for people: rounded up, unless that is only the last bits."""
    text = number(value, digits)
    if float(text) >= value * (1 - 1e-9):
        return text
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return number(float(text) + step, digits)


def percent(share: float) -> str:
    """A confidence for people: with as many digits as keep it from being shown larger than it is."""
    for digits in range(4, 17):
        text = number(100 * share, digits)
        if float(text) <= 100 * share * (1 + 1e-14):
            break
    return f"{text} %"


class Result:
    """A result with named fields: ``result.field``, ``result.to_dict()``.

    ``_data`` is the JSON of the command, so a field has the same name and meaning in both.
    """

    _data: dict[str, Any]
    _title: ClassVar[str] = "Result"

    def __init__(self, data: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_data", dict(data))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._data[name]
        except KeyError:
            known = ", ".join(sorted(self._data))
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._data})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return self._data

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", state)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data: a copy."""
        return json.loads(json.dumps(self._data))  # type: ignore[no-any-return]

    def _rows(self) -> list[tuple[str, str]]:
        """What people see: names and values."""
        return [(key, _shown(value)) for key, value in self._data.items() if value is not None]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max((len(name) for name, _ in rows), default=0)
        lines = [f"  {name:<{width}}  {value}" for name, value in rows]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        return f"<table><caption>{html.escape(self._title)}</caption>{rows}</table>"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list) and len(value) > 6:
        return f"{len(value)} items"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Certificate(Result):
    """The privacy guarantee of something that was computed from private data.

    ``epsilon`` and ``delta`` are upper bounds, for the ``unit`` (such as ``"row"``) under the ``neighboring`` relation. ``events``
    are the mechanisms that were used, and ``public`` names what was taken to be public. Anyone can recompute the guarantee from the
    events: :meth:`verify`.
    """

    _title: ClassVar[str] = "Privacy certificate"

    def verify(self) -> bool:
        """Recomputes the guarantee from the events; whether it is known to hold."""
        try:
            text = json.dumps(self._data)
        except (TypeError, ValueError, RecursionError):
            from .errors import DataError

            remedy = "give what a result has as its certificate"
            raise DataError(f"not a certificate: {remedy}", code="R314", remedy=remedy) from None
        return _native.verify(text)[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the certificate as JSON."""
        Path(path).write_text(json.dumps(self._data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Reads a certificate that was saved as JSON."""
        from .errors import DataError

        text = read_text(path)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or not {"epsilon", "delta", "neighboring", "unit"} <= data.keys():
            remedy = "give a file that Certificate.save or the command wrote"
            raise DataError(
                f"path = {brief(os.fsdecode(path))}: not a certificate: {remedy}",
                code="R314",
                field="path",
                value=os.fsdecode(path),
                remedy=remedy,
            )
        return cls(data)

    def _rows(self) -> list[tuple[str, str]]:
        if not self._data:
            return []
        events = self._data.get("events") or []
        public = self._data.get("public") or []
        return [
            ("guarantee", self._claim()),
            ("protects", f"each {self._data['unit']} ({self._data['neighboring']})"),
            ("events", str(len(events))),
            ("public", ", ".join(map(_shown, public)) or "nothing"),
        ]

    @property
    def is_void(self) -> bool:
        """Whether the claim rests on a schema that was read off the records, and so holds for nobody."""
        return _native.voids([fact for fact in self._data.get("public") or [] if isinstance(fact, str)])

    def _claim(self) -> str:
        if self.is_void:
            return "void: the schema is a draft that was read off the records"
        return f"ε ≤ {at_most(self._data['epsilon'])}, δ ≤ {at_most(self._data['delta'])}"

    def __str__(self) -> str:
        own = self._data
        if self.is_void:
            return self._claim()
        return f"({self._claim()}) for each {own['unit']}, {own['neighboring']}"


def certificate(data: Mapping[str, Any] | None) -> Certificate | None:
    """The certificate in an outcome."""
    return None if data is None else Certificate(data)


def warn(messages: Iterable[str], stacklevel: int = 3) -> None:
    """Shows caveats of an outcome as warnings; fields of the request are named as arguments."""
    import warnings

    for message in messages:
        warnings.warn(worded(message), PrivacyWarning, stacklevel=stacklevel)


def worded(message: str) -> str:
    """A message of the library with fields of the request named as arguments."""
    return re.sub(r"⟦([a-z0-9_]+)⟧", r"`\1`", message)


class PrivacyWarning(UserWarning):
    """A caveat about a result."""


def load(answer: str) -> dict[str, Any]:
    """An outcome as data."""
    return json.loads(answer)  # type: ignore[no-any-return]


Progress = Callable[[list[tuple[str, str, int]]], None]
