"""Private answers, previews and schemas."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, SupportsIndex, overload

import numpy as np

from .._core import Certificate, Result, at_most, number, percent, worded
from ..errors import InvalidValueError, RequestError
from .bars import bars, draw


class Release(Result):
    """A private answer.

    ``value`` is the answer with noise: a number, a list of counts (:func:`histogram`), or a category
    (:func:`mode`). ``interval`` holds the answer without noise, about clamped values, with probability at
    least ``confidence``; a histogram has one interval for each count, and a mode has none but a
    ``shortfall``. ``certificate`` is the privacy guarantee, and ``query`` the question as it was answered.

    >>> from reticent import release
    >>> answer = release.count({"age": [31, 45, 62]}, epsilon=1.0)
    >>> answer.query, answer.confidence
    ({'kind': 'count'}, 0.95)
    >>> float(answer) == answer.value, f"{answer:.1f}" == f"{answer.value:.1f}"
    (True, True)
    >>> answer.epsilon, answer.delta
    (1.0, 0.0)
    """

    _title: ClassVar[str] = "Private statistic"

    @property
    def certificate(self) -> Certificate:
        """The privacy guarantee."""
        return Certificate(self._data["certificate"])

    @property
    def budget(self) -> dict[str, Any] | None:
        """How a budget in a file stands after it: what was charged, what is left; ``None`` without such a budget."""
        return self._data.get("budget")

    @property
    def epsilon(self) -> float:
        """The ε of the certificate."""
        return float(self.certificate.epsilon)

    @property
    def delta(self) -> float:
        """The δ of the certificate."""
        return float(self.certificate.delta)

    @property
    def labels(self) -> list[str] | None:
        """The categories or bins of a histogram; otherwise ``None``."""
        return self._data.get("labels")

    @property
    def warnings(self) -> list[str]:
        """Caveats about the answer."""
        return [worded(text) for text in self._data.get("warnings") or []]

    def __float__(self) -> float:
        if isinstance(self._data["value"], (list, str)):
            raise TypeError(f"a {self._data['query']['kind']} is not one number")
        return float(self._data["value"])

    def __int__(self) -> int:
        return int(float(self))

    def __round__(self, ndigits: SupportsIndex | None = None) -> float:
        value = float(self) if isinstance(self._data["value"], (list, str)) else self._data["value"]
        return round(value, ndigits)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        value = self._data["value"]
        return format(float(self) if isinstance(value, list) else value, spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._data["value"], dtype=dtype)

    def to_pandas(self) -> Any:
        """A histogram as a data frame: counts with the columns ``value``, ``low`` and ``high``."""
        import importlib

        labels, value, interval = self._cells()
        low, high = zip(*interval, strict=True)
        pandas = importlib.import_module("pandas")
        columns = {"value": value, "low": list(low), "high": list(high)}
        return pandas.DataFrame(columns, index=pandas.Index(labels, name=self._data["query"]["column"]))

    @overload
    def plot(self, ax: None = None) -> str: ...

    @overload
    def plot(self, ax: Any) -> Any: ...

    def plot(self, ax: Any = None) -> Any:
        """A histogram as a bar chart with its intervals: an SVG, or drawn into the matplotlib axes ``ax``.

        Axes that are given are returned.

        >>> from reticent import release
        >>> people = {"sex": ["f", "m", "m", "f"] * 100}
        >>> svg = release.histogram(people, "sex", categories=["f", "m"], epsilon=1.0).plot()
        >>> svg.startswith("<svg") and svg.endswith("</svg>")
        True
        """
        cells, title = self._cells(), str(self._data["query"]["column"])
        return bars(title, *cells) if ax is None else draw(ax, title, *cells)

    def _cells(self) -> tuple[list[str], list[float], list[list[float]]]:
        if self.labels is None:
            raise RequestError(
                f"only histograms have cells, and this is a {self._data['query']['kind']}",
                code="R103",
                remedy="ask for a histogram",
            )
        return self.labels, self._data["value"], self._data["interval"]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        confidence = percent(own["confidence"])
        rows = [("statistic", _asked_for(own["query"]))]
        if self.labels is not None:
            shown = list(zip(self.labels, own["value"], own["interval"], strict=True))
            counts = _aligned([[number(value, 6)] for _, value, _ in shown[:20]])
            ranges = _aligned([[number(end, 6) for end in ends] for _, _, ends in shown[:20]])
            cells = zip(shown, counts, ranges)
            rows += [(name, f"{count}   [{ends}]") for (name, _, _), count, ends in cells]
            rows += [("…", f"{len(shown) - 20} more")] if len(shown) > 20 else []
            rows.append(("intervals", f"{confidence} confidence, each by itself"))
        elif own["interval"] is None:
            rows.append(("value", str(own["value"])))
            short = f"at most {at_most(own['shortfall'])} rows fewer than the most common"
            rows.append(("shortfall", f"{short} at {confidence} confidence"))
        else:
            rows.append(("value", number(own["value"], 6)))
            rows.append(("interval", f"{_range(own['interval'])} at {confidence} confidence"))
        if "clamped" in own:
            clamped = own["clamped"]
            ends = _range(clamped["interval"])
            rows.append(("clamped", f"about {number(clamped['value'])} values, {ends}"))
        rows.append(("guarantee", str(self.certificate)))
        rows += [("warning", text) for text in self.warnings]
        return rows

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (self.plot() if self.labels is not None else "")


class Preview(Result):
    """What a release would be like. Nothing was read, and nothing was spent.

    ``error`` is exceeded with probability at most 1 − ``confidence``; ``error_in`` says what it is counted
    in. ``epsilon`` and ``delta`` are what the release would spend, ``mechanism`` what it would use, and
    ``public`` what it would take to be public.

    >>> from reticent import release
    >>> plan = release.count.preview({"age": [31, 45, 62]}, error=10)
    >>> plan.error <= 10, 0 < plan.epsilon < 1
    (True, True)
    """

    _title: ClassVar[str] = "Preview of a private statistic"

    @property
    def warnings(self) -> list[str]:
        """Caveats about the plan."""
        return [worded(text) for text in self._data.get("warnings") or []]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        confidence = percent(own["confidence"])
        guarantee = f"ε ≤ {at_most(own['epsilon'])}, δ ≤ {at_most(own['delta'])} ({own['neighboring']})"
        return [
            ("statistic", _asked_for(own["query"])),
            ("error", f"{at_most(own['error'])} ({own['error_in']}) at {confidence} confidence"),
            ("mechanism", own["mechanism"]),
            ("guarantee", guarantee),
            ("public", ", ".join(map(str, own["public"])) or "nothing"),
            *(("warning", text) for text in self.warnings),
        ]


class RandomizedFile(Result):
    """A file of randomized answers.

    ``out`` is where it is, and ``rows`` how many answers it has. ``certificate`` is the guarantee of each.
    """

    _title: ClassVar[str] = "Randomized answers"

    @property
    def certificate(self) -> Certificate:
        """The privacy guarantee of each answer by itself."""
        return Certificate(self._data["certificate"])

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        kept = f"each kept with probability {number(own['keep_probability'])}"
        return [
            ("file", own["out"]),
            ("answers", f"{own['rows']}, {kept}"),
            ("guarantee", str(self.certificate)),
        ]


class Schema(Result):
    """A schema that was learnt or drafted.

    ``toml`` is its text, and ``private`` says whether it has a ``certificate``.
    """

    _title: ClassVar[str] = "Schema"

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__({**data, "warnings": [worded(text) for text in data["warnings"]]})

    @property
    def toml(self) -> str:
        """The text of the schema file."""
        return self._data["schema"]  # type: ignore[no-any-return]

    @property
    def certificate(self) -> Certificate | None:
        """The privacy guarantee; ``None`` for a draft, which has none."""
        own = self._data["certificate"]
        return None if own is None else Certificate(own)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the schema to a ``.toml`` file. A file that exists is replaced only with ``force``."""
        try:
            with open(path, "w" if force else "x", encoding="utf-8") as file:
                file.write(self.toml)
        except FileExistsError:
            raise InvalidValueError(
                f"path = {os.fsdecode(path)}: exists already: give another name, or force=True",
                code="R304",
                field="path",
                value=os.fsdecode(path),
                remedy="give another name, or force=True",
            ) from None

    def _rows(self) -> list[tuple[str, str]]:
        own = self.certificate
        guarantee = "none: this draft was computed from the data" if own is None else str(own)
        rows = [("guarantee", guarantee)]
        rows += [("file", str(self._data["out"]))] if self._data["out"] else []
        return rows + [("warning", text) for text in self._data["warnings"]]

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n\n{self.toml}"

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<pre>{html.escape(self.toml)}</pre>"


def _asked_for(query: Mapping[str, Any]) -> str:
    """A question for people."""
    kind = query["kind"]
    if kind == "quantile":
        kind = "median" if query["quantile"] == 0.5 else f"{number(query['quantile'])} quantile"
    elif kind == "proportion":
        kind = f"proportion of {query['value']!r}"
    text = f"{kind} of {query['column']}" if "column" in query else f"{kind} of rows"
    if "bounds" in query:
        text += f", clamped to {_range(query['bounds'])}"
    return f"{text}, where {query['where']}" if "where" in query else text


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Numbers in columns, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [", ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]


def _range(ends: Sequence[float]) -> str:
    return f"[{number(ends[0], 6)}, {number(ends[1], 6)}]"
