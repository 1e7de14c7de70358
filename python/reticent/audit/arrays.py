"""Checked arguments of audits: arrays with one entry for each record, numbers and paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _tables
from .._core import finite
from ..errors import DataError, InvalidValueError, ReticentError, RequestError
from .files import PathLike, refusal

Bools = NDArray[np.bool_]
#: Names of records, users, pairs or groups.
Names = NDArray[np.int64] | list[str | None]
#: How members were drawn.
Drawn = float | Literal["pairs", "fixed"]


def plain(values: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        return values.float().numpy() if str(values.dtype) == "torch.bfloat16" else values.numpy()
    return values


def array_of(values: Any, field: str) -> NDArray[Any]:
    """An array of whatever type."""
    try:
        return np.asarray(plain(values))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise refusal(DataError, "R309", field, None, "not an array: give lists of equal length") from None


def column_of(values: Any, field: str) -> Any:
    """One column: numbers, truth values, or a list of texts and ``None``."""
    given = plain(values)
    try:
        return _tables.column(given, field)
    except ReticentError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise refusal(
            DataError, "R309", field, None, "not a column: give one value for each record"
        ) from None


def single(array: NDArray[np.float64], field: str) -> NDArray[np.float32]:
    """In single precision."""
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(single).all():
        raise refusal(DataError, "R307", field, None, "holds numbers above 3e38: give smaller ones")
    return single


def shape_of(array: NDArray[Any]) -> str:
    """The shape of an array in words."""
    return " × ".join(map(str, array.shape)) or "a single value"


def shaped(array: NDArray[Any], field: str, shape: tuple[int | None, ...], axes: str) -> None:
    """Refuses an array of another shape; ``None`` stands for any size."""
    sizes = zip(shape, array.shape, strict=False)
    if array.ndim != len(shape) or not all(want in (None, size) for want, size in sizes):
        wanted = " × ".join("any" if size is None else str(size) for size in shape)
        raise refusal(DataError, "R307", field, f"array of {shape_of(array)}", f"give {axes}: {wanted}")


def flags(values: Any, field: str, shape: tuple[int | None, ...], axes: str) -> Bools:
    """Truth values: booleans, or 0 and 1."""
    array = array_of(values, field)
    shaped(array, field, shape, axes)
    if array.dtype.kind == "O" and all(isinstance(value, (bool, np.bool_)) for value in array.flat):
        array = array.astype(np.bool_)
    if array.dtype.kind != "b":
        remedy = "give True or 1 for records in the training data, False or 0 for others"
        if array.dtype.kind not in "iuf":
            raise refusal(DataError, "R309", field, f"array of {array.dtype}", remedy)
        odd = array[(array != 0) & (array != 1)]
        if odd.size:
            raise refusal(DataError, "R307", field, odd.flat[0].item(), remedy)
        array = array == 1
    return np.ascontiguousarray(array, dtype=np.bool_)


def scores_of(values: Any, field: str, shape: tuple[int | None, ...], axes: str) -> NDArray[np.float64]:
    """Finite numbers of this shape."""
    array = _tables.numbers(plain(values), field)
    shaped(array, field, shape, axes)
    return np.ascontiguousarray(array)


def outputs_of(values: Any, field: str, shape: tuple[int | None, ...], axes: str) -> NDArray[np.float32]:
    """Logits, or probabilities that add up to 1."""
    array = _tables.numbers(plain(values), field)
    if array.ndim == len(shape) + 1:
        remedy = f"give {axes}: of several answers to augmented copies, the mean over axis {len(shape) - 1}"
        raise refusal(DataError, "R307", field, f"array of {shape_of(array)}", remedy)
    shaped(array, field, shape, axes)
    if array.shape[-1] < 2:
        raise refusal(
            DataError, "R307", field, f"array of {shape_of(array)}", "give outputs for at least 2 classes"
        )
    if field.endswith("probabilities"):
        if array.size and (array.min() < 0 or array.max() > 1):
            raise refusal(DataError, "R307", field, None, "give probabilities between 0 and 1, or logits")
        sums = array.sum(axis=-1)
        if np.any(np.abs(sums - 1) > 9e-4):
            raise refusal(
                DataError, "R307", field, None, "give all classes, so that probabilities add up to 1"
            )
    return single(array, field)


def labels_of(values: Any, field: str, records: int, classes: int | None) -> NDArray[np.int64]:
    """Class numbers; texts are numbered in sorted order, as scikit-learn does."""
    column = column_of(values, field)
    if len(column) != records:
        raise other_length(field, len(column), records)
    if isinstance(column, list):
        if any(text is None for text in column):
            raise refusal(
                DataError, "R307", field, None, "holds missing values: give a class for every record"
            )
        names, codes = np.unique(np.array(column, dtype=np.str_), return_inverse=True)
        if classes is not None and len(names) != classes:
            remedy = f"{len(names)} different classes for outputs of {classes}: give class numbers from 0"
            raise refusal(DataError, "R307", field, None, remedy)
        return codes.astype(np.int64)
    array = np.asarray(column, dtype=np.float64)
    odd = array[~np.isfinite(array) | (array < 0) | (array != np.floor(array))]
    if odd.size:
        raise refusal(DataError, "R307", field, odd[0].item(), "give class numbers from 0")
    most = 2**32 if classes is None else classes
    if array.size and array.max() >= most:
        remedy = f"give class numbers from 0 to {most - 1}"
        raise refusal(DataError, "R307", field, array.max().item(), remedy)
    return array.astype(np.int64)


def names_of(values: Any, field: str, records: int, may_lack: bool = False) -> Names:
    """Names of records, users, pairs or groups: whole numbers, or texts."""
    column = column_of(values, field)
    if len(column) != records:
        raise other_length(field, len(column), records)
    if not isinstance(column, list):
        if column.dtype.kind == "i":
            return column  # type: ignore[no-any-return]
        if column.dtype.kind == "b":
            return ["true" if value else "false" for value in column]
        whole = np.isfinite(column) & (column == np.floor(column)) & (np.abs(column) < 2**53)
        if whole.all():
            return column.astype(np.int64)  # type: ignore[no-any-return]
        column = [None if np.isnan(value) else repr(float(value)) for value in column]
    names = [None if text is None or not text.strip() else text.strip() for text in column]
    if not may_lack and any(name is None for name in names):
        raise refusal(DataError, "R307", field, None, "holds missing values: give one for every record")
    if len(set(names) - {None}) != len({text for text in column if text is not None and text.strip()}):
        raise refusal(
            DataError, "R307", field, None, "two names differ in white space only: rename one of them"
        )
    try:
        "\n".join(filter(None, names)).encode("utf-8")
    except UnicodeEncodeError:
        raise refusal(DataError, "R307", field, None, "holds text that is not Unicode: rename it") from None
    return names


def other_length(field: str, found: int, wanted: int) -> DataError:
    """The refusal of a column that has too many values, or too few."""
    return refusal(
        DataError, "R307", field, f"{found} values", f"give one for each of the {wanted} records of member"
    )


def draw_of(drawn: Any) -> Any:
    """How members were drawn, as requests say it."""
    if drawn is None:
        return None
    if isinstance(drawn, str):
        if drawn in ("pairs", "fixed"):
            return drawn
        remedy = "give the probability with which each record was included, 'fixed' or 'pairs'"
        raise refusal(InvalidValueError, "R203", "drawn", drawn, remedy)
    finite(drawn=drawn)
    return {"coins": float(drawn)}


def whole(field: str, value: Any, least: int) -> int:
    """A whole number that is not less than this."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise refusal(InvalidValueError, "R202", field, value, "give a whole number")
    if value < least or value >= 2**63:
        raise refusal(InvalidValueError, "R201", field, int(value), f"give a whole number from {least}")
    return int(value)


def out_folder(out: PathLike | None, field: str = "out") -> Path | None:
    """The path of a folder, which need not be there."""
    if out is None:
        return None
    if not _tables.is_path(out):
        raise refusal(RequestError, "R104", field, out, "give a path")
    return Path(_tables.text(os.fsdecode(out), field))
