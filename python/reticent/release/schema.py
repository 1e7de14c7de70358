"""Schemas: the bounds and categories of all columns, learnt with privacy or drafted without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import _native, _tables
from .._refusals import missing
from .._budget import Budget, native
from .._core import finite, load, request, warn
from .results import Schema
from .values import Path, argument_names, file_of, name_of, needing, shown_progress, truth_of


@needing
def learn_schema(
    data: Any,
    *,
    epsilon: float,
    delta: float | None = None,
    label: str | None = None,
    positive: Any = None,
    unit: str | None = None,
    ignore: Iterable[str] = (),
    reading: Mapping[str, Any] | None = None,
    out: Path | None = None,
    force: bool = False,
    budget: Budget | None = None,
    progress: bool | None = None,
) -> Schema:
    """Learns the bounds and categories of all columns with differential privacy.

    ``delta`` is needed if there are columns of text. ``label`` is the column to predict, ``positive`` its
    positive value, ``unit`` the column that identifies users, and ``ignore`` lists columns that are not
    looked at. ``reading`` says how the files of a path are read: see :func:`reticent.read_table`. The schema
    is written to the ``.toml`` file ``out`` if there is one; an existing file is replaced only with ``force``. What it costs is part of the schema, and is added to everything computed
    from the same data with it.

    >>> from reticent import release
    >>> schema = release.learn_schema({"age": [31, 45, 62, 28] * 2500}, epsilon=1.0)
    >>> schema.private, schema.certificate.epsilon <= 1.0
    (True, True)
    """
    if epsilon is None:
        raise missing("epsilon", "give a privacy budget; draft_schema drafts one that is not private")
    finite(epsilon=epsilon, delta=delta)
    terms = {"epsilon": float(epsilon), "delta": None if delta is None else float(delta)}
    return _schema(data, terms, label, positive, unit, ignore, reading, out, force, budget, progress)


def draft_schema(
    data: Any,
    *,
    label: str | None = None,
    positive: Any = None,
    unit: str | None = None,
    ignore: Iterable[str] = (),
    reading: Mapping[str, Any] | None = None,
    out: Path | None = None,
    force: bool = False,
    progress: bool | None = None,
) -> Schema:
    """Drafts a schema **without privacy**, to be edited: replace every bound and list with public knowledge.

    A warning says so. The arguments are those of :func:`learn_schema`.

    >>> import warnings
    >>> from reticent import release
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     draft = release.draft_schema({"sex": ["f", "m", "m"]})
    >>> draft.private, "draft = true" in draft.toml
    (False, True)
    """
    return _schema(data, {}, label, positive, unit, ignore, reading, out, force, None, progress)


def _schema(
    data: Any,
    terms: dict[str, Any],
    label: str | None,
    positive: Any,
    unit: str | None,
    ignore: Iterable[str],
    reading: Mapping[str, Any] | None,
    out: Path | None,
    force: bool,
    budget: Budget | None,
    progress: bool | None,
) -> Schema:
    ignored = _tables.labels(ignore, "ignore")
    options = _tables.reading_of(reading)
    fields = {
        "file": file_of("data", data) if _tables.is_path(data) else "",
        "reading": options,
        "label": None if label is None else name_of("label", label),
        "positive": None if positive is None else _tables.labels([positive], "positive")[0],
        "unit": None if unit is None else name_of("unit", unit),
        "ignore": ignored,
        "out": None if out is None else file_of("out", out),
        "force": truth_of("force", force),
        **terms,
    }
    table = None
    if not _tables.is_path(data):
        table = _tables.table(data, read=lambda name: name not in ignored, reading=options)
    with argument_names():
        toml, answer = _native.learn_schema(request(fields), table, native(budget), shown_progress(progress))
    learnt = Schema({**load(answer), "schema": toml})
    warn(learnt.to_dict()["warnings"], stacklevel=4)
    return learnt
