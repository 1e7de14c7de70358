"""Public schemas as far as Python needs to know them, and the features that they make.

What a schema means for a guarantee is decided by the native module.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _tables, _toml
from ._arguments import path, refused
from ._core import read_text
from .errors import ReticentError


class Column:
    """A declared column: its name, and either bounds or categories."""

    __slots__ = ("bounds", "categories", "name")

    def __init__(self, name: str, bounds: tuple[float, float] | None, categories: tuple[str, ...]) -> None:
        self.name = name
        self.bounds = bounds
        self.categories = categories

    @property
    def feature_names(self) -> list[str]:
        """What its features are called."""
        name = self.name
        if self.bounds is not None:
            return [name, f"{name}:missing"]
        return [*(f"{name}={label}" for label in self.categories), f"{name}:other", f"{name}:missing"]


class PublicSchema:
    """A schema: the columns that become features, the label and the unit."""

    __slots__ = ("_parsed", "features", "label", "text", "unit")

    def __init__(self, text: str) -> None:
        parsed = _parsed(text)
        self._parsed = parsed
        self.text = text
        self.features = _features(parsed.get("columns"))
        label = parsed.get("label")
        #: The table ``[label]``, or none.
        self.label: dict[str, Any] | None = label if isinstance(label, dict) else None
        unit = parsed.get("unit")
        #: The column of the privacy unit; none where it is the row.
        self.unit: str | None = unit.get("column") if isinstance(unit, dict) else None

    @property
    def names(self) -> list[str]:
        """The names of the columns that become features."""
        return [column.name for column in self.features]

    @property
    def columns(self) -> frozenset[str]:
        """The names of all columns that are read besides the label."""
        return frozenset(self.names if self.unit is None else [*self.names, str(self.unit)])

    @property
    def feature_names(self) -> list[str]:
        """The names of all features, in order."""
        return [name for column in self.features for name in column.feature_names]

    def with_label(self, label: Mapping[str, Any]) -> str:
        """The text of the same schema with this table ``[label]``."""
        if self.label is None:
            return f"{self.text}\n\n{label_table(label)}"
        others = {name: own for name, own in self._parsed.items() if name not in ("label", "columns")}
        columns = self._parsed.get("columns", {})
        own = [*_toml.lines(others), "", label_table(label), "[columns]", *_toml.lines(columns), ""]
        return "\n".join(own)

    @property
    def scale(self) -> float:
        """What the native module multiplies features by, so that each row has norm at most 1."""
        columns = len(self.features)
        return (1.0 - (columns + 8) * float(np.finfo(np.float64).eps)) / math.sqrt(columns)


def schema_source(schema: Any) -> tuple[str, str | None]:
    """The text of a schema that is given as a path, as TOML text, as an object with the text as ``toml``, or
    as a mapping of columns; and the path if there is one."""
    if schema is None:
        remedy = "give the public schema, as a path, as TOML text or as a mapping of columns"
        raise refused(102, "schema", "it is missing", remedy)
    text = getattr(schema, "toml", None)
    text = text() if callable(text) else text
    if isinstance(text, str):
        return text, None
    if isinstance(schema, Mapping):
        return _mapping_text(schema), None
    if isinstance(schema, str) and ("\n" in schema or ("=" in schema and not os.path.exists(schema))):
        return schema, None
    remedy = "give a path, TOML text, a mapping of columns, or a schema of reticent.release.learn_schema"
    place = path("schema", schema, remedy)
    return read_text(place, "schema"), place


def _mapping_text(schema: Mapping[Any, Any]) -> str:
    """The text of a schema without a label: a tuple of two numbers declares bounds, a list categories."""
    own: dict[str, Any] = {}
    for given, kind in schema.items():
        name = str(given)
        remedy = f"give {name!r}: (low, high), a tuple, for bounds or {name!r}: [...], a list, for categories"
        if isinstance(kind, tuple):
            low_high = [end.item() if isinstance(end, np.generic) else end for end in kind]
            own[name] = {"bounds": _bounds(name, low_high, remedy)}
        elif isinstance(kind, (list, np.ndarray)):
            labels = kind.tolist() if isinstance(kind, np.ndarray) else kind
            labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
            own[name] = {"categories": _categories(name, labels)}
        else:
            raise _broken(name, remedy)
    if len(own) < len(schema):
        raise refused(312, "schema", "two columns have the same name", "give each column once")
    if not own:
        raise refused(315, "schema", "it declares no features", "give a pair or a list for each column")
    columns = [f"{_toml.key(name, 'schema')} = {_toml.written(kind, 'schema')}" for name, kind in own.items()]
    return "\n".join(['unit = "row"', "", "[columns]", *columns, ""])


def read_schema(schema: Any) -> PublicSchema:
    """A schema with features, in any form that :func:`schema_source` takes."""
    read = PublicSchema(schema_source(schema)[0])
    if not read.features:
        remedy = "add a line for each column below [columns]"
        raise refused(315, "schema", "it declares no features", remedy)
    return read


def known_schema(text: str) -> PublicSchema | None:
    """A schema; none without a module for TOML."""
    return None if _toml.parsed("") is None else PublicSchema(text)


def label_table(label: Mapping[str, Any]) -> str:
    """The table ``[label]``: its column, and one of ``positive``, ``categories`` and ``bounds``."""
    return "\n".join(["[label]", *_toml.lines(label), ""])


def schema_text(columns: Mapping[str, tuple[float, float]], label: Mapping[str, Any]) -> str:
    """A schema of numbers, by their bounds. Each row is protected."""
    own = [
        f"{_toml.key(name, 'X', 307)} = {{ bounds = {_toml.written(pair, 'bounds')} }}"
        for name, pair in columns.items()
    ]
    return "\n".join(['unit = "row"', "", label_table(label), "[columns]", *own, ""])


def _parsed(text: str) -> dict[str, Any]:
    try:
        parsed = _toml.parsed(text)
    except ValueError as error:
        raise refused(311, "schema", f"not TOML ({error})", "correct the text at that place") from None
    if parsed is None:
        raise ImportError("a schema needs tomli before Python 3.11: pip install tomli")
    return parsed


def _features(columns: Any) -> list[Column]:
    features = []
    for name, kind in (columns if isinstance(columns, dict) else {}).items():
        if kind == "ignore":
            continue
        bounds = kind.get("bounds") if isinstance(kind, dict) else None
        categories = kind.get("categories") if isinstance(kind, dict) else None
        if (bounds is None) == (categories is None):
            raise _broken(name, "give bounds = [low, high] or categories = [...]")
        if bounds is not None:
            features.append(Column(name, _bounds(name, bounds), ()))
        else:
            features.append(Column(name, None, _categories(name, categories)))
    return features


def _bounds(
    name: str, bounds: Any, remedy: str = "give bounds = [low, high], two numbers"
) -> tuple[float, float]:
    is_pair = isinstance(bounds, list) and len(bounds) == 2
    if not is_pair or not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in bounds):
        raise _broken(name, remedy)
    try:
        low, high = float(bounds[0]), float(bounds[1])
    except OverflowError:
        raise _broken(name, remedy) from None
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low) and low < high):
        raise _broken(name, f"{remedy}; two finite numbers, the first below the second")
    return low, high


def _categories(name: str, categories: Any) -> tuple[str, ...]:
    if not isinstance(categories, list) or not all(isinstance(label, (str, int)) for label in categories):
        raise _broken(name, "give categories as a list of texts, integers or booleans")
    labels = tuple(category_text(label, "schema") for label in categories)
    if not labels or "" in labels or len(set(labels)) < len(labels):
        raise _broken(name, "give at least one category, each of them once and none of them blank")
    return labels


def _broken(name: str, remedy: str) -> ReticentError:
    return refused(312, "schema", f'column "{name}"', remedy, name)


def category_text(value: Any, argument: str) -> str:
    """The text by which a category is compared, as the native module has it."""
    return _tables.label(value, argument).strip()


#: What the native module reads as a number.
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)


def _number(text: str | None) -> float:
    text = "" if text is None else text.strip()
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def encoded(column: Column, values: Any, argument: str) -> NDArray[np.float64]:
    """The features of one column, from 0 to 1."""
    if column.bounds is None:
        return _one_hot(column.categories, values, argument)
    if isinstance(values, np.ndarray) and values.dtype.kind == "b":
        problem = f"{column.name!r} holds truth values, which have no position between bounds"
        raise refused(309, argument, problem, "declare categories, or give numbers", column.name)
    if not isinstance(values, np.ndarray):
        values = np.array([_number(text) for text in values], dtype=np.float64)
    numbers = values.astype(np.float64, copy=False)
    low, high = column.bounds
    missing = np.isnan(numbers)
    place = np.clip((np.clip(numbers, low, high) - low) / (high - low), 0.0, 1.0)
    return np.column_stack([np.where(missing, 0.0, place), missing.astype(np.float64)])


def _one_hot(categories: tuple[str, ...], values: Any, argument: str) -> NDArray[np.float64]:
    places = {label: place for place, label in enumerate(categories)}
    other, missing = len(categories), len(categories) + 1

    def place(value: Any) -> int:
        text = "" if _tables.is_missing(value) else category_text(value, argument)
        return places.get(text, other) if text else missing

    codes: NDArray[np.intp]
    if isinstance(values, np.ndarray):
        found, inverse = np.unique(values, return_inverse=True)
        codes = np.array([place(value) for value in found.tolist()], dtype=np.intp)[inverse]
    else:
        codes = np.array([place(value) for value in values], dtype=np.intp)
    features = np.zeros((len(codes), len(categories) + 2))
    features[np.arange(len(codes)), codes] = 1.0
    return features
