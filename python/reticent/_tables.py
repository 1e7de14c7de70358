"""Data frames, arrays and files as tables.

The names and the types of columns are public; the values are not. So a type is what the data declare (a
dtype), and never what the values look like. Lists and arrays of objects declare nothing: their numbers are
floats, and everything else in them is text.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from . import _native
from ._core import brief
from .errors import DataError, InvalidValueError, ReticentError, RequestError

#: What names a column of an array has: ``x0``, ``x1``, ….
PREFIX = "x"

#: Integers up to here are floats without rounding; from here on a float may be one that was rounded.
EXACT = 2**53

Table = _native.Table
Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


def is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether data are given as a path."""
    return isinstance(data, (str, os.PathLike))


def table(
    data: Any,
    argument: str = "data",
    name: str | None = None,
    read: Callable[[str], bool] | None = None,
    rest: bool = True,
    reading: Mapping[str, Any] | None = None,
) -> _native.Table:
    """Data in memory as a table.

    Takes whatever has the Arrow PyCapsule interface (pyarrow, polars, DuckDB relations) without a copy where
    its memory allows, pandas data frames, mappings of column names to arrays or lists, and two-dimensional
    arrays, whose columns are called ``x0``, ``x1``, ….

    Columns whose names ``read`` does not want are there by name only: their values are not looked at,
    whatever their type. Without ``rest`` they are left out; the first stays if there is no other.

    ``reading`` is what :func:`reading_of` makes of the options of files.
    """
    name = name or argument
    if is_path(data):
        return _native.Table.open(os.fsdecode(data), json.dumps(reading or {}))
    if reading is not None:
        for option, value in reading.items():
            if value and option != "derive":
                raise RequestError(
                    f"reading[{option!r}]: only for files: data in memory are not read from text",
                    code="R103",
                    field="reading",
                    value=option,
                    remedy="leave it out",
                )
        taken = table(data, argument, name, read, rest)
        return taken.derived(json.dumps({"derive": reading["derive"]})) if reading["derive"] else taken
    if isinstance(data, _native.Table):
        return data
    parts = _parts(data, argument)
    if parts is None:
        return _arrow(data, argument, name, None if rest else read)
    if not parts:
        raise _wrong_data(argument, f"{type(data).__name__} without columns")
    lengths = {own: _length(values, f"{argument}[{own!r}]") for own, values in parts}
    rows = next(iter(lengths.values()))
    for own, length in lengths.items():
        if length != rows:
            raise DataError(
                f"{argument}: column {own!r} has {length} rows and column {parts[0][0]!r} has {rows}: "
                "give columns of the same length",
                code="R307",
                field=argument,
                remedy="give columns of the same length",
            )
    if read is not None and not rest:
        parts = [part for part in parts if read(part[0])] or parts[:1]
    unread = np.zeros(rows, dtype=np.bool_)
    columns = [
        (own, column(values, f"{argument}[{own!r}]") if read is None or read(own) else unread)
        for own, values in parts
    ]
    try:
        return _native.Table.from_columns(name, columns)
    except ReticentError as error:
        if error.field is not None:
            raise
        raise DataError(
            f"{argument}: {error}", code=error.code, field=argument, value=error.value, remedy=error.remedy
        ) from None


#: The options of files, with the types of their values; lists hold texts.
_OPTIONS: dict[str, type] = {
    "also": list,
    "separator": str,
    "quoting": str,
    "missing": list,
    "decimal_comma": bool,
    "encoding": str,
    "derive": list,
    "format": str,
}


def reading_of(reading: Mapping[str, Any] | None, argument: str = "reading") -> dict[str, Any]:
    """How files are read, as requests have it: every option of :func:`reticent.read_table`, checked for its
    type."""
    options: dict[str, Any] = {"also": [], "decimal_comma": False, "derive": []}
    if reading is not None and not isinstance(reading, Mapping):
        raise _wrong_option(argument, reading, "give a mapping, such as {'separator': ';'}")
    for option, value in (reading or {}).items():
        kind = _OPTIONS.get(option) if isinstance(option, str) else None
        if kind is None:
            raise _wrong_option(argument, option, f"unknown option: give {', '.join(_OPTIONS)}")
        if value is None:
            continue
        place = f"{argument}[{option!r}]"
        if kind is list:
            given = [value] if is_path(value) else listed(value, place)
            if not all(is_path(own) for own in given):
                raise _wrong_option(place, value, "give a list of texts")
            options[option] = [text(os.fsdecode(own), place) for own in given]
        elif not isinstance(value, kind):
            wanted = "True or False" if kind is bool else "text"
            raise _wrong_option(place, value, f"give {wanted}")
        else:
            options[option] = text(value, place) if isinstance(value, str) else value
    separator = options.get("separator")
    if separator is not None and len(separator) != 1:
        place = f"{argument}['separator']"
        raise _wrong_option(place, separator, "give one character, such as ';' or '\\t'")
    return options


def _wrong_option(argument: str, value: Any, remedy: str) -> RequestError:
    message = f"{argument} = {brief(value)}: {remedy}"
    return RequestError(message, code="R104", field="reading", value=brief(value), remedy=remedy)


def read_table(path: str | os.PathLike[str], **options: Any) -> Table:
    """A table of files, for every function that takes data. Nothing but its columns is read yet.

    ``path`` is a file (CSV or TSV, also with gzip or zstd compression, Parquet, Arrow IPC), a folder of
    Parquet files, a glob such as ``visits/*.csv``, or ``-`` for standard input. The options:

    - ``also``: further files of the same columns.
    - ``separator``: the character between fields of CSV text; by default the one of ``,`` ``;`` tab and
      ``|`` that the header line has most of.
    - ``quoting``: ``"double"`` (the default), ``"backslash"`` or ``"none"``.
    - ``missing``: the texts that count as missing, besides blank; by default ``NA``, ``N/A`` and ``null``.
    - ``decimal_comma``: whether ``1,5`` is 1.5 in CSV text.
    - ``encoding``: ``"utf-8"`` (the default), ``"windows-1252"``, ``"latin1"`` or ``"utf-16"``.
    - ``derive``: columns computed from others, such as ``"bmi = weight / (height*height) in 10,60"``.
    - ``format``: ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"arrow"``, if the names of the files do not tell.

    Functions that take a path take the same options as a mapping, ``reading={...}``.

    >>> import pathlib, reticent, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;income\\n31;1.200,50\\nNA;900\\n")
    ...     reticent.read_table(file, decimal_comma=True).columns()
    [('age', 'text'), ('income', 'text')]
    """
    if not is_path(path):
        raise _wrong_option("path", path, "give the path of a file")
    return table(path, "path", reading=reading_of(options))


def _parts(data: Any, argument: str) -> list[tuple[str, Any]] | None:
    """The columns by name; ``None`` for what crosses as Arrow."""
    if is_of(data, "pandas"):
        if not hasattr(data, "columns"):
            raise _wrong_data(argument, type(data).__name__)
        return [(str(own), data.iloc[:, place]) for place, own in enumerate(data.columns)]
    if hasattr(data, "__arrow_c_stream__") or (is_of(data, "duckdb") and hasattr(data, "arrow")):
        return None
    if is_of(data, "polars"):
        raise _wrong_data(argument, f"{type(data).__name__}, which is not collected")
    if isinstance(data, Mapping):
        return [(str(own), data[own]) for own in data]
    array: Any = data if isinstance(data, np.ma.MaskedArray) else _array(data, argument)
    if array.dtype.names is not None and array.ndim == 1:
        return [(own, array[own]) for own in array.dtype.names]
    if array.ndim != 2:
        kind = type(data).__name__
        raise _wrong_data(argument, f"{kind} of {array.ndim} dimensions" if array.ndim else kind)
    if isinstance(data, (list, tuple)):
        # Rows of values without a declared type.
        array = np.array(data, dtype=object)
    return [(f"{PREFIX}{place}", array[:, place]) for place in range(array.shape[1])]


def _length(values: Any, argument: str) -> int:
    try:
        return len(values)
    except TypeError:
        raise _wrong_column(argument, 0) from None


def names(data: Any) -> list[str] | None:
    """The names of columns, where they are known without reading anything."""
    if isinstance(data, Mapping):
        return [str(own) for own in data]
    is_frame = is_of(data, "pandas") or hasattr(data, "__arrow_c_stream__")
    columns = getattr(data, "columns", None) if is_frame and not is_of(data, "pyarrow") else None
    if columns is not None:
        return [str(own) for own in columns]
    if isinstance(data, np.ndarray):
        if data.dtype.names is not None:
            return list(data.dtype.names)
        return [f"{PREFIX}{place}" for place in range(data.shape[1])] if data.ndim == 2 else None
    return None


def _arrow(data: Any, argument: str, name: str, read: Callable[[str], bool] | None) -> _native.Table:
    try:
        if read is not None and is_of(data, "polars"):
            data = data.select([own for own in data.columns if read(own)] or data.columns[:1])
        stream = data if hasattr(data, "__arrow_c_stream__") else data.arrow()
        return _native.Table.from_arrow(name, stream)
    except Exception as error:
        # What a producer raised comes with its traceback.
        if isinstance(error, ReticentError) and "\n" not in str(error):
            raise
        raise _not_arrow(data, argument, error) from error


def _not_arrow(data: object, argument: str, error: Exception) -> DataError:
    return DataError(
        f"{argument}: {type(data).__name__} cannot be read as Arrow data: {_line(error)}",
        code="R305",
        field=argument,
        remedy="convert its columns to numbers or text",
    )


def is_of(data: object, package: str) -> bool:
    """Whether an object is of a class of that package or of one derived from it, without importing it."""
    return any(own.__module__.split(".", 1)[0] == package for own in type(data).__mro__)


def single(data: Any, name: str | None = None) -> tuple[str, Any] | None:
    """One column as a table: its name, and data that :func:`table` takes; ``None`` for more than one
    column."""
    if isinstance(data, (Mapping, _native.Table)) or is_path(data):
        return None
    own = getattr(data, "name", None)
    name = name or (own if isinstance(own, str) and own else "value")
    if is_of(data, "polars"):
        return (name, data.alias(name).to_frame()) if hasattr(data, "to_frame") else None
    if hasattr(data, "columns"):
        return None
    if is_of(data, "pyarrow"):
        pa: Any = importlib.import_module("pyarrow")
        is_column = isinstance(data, (pa.Array, pa.ChunkedArray))
        return (name, pa.table({name: data})) if is_column else None
    if is_of(data, "duckdb") or hasattr(data, "__arrow_c_stream__") and not is_of(data, "pandas"):
        return None
    if isinstance(data, (list, tuple)):
        nested = any(hasattr(value, "__len__") and not isinstance(value, (str, bytes)) for value in data[:1])
        return None if nested else (name, {name: data})
    try:
        is_column = np.ndim(data) == 1 and getattr(getattr(data, "dtype", None), "names", None) is None
    except Exception:
        is_column = False
    return (name, {name: data}) if is_column else None


def shown(name: str) -> str:
    """The name of a column in a message."""
    return name if name.isprintable() and len(name) <= 60 else brief(name)


def pick(data: Any, name: str, argument: str) -> Any:
    """The values of one column, as the data hold them."""
    if is_of(data, "pandas") and hasattr(data, "columns"):
        names = [str(own) for own in data.columns]
        if _is_there(name, names, argument):
            return data.iloc[:, names.index(name)]
    elif is_of(data, "polars") and hasattr(data, "columns"):
        names = list(data.columns)
        if name in names:
            return data[name]
    elif isinstance(data, Mapping):
        names = [str(own) for own in data]
        if _is_there(name, names, argument):
            return data[list(data)[names.index(name)]]
    elif hasattr(data, "__arrow_c_stream__"):
        try:
            frame = importlib.import_module("pyarrow").table(data)
        except Exception as error:
            raise _not_arrow(data, argument, error) from error
        names = list(frame.column_names)
        if _is_there(name, names, argument):
            return frame.column(names.index(name))
    else:
        parts = dict(_parts(data, argument) or [])
        names = list(parts)
        if name in parts:
            return parts[name]
    raise DataError(
        f"column: column {name!r} is not in {argument}: it has {', '.join(map(shown, names[:20]))}",
        code="R306",
        field="column",
        value=name,
        remedy="give the name of a column",
    )


def _is_there(name: str, names: list[str], argument: str) -> bool:
    """Whether there is a column of that name; two of them are refused."""
    if names.count(name) > 1:
        raise DataError(
            f"{argument}: two columns are named {shown(name)}: rename one of them",
            code="R306",
            field=argument,
            value=name,
            remedy="rename one of them",
        )
    return name in names


def column(values: Any, argument: str) -> Any:
    """One column in the form of the native module: numbers, truth values, or a list of texts and ``None``.

    The type depends on the declared type of the values alone. Columns of integers that may lack values
    (pandas ``Int64``) and lists of integers are floats.
    """
    if is_of(values, "pandas"):
        if not hasattr(values, "dtype"):
            raise _wrong_column(argument, 2 if hasattr(values, "columns") else 0)
        return _pandas_column(values, argument)
    if isinstance(values, (list, tuple)):
        return _untyped(values, argument)
    if isinstance(values, np.ma.MaskedArray):
        return _masked(values, argument)
    if is_of(values, "polars") or is_of(values, "pyarrow"):
        is_frame = hasattr(values, "columns") or hasattr(values, "collect")
        if is_frame or not hasattr(values, "__len__"):
            raise _wrong_column(argument, 2 if is_frame else 0)
        return _arrow_column(values, argument)
    array = _array(values, argument)
    if array.ndim != 1:
        raise _wrong_column(argument, array.ndim)
    return _numpy_column(array, argument)


def contiguous(array: Array, dtype: Any = None) -> Any:
    """The same numbers one after the other and aligned, as the native module reads them."""
    return np.require(array, dtype, ("C", "A"))


def _numpy_column(array: Array, argument: str) -> Any:
    kind = array.dtype.kind
    if kind == "b":
        return contiguous(array)
    if kind in "iu":
        if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise _too_large(argument, "64 bits with a sign")
        return contiguous(array, np.int64)
    if kind == "f":
        return contiguous(array, np.float64)
    if kind == "U":
        return array.tolist()
    if kind in "ST":
        return _texts(array.tolist(), argument)
    if kind == "O":
        return _untyped(array.tolist(), argument)
    raise _unsupported(argument, str(array.dtype))


def _pandas_column(values: Any, argument: str) -> Any:
    dtype = values.dtype
    kind = getattr(dtype, "kind", "O")
    name = str(dtype)
    if name == "category":
        categories = values.array.categories
        own = str(categories.dtype)
        if getattr(categories.dtype, "kind", "O") in "mM" or own.startswith(("interval", "period")):
            raise _unsupported(argument, f"category of {own}")
        # The code of a missing value is -1, the last place.
        known = np.array([*_texts(categories.to_list(), argument), None], dtype=object)
        return known[np.asarray(values.array.codes)].tolist()
    if name.startswith(("string", "str")):
        return values.to_numpy(dtype=object, na_value=None).tolist()
    if name == "object":
        return _untyped(values.to_numpy(dtype=object).tolist(), argument)
    if isinstance(dtype, np.dtype):
        return _numpy_column(values.to_numpy(), argument)
    if kind == "b":
        return _texts(values.to_numpy(dtype=object, na_value=None).tolist(), argument)
    if kind in "iu":
        return _exact(values.to_numpy(dtype=np.float64, na_value=np.nan), argument)
    if kind == "f":
        return contiguous(values.to_numpy(dtype=np.float64, na_value=np.nan))
    raise _unsupported(argument, name)


def _arrow_column(values: Any, argument: str) -> Any:
    """A column of polars or pyarrow inside of a mapping."""
    name = str(getattr(values, "dtype", None) or getattr(values, "type", ""))
    kind = name.lower()
    if kind.startswith(("int", "uint")) and not kind.startswith("interval"):
        return _exact(np.asarray(values).astype(np.float64), argument)
    if kind.startswith(("float", "double", "halffloat")):
        return contiguous(np.asarray(values), np.float64)
    texts = ("string", "large_string", "utf8", "categorical", "enum", "bool", "dictionary", "null")
    if kind.startswith(texts):
        listed = values.to_list() if hasattr(values, "to_list") else values.to_pylist()
        return _texts(listed, argument)
    raise _unsupported(argument, name)


def _masked(values: Any, argument: str) -> Any:
    if values.ndim != 1:
        raise _wrong_column(argument, values.ndim)
    if values.dtype.kind in "iu":
        return _exact(values.astype(np.float64).filled(np.nan), argument)
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values.astype(np.float64).filled(np.nan))
    if values.dtype.kind in "bUSO":
        return _texts(values.tolist(), argument)
    raise _unsupported(argument, str(values.dtype))


def _untyped(values: Sequence[Any], argument: str) -> Any:
    """Values without a declared type: floats if all are numbers, otherwise texts and ``None``."""
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return list(values)
    is_bool = [issubclass(kind, (bool, np.bool_)) for kind in kinds]
    if all(is_bool) and kinds:
        return np.array(values, dtype=np.bool_)
    numeric = (int, float, np.integer, np.floating)
    if not any(is_bool) and all(issubclass(kind, numeric) or _is_missing_type(kind) for kind in kinds):
        try:
            floats = np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
        except OverflowError:
            raise _too_large(argument, "1024 bits") from None
        has_integers = any(issubclass(kind, (int, np.integer)) for kind in kinds)
        return _exact(floats, argument) if has_integers else floats
    return _texts(values, argument)


def _exact(floats: Floats, argument: str) -> Floats:
    """Integers as floats, if none of them was rounded."""
    if (np.abs(floats) >= EXACT).any():
        raise _too_large(argument, "53 bits in a column whose type is not one of 64-bit integers")
    return contiguous(floats)  # type: ignore[no-any-return]


def _texts(values: Sequence[Any], argument: str) -> list[str | None]:
    if set(map(type, values)) <= {str, type(None)}:
        return list(values)
    return [None if is_missing(value) else label(value, argument) for value in values]


def label(value: Any, argument: str) -> str:
    """The text of a category: as the library writes the same value in a column."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        if abs(int(value)).bit_length() > 1024:
            raise _too_large(argument, "1024 bits")
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            return {"inf": "inf", "-inf": "-inf"}.get(str(value), "NaN")
        return np.format_float_positional(float(value) + 0.0, trim="-")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise _unsupported(argument, "bytes that are not UTF-8 text") from None
    raise _unsupported(argument, type(value).__name__)


def labels(values: Any, argument: str) -> list[str]:
    """Public values, such as categories, as texts."""
    return labelled(values, argument)[1]


def labelled(values: Any, argument: str) -> tuple[list[Any], list[str]]:
    """Public values, such as categories, as a list and as texts."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise RequestError(
            f"{argument} = {brief(values)}: give a list, such as ['yes', 'no']",
            code="R104",
            field=argument,
            value=brief(values),
            remedy="give a list, such as ['yes', 'no']",
        )
    given = listed(values, argument)
    if any(is_missing(value) for value in given):
        raise RequestError(
            f"{argument}: a missing value is not a category: leave it out",
            code="R104",
            field=argument,
            remedy="leave missing values out",
        )
    return given, [text(label(value, argument), argument) for value in given]


def listed(values: Any, argument: str) -> list[Any]:
    """Public values as a list."""
    try:
        return list(values.tolist() if hasattr(values, "tolist") else values)
    except Exception as error:
        raise RequestError(
            f"{argument}: {type(values).__name__} is not a list: {_line(error)}",
            code="R104",
            field=argument,
            remedy="give a list",
        ) from error


def text(value: str, argument: str) -> str:
    """Text that can be part of a request."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(
            f"{argument} = {value!a}: not text that can be written in UTF-8: correct it",
            code="R201",
            field=argument,
            value=ascii(value),
            remedy="correct the characters that are not Unicode",
        ) from None
    return value


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: ``None``, NaN, or what pandas has for that."""
    if value is None or _is_missing_type(type(value)):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _is_missing_type(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType")


def numbers(values: Any, argument: str, allow_missing: bool = False) -> Floats:
    """An array of finite 64-bit floats; the original if it is one.

    ``allow_missing`` lets NaN stand for a missing value.
    """
    array = _floats(values, argument)
    # If the sum is finite then all are, and it takes half the time. Otherwise it may have overflown.
    with np.errstate(over="ignore", invalid="ignore"):
        is_fine = bool(np.isfinite(array.sum()))
    if not is_fine:
        bad = np.isinf(array) if allow_missing else ~np.isfinite(array)
        if bad.any():
            what = "infinity" if allow_missing else "NaN or infinity"
            raise DataError(
                f"{argument}: holds {what}: remove or replace what is not a finite number",
                code="R307",
                field=argument,
                remedy="remove or replace what is not a finite number",
            )
    return array


def _floats(values: Any, argument: str) -> Floats:
    if hasattr(values, "toarray"):
        raise _not_numbers(values, argument, "give a dense array: toarray()")
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind not in "biuf":
            raise _not_numbers(values, argument)
        return np.ma.filled(values.astype(np.float64), np.nan)
    if is_of(values, "pandas") and hasattr(values, "to_numpy"):
        values = _pandas_floats(values, argument)
    array = _array(values, argument)
    kind = array.dtype.kind
    if kind == "O" and not all(
        isinstance(value, (int, float, np.integer, np.floating, np.bool_)) or is_missing(value)
        for value in array.flat
    ):
        raise _not_numbers(values, argument)
    if kind not in "biufO":
        raise _not_numbers(values, argument)
    try:
        if kind == "O":
            present = [np.nan if is_missing(value) else value for value in array.flat]
            array = np.array(present, dtype=np.float64).reshape(array.shape)
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise _not_numbers(values, argument) from None


def _pandas_floats(values: Any, argument: str) -> Any:
    """Numbers of pandas with NaN for missing values; columns of other types are refused by name."""
    if not hasattr(values, "columns") and not hasattr(values, "dtype"):
        raise _not_numbers(values, argument)
    dtypes = values.dtypes if hasattr(values, "columns") else [values.dtype]
    names = list(values.columns) if hasattr(values, "columns") else [None]
    for name, dtype in zip(names, dtypes, strict=True):
        kind = getattr(dtype, "kind", "O")
        if str(dtype) == "category" or kind not in "biufO" or (kind == "O" and str(dtype) != "object"):
            place = argument if name is None else f"{argument}[{name!r}]"
            raise DataError(
                f"{place}: not numbers (dtype {dtype}): convert or drop the column",
                code="R309",
                field=argument,
                value=str(dtype),
                remedy="convert or drop the column",
            )
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return values.to_numpy()
    if any(str(dtype) == "object" for dtype in dtypes):
        return values.to_numpy(dtype=object)
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _array(values: Any, argument: str) -> Array:
    try:
        return np.asarray(values)
    except Exception as error:
        raise DataError(
            f"{argument}: {type(values).__name__} is not an array: {_line(error)}",
            code="R309",
            field=argument,
            remedy="give an array whose rows have the same length",
        ) from error


def _line(error: Exception) -> str:
    """The first line of an error of another package, without characters that no terminal can show."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    first = first.split(". Detail: Python exception")[0]
    return "".join(own if own.isprintable() else "?" for own in first)


def _not_numbers(values: Any, argument: str, remedy: str = "give an array of numbers") -> DataError:
    dtype = getattr(values, "dtype", None)
    shown = f"dtype {dtype}" if dtype is not None else type(values).__name__
    message = f"{argument}: not numbers ({shown}): {remedy}"
    return DataError(message, code="R309", field=argument, value=shown, remedy=remedy)


def _wrong_data(argument: str, given: str) -> RequestError:
    remedy = "give a data frame, a mapping of columns, a path, or an array with two dimensions"
    message = f"{argument}: {remedy}, not {given}"
    return RequestError(message, code="R104", field=argument, value=given, remedy=remedy)


def _wrong_column(argument: str, dimensions: int) -> RequestError:
    return RequestError(
        f"{argument}: a column has one dimension, not {dimensions}",
        code="R104",
        field=argument,
        remedy="give one value for each row",
    )


def _unsupported(argument: str, kind: str) -> DataError:
    return DataError(
        f"{argument}: a column of type {kind} cannot be read: convert it to numbers or text",
        code="R309",
        field=argument,
        value=kind,
        remedy="convert it to numbers or text",
    )


def _too_large(argument: str, bits: str) -> DataError:
    return DataError(
        f"{argument}: holds integers of more than {bits}: convert it to floats or text",
        code="R309",
        field=argument,
        remedy="convert it to floats or text",
    )
