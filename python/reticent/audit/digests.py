"""Digests that stand for data and functions, the same in every process."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .arrays import plain


def hash_of(tokens: Iterable[str]) -> str:
    """One digest for several texts in order."""
    digest = hashlib.sha256()
    for token in tokens:
        content = token.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def digest_of(data: Any) -> str:
    """Stands for the content of arrays, tensors, sparse matrices, data frames and lists."""
    data = plain(data)
    if hasattr(data, "columns") and hasattr(data, "shape"):
        names = list(data.columns)
        # A data frame of pandas may have two columns of one name.
        columns = [data.iloc[:, at] if hasattr(data, "iloc") else data[name] for at, name in enumerate(names)]
        return hash_of([*map(str, names), *(digest_of(np.asarray(column)) for column in columns)])
    if hasattr(data, "tocsr") and hasattr(data, "nnz"):
        rows = data.tocsr()
        return hash_of([str(rows.shape), *map(digest_of, (rows.data, rows.indices, rows.indptr))])
    array = data if isinstance(data, np.ndarray) else np.asarray(data)
    if array.dtype.kind == "O":
        return hash_of(["object", str(array.shape), *(_named(value) for value in array.flat)])
    own = hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return hash_of([array.dtype.str, str(array.shape), own.hexdigest()])


def _named(value: Any) -> str:
    """A value as text that is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def factory_tokens(function: Any) -> list[str]:
    """Stands for a function: its code, its defaults and what it closes over."""
    if isinstance(function, functools.partial):
        arguments = _named((function.args, sorted(function.keywords.items())))
        return ["partial", *factory_tokens(function.func), arguments]
    if isinstance(function, type):
        return ["class", function.__module__, function.__qualname__]
    code = getattr(function, "__code__", None)
    if code is None:
        return ["object", type(function).__module__, type(function).__qualname__]
    closed = [_named(cell.cell_contents) for cell in function.__closure__ or () if _is_filled(cell)]
    return ["function", *_code(code), _named(function.__defaults__), _named(function.__kwdefaults__), *closed]


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _code(code: Any) -> list[str]:
    tokens = [code.co_code.hex(), *code.co_names]
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            tokens += _code(constant)
        elif isinstance(constant, frozenset):
            tokens += sorted(map(_named, constant))
        else:
            tokens.append(_named(constant))
    return tokens


def estimator_tokens(made: Any) -> list[str]:
    """Stands for an estimator and its parameters."""
    params = made.get_params() if hasattr(made, "get_params") else {}
    values = [f"{name}={_named(params[name])}" for name in sorted(params)]
    return [type(made).__module__, type(made).__qualname__, *values]
