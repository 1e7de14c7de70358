"""Pages of statistics: many figures under one budget, by group, about rows or people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _native, _tables
from .._budget import Budget, native
from .._core import brief, load, request, warn
from .._refusals import conflict, invalid, missing, one_of, relation
from .questions import Question, pair_of, question
from .sheets import Limits, Page, PagePreview
from .values import (
    Path,
    argument_names,
    column_of,
    file_of,
    name_of,
    number_of,
    shown_progress,
    truth_of,
    whole_of,
)

#: Fields of questions that name columns.
_COLUMNS = ("column", "columns")


def page(
    data: Any,
    questions: Sequence[Question | Mapping[str, Any]] | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    split: str | None = None,
    unit: str | None = None,
    rows_per_person: int | None = None,
    groups_per_person: int | None = None,
    totals_per_person: Mapping[str, Sequence[float]] | None = None,
    bounding_key: str | None = None,
    group_by: str | Sequence[str] | None = None,
    keys: Any = None,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    schema: Path | None = None,
    mechanism: str | None = None,
    neighboring: str | None = None,
    confidence: float | None = None,
    consistent: bool = False,
    report: Path | None = None,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> Page:
    """Releases several statistics of one table under one total ``epsilon`` (and ``delta``).

    ``questions`` are made by :class:`Question`. Those that share a part (the count, sum, mean and variance of a column) share
    its noise. ``split`` divides the budget ``"equally"``, by ``"weights"`` or ``"by-error"``: then ε is the least that reaches
    the wanted error of every question.

    ``unit`` names a column: all rows that share a value of it are protected together, with at most ``rows_per_person`` rows in
    a group and ``groups_per_person`` groups, or with what one person adds to the sum of a column clamped to
    ``totals_per_person``. ``group_by`` answers every question for each group. ``keys`` are the public groups: a mapping of
    columns to lists of values, a list of values (or of tuples, for several columns), or the path of a CSV file;
    ``keys="select"`` finds them privately, and needs a ``delta``. ``reading`` says how the files of a path are read: see
    :func:`reticent.read_table`. ``report`` is a ``report.toml``: arguments override it.

    >>> from reticent import release
    >>> from reticent.release import Question
    >>> visits = {"patient": [1, 1, 2, 3] * 250, "ward": ["a", "b", "a", "b"] * 250, "cost": [3.0, 5.0, 8.0, 2.0] * 250}
    >>> answers = release.page(
    ...     visits,
    ...     [Question.count(), Question.mean("cost", bounds=(0, 10))],
    ...     epsilon=1.0,
    ...     group_by="ward",
    ...     keys=["a", "b"],
    ... )
    >>> answers.certificate.epsilon <= 1.0, len(answers.rows)
    (True, 4)
    >>> answers.rows[0]["group"], answers.rows[0]["question"]
    (['a'], 'count')
    """
    terms = _gathered(locals())
    table, text = _request(data, questions, terms)
    with argument_names():
        answer = _native.page(text, table, native(budget), shown_progress(progress))
    outcome = Page(load(answer))
    warn(outcome.warnings)
    return outcome


def preview_page(
    data: Any, questions: Sequence[Question | Mapping[str, Any]] | None = None, **terms: Any
) -> PagePreview:
    """The errors and the cost of :func:`page`. Nothing is read or spent.

    >>> from reticent import release
    >>> from reticent.release import Question
    >>> plan = release.preview_page({"age": [31, 45]}, [Question.count(error=20)], split="by-error")
    >>> plan.questions[0]["error"] <= 20, 0 < plan.epsilon < 1
    (True, True)
    """
    known = dict(page.__kwdefaults__ or {})
    for name in terms:
        if name not in known or name in ("budget", "progress"):
            raise invalid(name, brief(terms[name]), "not an argument of a preview: leave it out", "R104")
    table, text = _request(data, questions, {**known, **terms})
    with argument_names():
        return PagePreview(load(_native.preview_page(text, table)))


def suggest_limits(
    data: Any,
    *,
    unit: str,
    epsilon: float,
    group_by: str | Sequence[str] | None = None,
    share: float = 0.95,
    where: str | None = None,
    reading: Mapping[str, Any] | None = None,
    neighboring: str = "add-remove",
    confidence: float = 0.95,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> Limits:
    """Suggests limits per person from a private estimate of how many rows and groups people have.

    The limits cover about the ``share`` of people. The estimate costs ``epsilon``.

    >>> from reticent import release
    >>> visits = {"patient": [n % 400 for n in range(1000)]}
    >>> limits = release.suggest_limits(visits, unit="patient", epsilon=1.0)
    >>> limits.rows >= 1
    True
    """
    columns = [] if group_by is None else _columns("group_by", group_by)
    who = name_of("unit", unit)
    fields: dict[str, Any] = {
        "unit": who,
        "group_by": columns,
        "epsilon": _needed("epsilon", epsilon),
        "share": _needed("share", share),
        "filter": _condition(where),
        "neighboring": relation(neighboring),
        "confidence": _needed("confidence", confidence),
    }
    options = _tables.reading_of(reading)
    fields["reading"] = options
    table, file = _table(data, {who, *columns}, where, options)
    with argument_names():
        text = request({"file": file, **fields})
        answer = _native.suggest_limits(text, table, native(budget), shown_progress(progress))
    found = Limits(load(answer))
    warn(found.warnings)
    return found


def _gathered(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in ("data", "questions")}


def _request(data: Any, questions: Any, terms: Mapping[str, Any]) -> tuple[_native.Table | None, str]:
    """The table in memory, if the data are, and the request."""
    fields: dict[str, Any] = {}
    if terms["report"] is not None:
        with argument_names():
            fields = load(_native.read_report(file_of("report", terms["report"])))
    if questions is not None:
        fields["questions"] = [_asked(data, own) for own in _listed("questions", questions)]
    if not fields.get("questions"):
        raise missing("questions", "give some, such as [Question.count()]")
    given = {
        "epsilon": number_of("epsilon", terms["epsilon"]),
        "delta": number_of("delta", terms["delta"]),
        "split": terms["split"] and one_of("split", terms["split"], ("equally", "weights", "by-error")),
        "mechanism": terms["mechanism"] and one_of("mechanism", terms["mechanism"], ("laplace", "gaussian")),
        "neighboring": None if terms["neighboring"] is None else relation(terms["neighboring"]),
        "confidence": number_of("confidence", terms["confidence"]),
        "filter": _condition(terms["where"]),
        "schema": None if terms["schema"] is None else file_of("schema", terms["schema"]),
        "consistent": truth_of("consistent", terms["consistent"]) or None,
    }
    fields.update({name: value for name, value in given.items() if value is not None})
    _person(data, fields, terms)
    _groups(data, fields, terms)
    options = _tables.reading_of(terms["reading"])
    if terms["reading"] is not None or "reading" not in fields:
        fields["reading"] = options
    table, file = _table(data, _read(fields), fields.get("filter"), options)
    return table, request({**fields, "file": file})


def _asked(data: Any, given: Any) -> dict[str, Any]:
    """A question whose columns are named as those of the data."""
    fields = question(given)
    if isinstance(fields.get("column"), (str, int)):
        fields["column"] = column_of(data, fields["column"])
    return fields


def _person(data: Any, fields: dict[str, Any], terms: Mapping[str, Any]) -> None:
    """Who is protected."""
    totals = terms["totals_per_person"]
    if totals is not None and not isinstance(totals, Mapping):
        raise invalid("totals_per_person", brief(totals), "give bounds by column, such as {'cost': (0, 100)}")
    key = terms["bounding_key"]
    if key is not None and not isinstance(key, str):
        raise invalid("bounding_key", brief(key), "give a text", "R104")
    given = {
        "column": None if terms["unit"] is None else column_of(data, terms["unit"]),
        "rows": whole_of("rows_per_person", terms["rows_per_person"]),
        "groups": whole_of("groups_per_person", terms["groups_per_person"]),
        "totals": totals and {column_of(data, own): pair_of(ends) for own, ends in totals.items()},
        "key": None if key is None else _tables.text(key, "bounding_key"),
    }
    given = {name: value for name, value in given.items() if value is not None}
    if given:
        fields["unit"] = {**(fields.get("unit") or {}), **given}


def _groups(data: Any, fields: dict[str, Any], terms: Mapping[str, Any]) -> None:
    """By which groups."""
    own = fields.pop("group_by", None) or fields.pop("group-by", None)
    by, keys = terms["group_by"], terms["keys"]
    if by is not None:
        own = {**(own or {}), "columns": [column_of(data, name) for name in _columns("group_by", by)]}
    if keys is not None:
        if own is None:
            raise missing("group_by", "give the columns of the groups, such as group_by='ward'")
        own = {**own, "keys": _keys(data, own["columns"], keys)}
    if own is not None:
        fields["group_by"] = own


def _keys(data: Any, columns: Sequence[str], keys: Any) -> dict[str, Any]:
    """Where the groups come from."""
    if isinstance(keys, str) and keys == "select":
        return {"selected": {}}
    if isinstance(keys, Mapping) and set(keys) == {"select"}:
        return {"selected": {"share": number_of("keys", keys["select"])}}
    if isinstance(keys, Mapping):
        return {"lists": {column_of(data, name): _tables.labels(own, "keys") for name, own in keys.items()}}
    if _tables.is_path(keys):
        return {"file": file_of("keys", keys)}
    listed = _listed("keys", keys)
    if len(columns) == 1 and all(isinstance(own, str) or not hasattr(own, "__iter__") for own in listed):
        return {"lists": {columns[0]: _tables.labels(listed, "keys")}}
    rows = [_tables.labels(own, "keys") for own in listed]
    for own in rows:
        if len(own) != len(columns):
            remedy = f"give {len(columns)} values for each group, one for each column of group_by"
            raise invalid("keys", brief(own), remedy)
    return {"rows": rows}


def _read(fields: Mapping[str, Any]) -> set[str]:
    """The columns that a page reads."""
    found: set[str] = set((fields.get("group_by") or {}).get("columns") or [])
    unit = fields.get("unit") or {}
    found |= {unit["column"]} if isinstance(unit.get("column"), str) else set()
    for own in fields["questions"]:
        for name in _COLUMNS:
            listed = own.get(name)
            for column in listed if isinstance(listed, (list, tuple)) else [listed]:
                column = column.get("column") if isinstance(column, Mapping) else column
                found |= {column} if isinstance(column, str) else set()
    return found


def _table(
    data: Any, columns: set[str], where: str | None, reading: Mapping[str, Any]
) -> tuple[_native.Table | None, str]:
    """The table in memory, or the file."""
    alone = _tables.single(data, next(iter(columns)) if len(columns) == 1 else None)
    if alone is not None:
        data = alone[1]
    if _tables.is_path(data):
        return None, file_of("data", data)

    def is_read(own: str) -> bool:
        return own in columns or (where is not None and own in where)

    if reading["derive"]:
        # A column may be computed from any other.
        return _tables.table(data, reading=reading), ""
    known = _tables.names(data)
    is_known = where is None and known is not None and columns <= set(known)
    return _tables.table(data, read=is_read, rest=not is_known, reading=reading), ""


def _condition(where: Any) -> str | None:
    if where is not None and not isinstance(where, str):
        raise invalid("where", brief(where), "give a condition as text, such as 'sex=f and age>=18'")
    return None if where is None else _tables.text(where, "where")


def _columns(argument: str, names: Any) -> list[str]:
    listed = [names] if isinstance(names, (str, int)) else _listed(argument, names)
    return [name_of(argument, own) for own in listed]


def _listed(argument: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping, Question)) or not hasattr(values, "__iter__"):
        raise invalid(argument, brief(values), "give a list", "R104")
    return _tables.listed(values, argument)


def _needed(name: str, value: float | None) -> float:
    found = number_of(name, value)
    if found is None:
        raise missing(name, "give a number")
    return found


def one(data: Any, asked: Question, terms: dict[str, Any]) -> Page:
    """A page of one question."""
    for name in ("report", "questions"):
        if terms.get(name) is not None:
            raise conflict(name, brief(terms[name]), "leave it out")
    return page(data, [asked], **terms)
