"""Data in memory as tables and images of the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from .._arguments import naming, path, refused
from .._columns import not_numeric
from .._tables import PREFIX, column, is_path, numbers, pick, table
from .images import pixels_of
from .labels import array_of, check_labels, labels_of, positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Given = _native.Table | _native.Pictures

#: The column of labels that are given beside the features.
LABEL = "label"
#: The column of texts that are given as a list.
TEXT = "text"


def is_frame(data: Any) -> bool:
    """Whether data have named columns."""
    if isinstance(data, (Mapping, _native.Table)):
        return True
    named = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return named and (_package(data) in ("pandas", "duckdb") or hasattr(data, "__arrow_c_stream__"))


def is_texts(data: Any) -> bool:
    """Whether data are a list or a series of texts."""
    if isinstance(data, np.ndarray) and (data.ndim != 1 or data.dtype.kind not in "USO"):
        return False
    items = _listed(data)
    return items is not None and any(isinstance(item, (str, bytes)) for item in items)


def column_names(X: Any) -> list[str]:
    """The names of a table's columns."""
    if is_path(X):
        X = _opened(X, "X")
    if isinstance(X, _native.Table):
        return [name for name, _ in X.columns()]
    if isinstance(X, Mapping):
        return [str(name) for name in X]
    found = getattr(X, "column_names", None)
    if found is None:
        found = X.columns if hasattr(X, "columns") else X.schema.names
    return [str(name) for name in found]


def matrix(X: Any, argument: str) -> NDArray[np.float64]:
    """Numbers in rows and columns."""
    array = array_of(X, argument)
    if array.ndim != 2:
        described = f"{type(X).__name__} of {array.ndim} dimensions" if array.ndim else type(X).__name__
        remedy = "give a table, an array of numbers with two dimensions, uint8 images, or a list of texts"
        raise refused(104, argument, f"not rows of features but {described}", remedy)
    if 0 in array.shape:
        raise refused(308, argument, f"an array of shape {array.shape} has no values", "give rows")
    return numbers(array, argument)


def _package(data: Any) -> str:
    return type(data).__module__.split(".", 1)[0]


def _listed(data: Any) -> list[Any] | None:
    """The items of a list or a series."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(data, method):
            data = getattr(data, method)()
            break
    return list(data) if isinstance(data, (list, tuple)) else None


def _texts(data: Any, argument: str) -> list[str]:
    items = _listed(data)
    if items == []:
        raise refused(308, argument, "no rows", "give texts")
    if items is None or not is_texts(data):
        raise refused(309, argument, "not texts", "give a list of texts, or a table with that column")
    for place, item in enumerate(items):
        if not isinstance(item, str):
            problem = f"row {place} is not text but {type(item).__name__}"
            raise refused(309, argument, problem, "give texts alone; an empty one for a missing text")
    return items


def _opened(X: Any, argument: str) -> _native.Table:
    """The table of a file."""
    with naming(argument):
        return table(path(argument, X), argument)


@dataclass(frozen=True)
class Reader:
    """How data in memory become a table or images for the library."""

    #: ``"table"``, ``"text"`` or ``"images"``.
    kind: str
    #: The column of labels; ``None`` if its name is not known.
    label: str | None = None
    #: The column of texts.
    text: str | None = None
    #: The texts of the classes, where labels are compared with them.
    classes: tuple[str, ...] | None = None
    #: Whether the label is a number.
    is_number: bool = False
    #: The columns that are read besides the label; ``None`` for all.
    columns: frozenset[str] | None = None
    #: The columns that have to be numbers, as their bounds are given as an argument.
    numeric: frozenset[str] = frozenset()
    #: Whether labels inside of a table are compared with the classes here; a schema says what others mean.
    checks_table: bool = True
    #: How many columns an array has.
    width: int | None = None
    #: The shape of an image: channels, height, width.
    shape: tuple[int, ...] | None = None
    #: Whether texts have no labels, for a language model.
    is_language: bool = False
    #: Where the channels of images are: ``"first"``, ``"last"``, or ``None`` to tell it by the sizes.
    channels: str | None = None

    def unlabelled(self, X: Any) -> Given:
        """Data without labels."""
        if self.kind == "images":
            pixels = pixels_of(X, "X", self.channels, self.shape)
            return _native.Pictures("X", pixels, np.zeros(len(pixels), dtype=np.uint8))
        return self._unlabelled(X, "X")

    def _unlabelled(self, X: Any, argument: str) -> _native.Table:
        if is_frame(X):
            return self._checked(table(X, argument, read=self._is_read), argument)
        return self._table(self._features(X, argument), argument)

    def labelled(self, X: Any, y: Any, names: tuple[str, str] = ("X", "y")) -> Given:
        """Data with labels: ``y``, or a column of ``X``. ``names`` are those of the arguments."""
        own, of = names
        if self.kind == "images":
            pixels = pixels_of(X, own, self.channels, self.shape)
            positions = positions_of(y, self.classes or tuple(map(str, range(256))), of)
            self._check_rows(len(positions), len(pixels), of)
            return _native.Pictures(own, pixels, positions)
        if is_path(X):
            if y is not None:
                raise refused(103, of, "a file holds its labels", "leave it out")
            return _opened(X, own)
        if self.is_language:
            if y is not None:
                raise refused(103, of, "a language model has no labels", "leave it out")
            return self._unlabelled(X, own)
        if is_frame(X):
            if y is not None:
                X = self._joined(X, y, names)
            elif self.checks_table and self.classes is not None and self.label is not None:
                check_labels(labels_of(pick(X, self.label, own), own), self.classes, own)
            return self._checked(table(X, own, read=self._is_read), own)
        columns = self._features(X, own)
        return self._table([*columns, (self.label or LABEL, self._labels(y, of, len(columns[0][1])))], own)

    def _checked(self, own: _native.Table, argument: str) -> _native.Table:
        """Refuses texts in columns that have to be numbers."""
        for name, kind in own.columns() if self.numeric else ():
            if kind == "text" and name in self.numeric:
                raise not_numeric(name, argument)
        return own

    def _is_read(self, name: str) -> bool:
        return self.columns is None or name in self.columns or name == self.label

    def _features(self, X: Any, argument: str) -> list[tuple[str, Any]]:
        """The columns of an array or of texts."""
        if self.kind == "text":
            return [(self.text or TEXT, _texts(X, argument))]
        array = matrix(X, argument)
        if self.width is not None and array.shape[1] != self.width:
            problem = f"{array.shape[1]} columns, but the network was trained on {self.width}"
            raise refused(504, argument, problem, "give the same columns")
        return [(f"{PREFIX}{at}", np.ascontiguousarray(own)) for at, own in enumerate(array.T)]

    def _table(self, columns: list[tuple[str, Any]], argument: str) -> _native.Table:
        with naming(argument):
            return _native.Table.from_columns(argument, columns)

    def _labels(self, y: Any, argument: str, rows: int | None) -> Any:
        """The labels as a column."""
        if self.is_number and y is not None:
            values: Any = numbers(y, argument)
            if values.ndim != 1:
                raise refused(104, argument, "labels have one dimension", "give one number for each row")
            values = np.ascontiguousarray(values)
        elif self.classes is None and y is not None:
            values = column(y, argument)
        else:
            values = labels_of(y, argument)
            check_labels(values, self.classes or (), argument)
        self._check_rows(len(values), rows, argument)
        return values

    def _check_rows(self, labels: int, rows: int | None, argument: str) -> None:
        if rows is not None and labels != rows:
            raise refused(307, argument, f"{labels} labels for {rows} rows", "give one label for each row")

    def _joined(self, X: Any, y: Any, names: tuple[str, str]) -> Any:
        """A table with the labels that are given beside it."""
        own, of = names
        label = self.label
        if label is None:
            problem = "the name of the label's column is not known"
            raise refused(102, "label", problem, "give it, or put the labels into the table")
        if label in column_names(X):
            raise refused(103, of, f"{own} has a column {label!r} already", "leave one of them out")
        rows = next(iter(X.values()), ()) if isinstance(X, Mapping) else X
        values = self._labels(y, of, len(rows) if hasattr(rows, "__len__") else None)
        if isinstance(X, Mapping):
            return {**X, label: values}
        if _package(X) == "pandas":
            joined = X.copy(deep=False)
            joined[label] = values
            return joined
        if _package(X) == "polars" and hasattr(X, "with_columns"):
            import polars

            return X.with_columns(polars.Series(label, values))
        if _package(X) == "pyarrow" and hasattr(X, "append_column"):
            return X.append_column(label, [values])
        problem = f"labels cannot be joined to a {type(X).__name__}"
        raise refused(103, of, problem, f"put them into {own} as the column {label!r}")


def validation_of(reader: Reader, given: Any, X: Any, train: Given) -> Given:
    """Public data of the same kind as ``X``, with labels. The training data themselves are passed on as the
    same object, which the library refuses."""
    own, labels = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if own is X:
        return train
    if reader.kind == "images" and is_path(own):
        remedy = "give images and labels, as the training data are in memory"
        raise refused(104, "validation", "a path", remedy)
    return reader.labelled(own, labels, ("validation", "validation"))
