"""Numbers and arrays as the native module takes them."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from .. import _tables
from .._tables import EXACT, Floats
from ..errors import DataError

#: The shape of an array; none for a scalar.
Shape = tuple[int, ...] | None
#: What types of floats are called: by NumPy, pandas, polars, PyTorch and Arrow.
_FLOATS = ("float", "double", "halffloat", "bfloat16", ">f", "<f")
Integers = np.ndarray[Any, np.dtype[np.int64]]


def reals(value: Any, argument: str) -> tuple[Floats, Shape]:
    """Numbers as one line of floats, and their shape: none for a scalar.

    An integer that no float equals is refused: rounding moves it, by more than the sensitivity pays for.
    """
    kind = type(value)
    if kind is float or kind is int:
        if kind is int and not -EXACT <= value <= EXACT:
            raise _rounded(argument)
        if not math.isfinite(value):
            raise _not_finite(argument)
        return np.array((value,), dtype=np.float64), None
    array = value if type(value) is np.ndarray else _tables._array(value, argument)
    if isinstance(value, np.ma.MaskedArray):
        raise DataError(
            f"{argument}: a masked array has values that are not there: give an array without a mask",
            code="R309",
            field=argument,
            remedy="give an array without a mask",
        )
    own = array.dtype.kind
    if own not in "biuf" or array.dtype.itemsize > 8:
        remedy = "give a number, or an array of integers or of 64-bit floats"
        raise _tables._not_numbers(array, argument, remedy)
    if own in "iu" and array.dtype.itemsize == 8 and array.size:
        if int(array.max()) > EXACT or int(array.min()) < -EXACT:
            raise _rounded(argument)
    flat = _tables.contiguous(array, np.float64).reshape(-1)
    if own == "f":
        if not np.isfinite(flat).all():
            raise _not_finite(argument)
        is_large = array is not value and bool((np.abs(flat) >= EXACT).any())
        if is_large and not _is_exact(value):
            raise _rounded(argument)
    return flat, None if isinstance(value, (np.generic, float, int)) else array.shape


def _is_exact(value: Any) -> bool:
    """Whether no integer was rounded when a value became floats: one among floats is converted with them."""
    if isinstance(value, (float, np.floating)):
        return True
    if isinstance(value, (int, np.integer, np.bool_)):
        return bool(-EXACT <= value <= EXACT)
    if isinstance(value, (list, tuple)):
        return all(map(_is_exact, value))
    is_frame = hasattr(value, "columns") and hasattr(value, "dtypes")
    kinds = list(value.dtypes) if is_frame else [getattr(value, "dtype", getattr(value, "type", None))]
    if kinds and all(str(kind).lower().removeprefix("torch.").startswith(_FLOATS) for kind in kinds):
        return True
    array = _tables._array(value, "value")
    if array.dtype.kind not in "biu" or array.size == 0:
        return False
    return -EXACT <= int(array.min()) and int(array.max()) <= EXACT


def integers(value: Any) -> tuple[Integers, Shape]:
    """Integers as one line of 64 bits, and their shape."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise _tables._too_large("value", "64 bits")
        return np.array((value,), dtype=np.int64), None
    is_scalar = isinstance(value, (np.generic, float, int))
    if isinstance(value, np.ma.MaskedArray):
        array = np.empty(0, dtype=object)
    else:
        array = _tables._array(value, "value")
    if array.size == 0 and isinstance(value, (list, tuple)):
        array = array.astype(np.int64)
    is_object = array.dtype.kind == "O" and array.size > 0
    if is_object and all(isinstance(own, (int, np.integer)) for own in array.flat):
        raise _tables._too_large("value", "64 bits")
    if array.dtype.kind not in "biu":
        raise _tables._not_numbers(
            array, "value", "integer noise is for integers: give an integer or an array of integers"
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise _tables._too_large("value", "64 bits with a sign")
    return _tables.contiguous(array, np.int64).reshape(-1), None if is_scalar else array.shape


_Number = TypeVar("_Number", np.float64, np.int64)


def shaped(flat: np.ndarray[Any, np.dtype[_Number]], shape: Shape) -> Any:
    """Numbers in the shape that was given, which cannot be changed."""
    if shape is None:
        return flat.item()
    value = flat if len(shape) == 1 else flat.reshape(shape)
    value.setflags(write=False)
    return value


def _not_finite(argument: str) -> DataError:
    return DataError(
        f"{argument}: holds NaN or infinity: give finite numbers",
        code="R307",
        field=argument,
        remedy="give finite numbers",
    )


def _rounded(argument: str) -> DataError:
    remedy = "add integer noise (discrete_laplace, discrete_gaussian), or divide by a public constant first"
    return DataError(
        f"{argument}: holds integers beyond 2^53, which no float equals: {remedy}",
        code="R309",
        field=argument,
        remedy=remedy,
    )
