"""Arguments of releases."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import _tables
from .._refusals import invalid, missing
from .._core import brief, finite
from .._progress import display
from ..errors import ReticentError

Path = str | os.PathLike[str]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PUBLIC = "public knowledge, never read off the data"

#: What to give for arguments that are needed.
_REMEDIES = {
    "bounds": f"give the lower and the upper bound, such as bounds=(0, 120): they are {_PUBLIC}",
    "categories": f"give the list of categories, such as categories=['yes', 'no']: they are {_PUBLIC}",
    "epsilon": "give a privacy budget, such as epsilon=1",
    "quantile": "give a number from 0 to 1, such as quantile=0.9",
    "value": "give the value whose proportion is asked for, such as value='yes'",
}

#: Arguments that requests call otherwise.
_NAMES = {
    "filter": "where",
    "file": "data",
    "rows": "rows_per_person",
    "groups": "groups_per_person",
    "totals": "totals_per_person",
}


def column_of(data: Any, column: str | int) -> str:
    """The name of a column; columns of arrays may be given by number."""
    is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if is_number and not isinstance(data, Mapping) and not hasattr(data, "columns"):
        return f"{_tables.PREFIX}{column}"
    return name_of("column", column)


def name_of(argument: str, name: str | int) -> str:
    """The name of a column as text."""
    is_name = isinstance(name, (str, int, float, tuple, np.generic)) and not isinstance(name, bool)
    if not is_name or (isinstance(name, int) and name.bit_length() > 1024):
        raise invalid(argument, brief(name), "give the name of a column")
    return _tables.text(str(name), argument)


def need_column(column: str | int | None) -> str:
    """The name of a column of a file."""
    if column is None:
        raise missing("column", "give the name of a column, such as column='age'")
    return name_of("column", column)


def number_of(name: str, value: float | None) -> float | None:
    """A finite number, or none."""
    finite(**{name: value})
    return None if value is None else float(value)


def whole_of(name: str, value: int | None) -> int | None:
    """A whole number, or none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**64:
        raise invalid(name, brief(value), "give a whole number")
    return int(value)


def numbers_of(name: str, values: Any, remedy: str) -> list[float]:
    """A list of finite numbers."""
    if values is None:
        raise missing(name, remedy)
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise invalid(name, brief(values), remedy)
    listed = _tables.listed(values, name)
    for value in listed:
        if value is None:
            raise invalid(name, brief(values), remedy)
        finite(**{name: value})
    return [float(value) for value in listed]


def truth_of(name: str, value: bool) -> bool:
    """A truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise invalid(name, brief(value), "give True or False")
    return bool(value)


def file_of(name: str, path: Path) -> str:
    """The path of a file as text."""
    if not _tables.is_path(path):
        raise invalid(name, brief(path), "give the path of a file")
    return _tables.text(os.fsdecode(path), name)


def shown_progress(progress: bool | None) -> Any:
    """The display of progress."""
    return display(None if progress is None else truth_of("progress", progress))


def needing(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Refuses calls without a keyword argument that is needed, by its name."""
    listed = inspect.signature(function).parameters.values()
    needed = [own.name for own in listed if own.kind is own.KEYWORD_ONLY and own.default is own.empty]

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in needed:
            if name not in kwargs:
                raise missing(name, _REMEDIES[name])
        return function(*args, **kwargs)

    return checked


@contextmanager
def argument_names() -> Iterator[None]:
    """Refusals with the names of arguments where those of the request differ."""
    try:
        yield
    except ReticentError as error:
        text, own = str(error), error.field
        if own is None and error.code.startswith("R3"):
            # A problem of the file or the table itself.
            name = "data"
        elif own in _NAMES:
            name = _NAMES[own]
            if text.startswith((f"{own}:", f"{own} =")):
                text = name + text[len(own) :]
        else:
            raise
        raise type(error)(text, code=error.code, field=name, value=error.value, remedy=error.remedy) from None
