"""Labels of classes: read, and compared with the classes by their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _classes
from .._arguments import refused, whole
from .._schemas import category_text
from .._tables import column

if TYPE_CHECKING:
    from numpy.typing import NDArray


def array_of(values: Any, argument: str) -> NDArray[Any]:
    """An array of what may be one."""
    try:
        return np.asarray(values)
    except Exception:
        problem = f"a {type(values).__name__} is not an array"
        remedy = "give rows of equal length, in memory that NumPy can read"
        raise refused(309, argument, problem, remedy) from None


def labels_of(y: Any, argument: str) -> Any:
    """The labels of classes as a column: integers, truth values or a list of texts."""
    if y is None:
        raise refused(102, argument, "the labels are needed", "give one label for each row")
    if isinstance(y, (str, bytes, Mapping)) or hasattr(y, "columns") or array_of(y, argument).ndim != 1:
        raise refused(104, argument, "labels have one dimension", "give one label for each row")
    values = column(y.to_pylist() if hasattr(y, "to_pylist") else y, argument)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise refused(307, argument, "a label is missing or not finite", "give a label for each row")
        if not (values == np.floor(values)).all() or (abs(values) > 1 << 53).any():
            remedy = "give whole numbers or texts, or target_bounds= for a number as the label"
            raise refused(309, argument, "labels of classes are not fractions", remedy)
        values = values.astype(np.int64)
    if isinstance(values, list) and None in values:
        raise refused(307, argument, "a label is missing", "give a label for each row")
    return values


def texts_in(values: Any, argument: str) -> set[str]:
    """The distinct labels of a column, as texts."""
    distinct = np.unique(values).tolist() if isinstance(values, np.ndarray) else set(values)
    return {category_text(value, argument) for value in distinct}


def check_labels(values: Any, classes: Iterable[str], argument: str) -> None:
    """Refuses a label that is not one of the classes."""
    if texts_in(values, argument) - set(classes):
        raise _classes.undeclared(argument)


def positions_of(y: Any, classes: Sequence[str], argument: str) -> NDArray[np.uint8]:
    """The classes of images by their positions; labels that are numbers are positions themselves."""
    values = labels_of(y, argument)
    if isinstance(values, list):
        check_labels(values, classes, argument)
        places = {name: place for place, name in enumerate(classes)}
        return np.array([places[value.strip()] for value in values], dtype=np.uint8)
    positions = np.asarray(values, dtype=np.int64)
    if ((positions < 0) | (positions >= len(classes))).any():
        remedy = f"give positions from 0 to {len(classes) - 1}, or declare more classes"
        raise refused(307, argument, "it holds a label that is out of range", remedy)
    return positions.astype(np.uint8)


def class_texts(classes: Any, y: Any = None) -> list[str]:
    """The texts of declared classes: a list of them, their number, or ``"public"`` for those in ``y``."""
    if isinstance(classes, (int, np.integer)) and not isinstance(classes, bool):
        count = whole("classes", classes) or 0
        if not 2 <= count <= 1 << 16:
            raise refused(201, "classes", f"{classes} classes", "give from 2 to 65536, or names", classes)
        return [str(name) for name in range(count)]

    def found() -> list[str]:
        texts = texts_in(labels_of(y, "y"), "y")
        is_whole = all(re.fullmatch(r"-?\d+", own) for own in texts)
        return sorted(texts, key=int) if is_whole else sorted(texts)

    values = _classes.declared(classes, found)
    for value in values:
        if isinstance(value, float) and not value.is_integer():
            problem, remedy = f"{value} is not a class", "give texts, whole numbers or truth values"
            raise refused(205, "classes", problem, remedy, value)
    return _classes.texts_of(values)


def values_of(texts: Sequence[str]) -> NDArray[Any]:
    """Classes by their texts: integers or truth values if all of them are, otherwise texts."""
    if texts and all(re.fullmatch(r"0|-?[1-9]\d{0,17}", own) for own in texts):
        return np.array([int(own) for own in texts], dtype=np.int64)
    if texts and set(texts) <= {"true", "false"}:
        return np.array([own == "true" for own in texts])
    return np.array(texts, dtype=str)
