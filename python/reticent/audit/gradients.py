"""Gradients of any framework, as white-box attacks see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _tables
from ..errors import DataError, RequestError
from .arrays import plain, shape_of
from .files import refusal

#: What can be given, the array that holds it, and whether it has one number for each record.
_KINDS = {
    "norms": ("gradient_norms", False),
    "input_norms": ("input_gradient_norms", True),
    "cosines": ("gradient_cosines", True),
    "features": ("gradient_features", False),
    "activations": ("activations", False),
}


def gradients_of(given: Any, field: str, shape: tuple[int, ...]) -> dict[str, NDArray[np.float64]]:
    """Checked arrays, whose first axes are ``shape``: (models,) records, and numbers of a record."""
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else {"norms": given}
    if "norms" not in named or not set(named) <= set(_KINDS):
        remedy = f"give an array of norms, or a mapping with 'norms' and any of {', '.join(_KINDS)}"
        raise refusal(RequestError, "R104", field, sorted(map(str, named)), remedy)
    found: dict[str, NDArray[np.float64]] = {}
    for kind, values in named.items():
        own, name = f"{field}[{kind!r}]", _KINDS[kind][0]
        array = np.ascontiguousarray(_tables.numbers(plain(values), own))
        axes = "models × records" if len(shape) == 2 else "records"
        wide = array.ndim == len(shape) + 1 and array.shape[-1] > 0 and not _KINDS[kind][1]
        if array.shape[: len(shape)] != shape or not (wide or array.ndim == len(shape)):
            more = "" if _KINDS[kind][1] else ", or with a last axis of layers or features"
            wanted = " × ".join(map(str, shape))
            raise refusal(
                DataError, "R307", own, f"array of {shape_of(array)}", f"give {axes}: {wanted}{more}"
            )
        if kind.endswith("norms") and array.size and array.min() < 0:
            raise refusal(DataError, "R307", own, float(array.min()), "give norms, which are not negative")
        found[name] = array
    return found
