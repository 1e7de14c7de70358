"""Columns of the data that estimators and encoders read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _native, _tables
from ._arguments import refused
from .errors import ReticentError

_Values = Callable[[str], Any]


def columns_of(data: Any, argument: str, arrow: bool = False) -> tuple[list[str], _Values]:
    """The columns of a data frame, a mapping or an array: their names, and what reads one of them in the form
    of :func:`reticent._tables.column`. With ``arrow``, texts of pandas that are Arrow's stay so."""
    if _tables.is_of(data, "duckdb") and hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()
    kind = type(data).__name__
    if isinstance(data, Mapping):
        names, own = [str(key) for key in data], list(data.values())
    elif _tables.is_of(data, "pandas") and hasattr(data, "columns"):
        names = [str(name) for name in data.columns]
        own = [values for _, values in data.items()]
    elif _tables.is_of(data, "polars") and hasattr(data, "get_columns"):
        names, own = list(data.columns), data.get_columns()
    elif _tables.is_of(data, "pyarrow") and hasattr(data, "column_names"):
        names, own = list(data.column_names), list(data.columns)
    elif _tables.is_path(data) or any(
        _tables.is_of(data, package) for package in ("pandas", "polars", "pyarrow", "duckdb")
    ):
        raise _not_a_frame(argument, kind)
    else:
        # Lists are read value by value: a text among the numbers does not turn them into texts.
        try:
            array = np.asarray(data, dtype=object if isinstance(data, (list, tuple)) else None)
        except Exception:
            raise _not_a_frame(argument, kind) from None
        if array.ndim != 2:
            raise _not_a_frame(argument, f"{kind} of {array.ndim} dimensions" if array.ndim else kind)
        names = [f"{_tables.PREFIX}{place}" for place in range(array.shape[1])]
        own = [array[:, place] for place in range(array.shape[1])]

    def values(name: str) -> Any:
        found = own[names.index(name)]
        if arrow and getattr(getattr(found, "dtype", None), "storage", None) == "pyarrow":
            return importlib.import_module("pyarrow").array(found)
        return _tables.column(found, f"{argument}[{name!r}]")

    return names, values


def _not_a_frame(argument: str, kind: str) -> ReticentError:
    remedy = "give a data frame, a mapping of columns, or an array with two dimensions"
    return refused(309, argument, f"{kind} has no columns", remedy, kind)


def not_numeric(name: str, argument: str) -> ReticentError:
    """The error about a column of texts whose bounds are declared."""
    remedy = "declare its categories with schema=, or leave it out"
    return refused(309, argument, f"column {name!r} is not numeric", remedy, name)


def need_columns(wanted: list[str], names: list[str], argument: str) -> None:
    """Refuses a table without one of these columns, or with two of that name."""
    for name in wanted:
        if names.count(name) == 1:
            continue
        problem = "no such column" if name not in names else "two columns have that name"
        known = ", ".join(map(_tables.shown, names[:8])) + (", …" if len(names) > 8 else "")
        remedy = f"give the columns that were declared (it has {known or 'none'})"
        raise refused(306, argument, f"{name!r}: {problem}", remedy, name)


def read_columns(
    data: Any, wanted: list[str], argument: str, arrow: bool = False
) -> tuple[list[str], list[tuple[str, Any]]]:
    """All names of a table, and its wanted columns: of equal length, with a row at least and without
    infinity."""
    names, values = columns_of(data, argument, arrow)
    need_columns(wanted, names, argument)
    columns = [(name, values(name)) for name in wanted]
    lengths = {len(own) for _, own in columns}
    if len(lengths) > 1:
        problem, remedy = "its columns have different lengths", "give columns of the same length"
        raise refused(307, argument, problem, remedy)
    if lengths == {0}:
        problem = "Found array with 0 sample(s) while a minimum of 1 is required"
        raise refused(308, argument, problem, "give at least one row")
    for name, own in columns:
        if isinstance(own, np.ndarray) and own.dtype.kind == "f" and np.isinf(own).any():
            remedy = "remove or replace what is not a finite number"
            raise refused(307, argument, f"{name!r} holds infinity", remedy, name)
    return names, columns


def table_of(columns: list[tuple[str, Any]], name: str) -> _native.Table:
    """Columns as a table of the native module. Those of Arrow are not copied."""
    if not any(_tables.is_of(values, "pyarrow") for _, values in columns):
        return _native.Table.from_columns(name, columns)
    arrow: Any = importlib.import_module("pyarrow")
    arrays = [
        values if _tables.is_of(values, "pyarrow") else arrow.array(values, from_pandas=True)
        for _, values in columns
    ]
    return _native.Table.from_arrow(name, arrow.table(arrays, names=[own for own, _ in columns]))
