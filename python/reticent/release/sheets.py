"""Released pages: figures with intervals, as frames, files, HTML and Arrow."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from .. import _native
from .._core import Certificate, Result, at_most, brief, number, percent, worded
from .._refusals import invalid, missing

#: Rows that are shown of a page.
_SHOWN = 40


class Page(Result):
    """A released page.

    ``rows`` has one entry a figure: ``group`` (the values of ``group_columns``), ``question``, ``cell`` (where a question has
    several figures), ``estimate``, ``interval`` and ``unit``. Each interval holds the figure without noise, about clamped values
    and bounded contributions, with probability at least ``confidence``. ``certificate`` is the guarantee of all figures
    together, and ``parts`` says what was released and shared.

    A page is an Arrow stream: ``pyarrow.table(page)`` and ``polars.DataFrame(page)`` read it.

    >>> from reticent import release
    >>> from reticent.release import Question
    >>> page = release.page({"age": [31, 45, 62] * 100}, [Question.count(), Question.mean("age", bounds=(0, 100))], epsilon=1.0)
    >>> [row["question"] for row in page.rows]
    ['count', 'mean of age']
    >>> low, high = page["mean of age"].interval
    >>> low <= page["mean of age"].estimate <= high
    True
    """

    _title: ClassVar[str] = "Page of private statistics"

    @property
    def certificate(self) -> Certificate:
        """The privacy guarantee of all figures together."""
        return Certificate(self._data["certificate"])

    @property
    def epsilon(self) -> float:
        """The ε of the certificate."""
        return float(self.certificate.epsilon)

    @property
    def delta(self) -> float:
        """The δ of the certificate."""
        return float(self.certificate.delta)

    @property
    def warnings(self) -> list[str]:
        """Caveats about the page."""
        return [worded(text) for text in self._data.get("warnings") or []]

    def __getitem__(self, question: str) -> Figure:
        """The only figure of a question; :meth:`figures` has those of a question with groups or cells."""
        found = self.figures(question)
        if len(found) != 1:
            raise KeyError(f"{question!r} has {len(found)} figures: use figures({question!r})")
        return found[0]

    def figures(self, question: str | None = None, group: Any = None) -> list[Figure]:
        """The figures of a question, of a group, or all of them."""
        names = [own["name"] for own in self._data["questions"]]
        if question is not None and question not in names:
            raise KeyError(f"{brief(question)}: the questions are {', '.join(names)}")
        wanted = None if group is None else _group(group)
        return [
            Figure(row)
            for row in self._data["rows"]
            if (question is None or row["question"] == question)
            and (wanted is None or row["group"] == wanted)
        ]

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame of pandas, or of polars where pandas is not installed: one row a figure.

        ``library`` chooses between ``"pandas"``, ``"polars"`` and ``"pyarrow"``.

        >>> from reticent import release
        >>> from reticent.release import Question
        >>> page = release.page({"age": [31, 45, 62] * 100}, [Question.count()], epsilon=1.0)
        >>> list(page.to_frame().columns)
        ['question', 'cell', 'estimate', 'low', 'high', 'unit']
        """
        known = ("pandas", "polars", "pyarrow")
        if library is not None and library not in known:
            raise invalid("library", brief(library), "unknown: give pandas, polars or pyarrow", "R203")
        for name in known if library is None else (library,):
            try:
                module: Any = importlib.import_module(name)
            except ImportError:
                continue
            if name == "pandas":
                return module.DataFrame(self._columns())
            return module.DataFrame(self) if name == "polars" else module.table(self)
        remedy = f"install {library or 'pandas, polars or pyarrow'}, or use to_dict()"
        raise missing("library", remedy)

    def _columns(self) -> dict[str, list[Any]]:
        """The columns of a frame."""
        rows, own = self._data["rows"], ("question", "cell", "estimate", "low", "high", "unit")
        columns: dict[str, list[Any]] = {}
        for place, name in enumerate(self._data["group_columns"]):
            columns[f"group_{name}" if name in own else name] = [row["group"][place] for row in rows]
        ends = [row["interval"] for row in rows]
        columns["question"] = [row["question"] for row in rows]
        columns["cell"] = [row.get("cell") for row in rows]
        columns["estimate"] = [row["estimate"] for row in rows]
        columns["low"], columns["high"] = [low for low, _ in ends], [high for _, high in ends]
        columns["unit"] = [row["unit"] for row in rows]
        return columns

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The figures as a stream of Arrow, for pyarrow, polars, DuckDB and others."""
        return _native.PageRecords(json.dumps(self._data)).__arrow_c_stream__(requested_schema)

    def html(self, about: str = "a table") -> str:
        """A page of HTML with tables and charts; it loads nothing."""
        return _native.page_html(json.dumps(self._data), str(about))

    def save(self, path: str | os.PathLike[str], about: str = "a table") -> None:
        """Writes the page to a file: ``.csv``, ``.parquet``, ``.html`` or ``.json`` by its ending."""
        try:
            name = os.fsdecode(path)
        except TypeError:
            raise invalid("path", brief(path), "give a path, such as 'page.csv'", "R104") from None
        _native.write_page(json.dumps(self._data), name, str(about))

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = []
        for row in own["rows"][:_SHOWN]:
            name = ", ".join([*row["group"], row["question"], *([row["cell"]] if row.get("cell") else [])])
            rows.append((name, _figure(row)))
        more = len(own["rows"]) - _SHOWN
        rows += [("…", f"{more} more: see to_frame()")] if more > 0 else []
        rows.append(("intervals", f"{percent(own['confidence'])} confidence, each by itself"))
        clamped = _clamped(own["questions"])
        rows += [("clamped", clamped)] if clamped else []
        rows.append(("guarantee", f"{self.certificate}, for all of them together"))
        rows += [("warning", text) for text in self.warnings]
        return rows


class Figure(Result):
    """One figure of a page: ``estimate``, ``interval``, ``unit``, ``group``, ``question`` and ``cell``."""

    _title: ClassVar[str] = "Figure"

    @property
    def cell(self) -> str | None:
        """The cell, quantile or coefficient, where a question has several."""
        return self._data.get("cell")

    @property
    def value(self) -> float | None:
        """The estimate."""
        return self._data["estimate"]  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float("nan") if self._data["estimate"] is None else float(self._data["estimate"])

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = [("question", own["question"]), ("value", _figure(own))]
        rows += [("group", ", ".join(own["group"]))] if own["group"] else []
        return rows + ([("cell", own["cell"])] if own.get("cell") else [])


class PagePreview(Result):
    """What a page would be like. Nothing was read, and nothing was spent.

    ``questions`` has the expected ``error`` of each, ``epsilon`` and ``delta`` are what the page would cost, ``unit`` who would
    be protected, and ``parts`` what would be released.
    """

    _title: ClassVar[str] = "Preview of a page of private statistics"

    @property
    def warnings(self) -> list[str]:
        """Caveats about the plan."""
        return [worded(text) for text in self._data.get("warnings") or []]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = []
        for asked in own["questions"]:
            size = f" for {asked['size']} rows" if asked.get("size") else ""
            error = asked["error"]
            known = "error depends on the data" if error is None else f"error at most {at_most(error)}{size}"
            rows.append((asked["name"], known))
        rows.append(("errors", f"{percent(own['confidence'])} confidence, each by itself"))
        guarantee = f"ε ≤ {at_most(own['epsilon'])}, δ ≤ {at_most(own['delta'])}"
        rows.append(("guarantee", f"({guarantee}) for each {own['unit']}, {own['neighboring']}"))
        return rows + [("warning", text) for text in self.warnings]


class Limits(Result):
    """Suggested limits per person: ``rows`` (in one group) and ``groups``, from noisy numbers of people."""

    _title: ClassVar[str] = "Suggested limits"

    @property
    def certificate(self) -> Certificate:
        """What the estimate cost."""
        return Certificate(self._data["certificate"])

    @property
    def warnings(self) -> list[str]:
        """Caveats about the limits."""
        return [worded(text) for text in self._data.get("warnings") or []]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = [("rows per person", str(own["rows"]))]
        rows += [("groups per person", str(own["groups"]))] if own["groups"] is not None else []
        rows.append(("covers", f"{percent(own['share'])} of people, about"))
        return [*rows, ("guarantee", str(self.certificate)), *(("warning", text) for text in self.warnings)]


def _figure(row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    ends = f"[{'-∞' if low is None else number(low, 6)}, {'∞' if high is None else number(high, 6)}]"
    return f"{number(row['estimate'], 6)}  {ends}"


def _clamped(questions: Sequence[Mapping[str, Any]]) -> str:
    texts: list[str] = []
    for asked in questions:
        for own in asked.get("clamped") or []:
            low, high = own["bounds"]
            what = "the total of each person in " if own.get("person") else ""
            text = f"{what}{own['column']} to [{number(low, 6)}, {number(high, 6)}]"
            texts += [] if text in texts else [text]
    return "; ".join(texts)


def _group(group: Any) -> list[str]:
    if isinstance(group, str) or not hasattr(group, "__iter__"):
        return [str(group)]
    return [str(own) for own in group]
