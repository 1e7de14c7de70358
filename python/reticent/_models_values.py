"""What estimators are fitted to: features, targets and classes, checked."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _classes, _tables
from ._arguments import refused
from ._columns import columns_of, not_numeric, read_columns
from ._core import brief
from ._schemas import PublicSchema, category_text
from .errors import DataError, ReticentError


class DataTypeError(DataError, TypeError):
    """What is a ``TypeError`` for scikit-learn."""


@contextlib.contextmanager
def about(argument: str) -> Iterator[None]:
    """Turns errors of scikit-learn and NumPy about an argument into errors that name it."""
    try:
        yield
    except ReticentError:
        raise
    except TypeError as error:
        raise DataTypeError(_without_values(str(error)), code="R309", field=argument) from None
    except (ValueError, OverflowError) as error:
        raise DataError(_without_values(str(error)), code="R307", field=argument) from None


def _without_values(message: str) -> str:
    """A message of scikit-learn or NumPy in one line, without values of the data."""
    if message.startswith("could not convert"):
        return "not numbers: give numbers, or declare categories in a schema"
    return " ".join(re.sub(r":?\s*array=.*?\.?\n(?=Reshape|$)", ".\n", message, flags=re.DOTALL).split())


def is_named(X: Any) -> bool:
    """Whether X has named columns and is not pandas', which scikit-learn reads by itself."""
    packages = ("polars", "pyarrow", "duckdb")
    return isinstance(X, Mapping) or any(_tables.is_of(X, package) for package in packages)


def named_numbers(X: Any, wanted: list[str] | None) -> tuple[list[str], NDArray[np.float64]]:
    """The columns of a data frame as one array of finite numbers; all of them if none is wanted by name."""
    names, columns = read_columns(X, columns_of(X, "X")[0] if wanted is None else wanted, "X")
    if not columns:
        raise refused(306, "X", "Found array with 0 feature(s)", "give at least one column")
    for name, values in columns:
        if isinstance(values, list):
            raise not_numeric(name, "X")
    arrays = [_tables.numbers(values, f"X[{name!r}]") for name, values in columns]
    return names, np.column_stack(arrays)


def check_kind(X: Any) -> None:
    """Refuses types that NumPy would turn into numbers without a word."""
    names: list[Any] = []
    if _tables.is_of(X, "pandas"):
        dtypes = list(X.dtypes) if hasattr(X, "columns") else [getattr(X, "dtype", None)]
        names = list(X.columns) if hasattr(X, "columns") else []
    else:
        dtypes = [X.dtype] if isinstance(X, np.ndarray) else []
    for place, dtype in enumerate(dtypes):
        kind = getattr(dtype, "kind", None)
        is_text = kind in ("U", "S", "T") or str(dtype).startswith(("str", "category"))
        if names and str(dtype) == "object":
            is_text = any(isinstance(value, str) for value in X.iloc[:, place])
        if names and is_text:
            raise not_numeric(str(names[place]), "X")
        if kind in ("M", "m") or is_text:
            problem = f"not numbers (dtype {dtype})"
            remedy = "give numbers, or declare categories in a schema"
            raise refused(309, "X", problem, remedy, str(dtype))


def checked_target(y: Any, name: str) -> NDArray[Any]:
    """A column without missing values."""
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "kind", None) in ("M", "m"):
        raise TypeError(f"y: dtype {dtype}: give numbers or texts")
    if _tables.is_of(y, "pandas") and hasattr(y, "isna"):
        if bool(np.asarray(y.isna()).any()):
            raise ValueError("Input y contains NaN.")
        y = y.to_numpy()
    elif _tables.is_of(y, "polars") or _tables.is_of(y, "pyarrow"):
        y = np.asarray(y)
    elif isinstance(y, (list, tuple)) and any(issubclass(kind, str) for kind in set(map(type, y))):
        # NumPy turns a missing value among texts into a text.
        _check_objects(y)
    array = np.asarray(column_or_1d(y, warn=True))
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"y: Complex data not supported (dtype {array.dtype})")
    if kind in "mMV":
        raise TypeError(f"y: dtype {array.dtype}: give numbers or texts")
    if kind == "f":
        _check_floats(array)
    if kind == "O":
        _check_objects(array.tolist())
    return array


def _check_floats(array: NDArray[Any]) -> None:
    if not np.isfinite(array).all():
        raise ValueError("Input y contains NaN." if np.isnan(array).any() else "Input y contains infinity.")


def _check_objects(values: Sequence[Any]) -> None:
    for kind in set(map(type, values)) - {str, bool, int}:
        own = [value for value in values if type(value) is kind]
        if issubclass(kind, (float, np.floating)):
            _check_floats(np.array(own, dtype=np.float64))
        elif _tables.is_missing(own[0]):
            raise ValueError("Input y contains NaN.")
        elif not issubclass(kind, (str, int, np.generic)):
            raise TypeError(f"y: holds a {kind.__name__}: give numbers or texts")


def labels_of(y: Any, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels of a target, sorted, and which of them each row has."""
    from sklearn.utils.multiclass import check_classification_targets

    if _tables.is_of(y, "pandas") and hasattr(y, "factorize") and str(y.dtype).startswith("str"):
        codes, known = y.factorize(sort=True)
        if (codes < 0).any():
            raise ValueError("Input y contains NaN.")
        return known.to_numpy(dtype=object), codes
    y = checked_target(y, name)
    texts = y.tolist() if y.dtype.kind in "OUT" else []
    if texts and all(issubclass(kind, str) for kind in set(map(type, texts))):
        # Only distinct texts are compared, which is faster than sorting all of them.
        found = sorted(set(texts))
        places = {text: place for place, text in enumerate(found)}
        rows = np.fromiter(map(places.__getitem__, texts), dtype=np.intp, count=len(texts))
        return np.array(found, dtype=y.dtype), rows
    check_classification_targets(y)
    labels, rows = np.unique(y, return_inverse=True)
    return labels, rows


def classes_of(declared: Any, found: NDArray[Any]) -> NDArray[Any]:
    """The declared classes, sorted; those of the target itself where they are declared to be public."""
    values = _classes.declared(declared, found.tolist)
    _classes.texts_of(values)
    if isinstance(declared, str):
        return found
    kinds = {next(kind for kind in (str, bool, object) if isinstance(value, kind)) for value in values}
    is_finite = all(not isinstance(value, float) or math.isfinite(value) for value in values)
    classes = np.unique(np.asarray(values)) if is_finite and len(kinds) == 1 else found[:0]
    if len(classes) < len(values) or classes.dtype.kind not in "biufU":
        remedy = "give distinct numbers, or distinct texts"
        raise refused(205, "classes", brief(declared), remedy, declared)
    return classes


def codes_of(found: NDArray[Any], texts: list[str]) -> NDArray[np.intp]:
    """The class of each label."""
    places = {text: place for place, text in enumerate(texts)}
    for label in found.tolist():
        if category_text(label, "y") not in places:
            raise _classes.undeclared("y")
    return np.asarray([places[category_text(label, "y")] for label in found.tolist()], dtype=np.intp)


def cells(texts: list[str], codes: NDArray[np.intp]) -> Any:
    """The label of every row: integers where all classes are, otherwise texts."""
    with contextlib.suppress(ValueError, OverflowError):
        integers = np.asarray([int(text) for text in texts], dtype=np.int64)
        if [str(integer) for integer in integers.tolist()] == texts:
            return np.ascontiguousarray(integers[codes])
    return np.asarray(texts, dtype=object)[codes].tolist()


def check_label(label: Mapping[str, Any]) -> None:
    """Refuses a label of a schema that is a number."""
    if "bounds" in label:
        remedy = "give a schema whose label has classes, or use Ridge"
        raise refused(103, "schema", "its label is a number", remedy)


def order_of(schema: PublicSchema, texts: list[str]) -> list[int]:
    """Which of the texts each class of the native module is; of two classes, which one is positive."""
    label = schema.label or {}
    check_label(label)
    categories, positive = label.get("categories"), label.get("positive")
    if isinstance(categories, list):
        own = [category_text(value, "schema") for value in categories]
        if sorted(own) == sorted(texts):
            return [texts.index(text) for text in own]
    elif positive is not None:
        text = category_text(positive, "schema")
        if text in texts and len(texts) == 2:
            return [texts.index(text)]
    problem = "they are not those of the schema's label"
    raise refused(103, "classes", problem, "give the classes that the schema's label has")
