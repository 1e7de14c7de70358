"""Digests that stand for data and functions, the same in every process.

A function is keyed by its code, its defaults, what it closes over, and the globals that it reads; the same
holds for the functions and classes that it uses, as long as they are not those of an installed package, which
are keyed by their names and the version of the package. Arrays and tensors are keyed by their content, and
other objects by their attributes. Not noticed are

- changes of what a function reaches through a module, such as ``settings.rate`` or ``models.build()``,
- changes of files, environment variables and other things outside the process,
- the state of random-number generators,
- the entries of a list, set or queue that a function only adds to, because they cannot change what it does.

An object that a function changes while it runs is another one afterwards, so models that were stored before
are refused. Whatever cannot be keyed, such as a lock or an open file, is :class:`Unknown`.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import logging
import random
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import plain

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_ADDING = ("add", "append", "appendleft", "extend", "insert")
_VARIABLE = re.compile("(LOAD|STORE|DELETE)_(GLOBAL|NAME|DEREF|CLASSDEREF|FROM_DICT)")
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
#: How deeply objects may be nested, and how many there may be.
_DEPTH, _OBJECTS = 60, 1_000_000


class Unknown(str):
    """In place of a digest: names something of which no change would be noticed."""


class _Unkeyed(Exception):
    """Something has no digest; the argument names it."""


def hash_of(tokens: Iterable[str]) -> str:
    """One digest for several texts in order; unknown if one of them is."""
    digest = hashlib.sha256()
    for token in tokens:
        if isinstance(token, Unknown):
            return token
        content = token.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def digest_of(data: Any) -> str:
    """Stands for the content of arrays, tensors, sparse matrices, data frames and lists."""
    return _guarded(lambda: _Keys().data(data))


def factory_tokens(function: Any) -> list[str]:
    """Stands for a function: its code, its defaults, and what it closes over and uses."""
    if hasattr(function, "get_params") and hasattr(function, "fit") and not callable(function):
        # It is cloned: what it was fitted to has no effect.
        return ["estimator"]
    return [_guarded(lambda: _Keys().of(function))]


def estimator_tokens(made: Any) -> list[str]:
    """Stands for a new estimator: its class, its parameters and its attributes."""
    params = made.get_params(deep=False) if hasattr(made, "get_params") else {}

    def key() -> str:
        keys = _Keys()
        return hash_of([keys.of(made), *(f"{name}={keys.of(params[name])}" for name in sorted(params))])

    return [_guarded(key)]


def _guarded(key: Callable[[], str]) -> str:
    try:
        return key()
    except _Unkeyed as error:
        return Unknown(error)
    except RecursionError:
        return Unknown("objects that are nested too deeply")


class _Keys:
    """Digests of objects and of what they refer to. Each object is looked at once."""

    def __init__(self) -> None:
        #: By identity; the objects are kept, so that no other one takes their place.
        self._done: dict[int, tuple[str, Any]] = {}
        self._open: dict[int, int] = {}

    def of(self, value: Any) -> str:
        """Stands for any object."""
        if type(value) in _PLAIN:
            return f"{type(value).__name__} {value!r}"
        place = id(value)
        if place in self._done:
            return self._done[place][0]
        if place in self._open:
            return f"cycle {self._open[place]}"
        if len(self._open) >= _DEPTH or len(self._done) >= _OBJECTS:
            raise _Unkeyed("objects that are nested too deeply")
        self._open[place] = len(self._open)
        try:
            token = self._fresh(value)
        finally:
            del self._open[place]
        self._done[place] = token, value
        return token

    def all(self, values: Iterable[Any]) -> Iterator[str]:
        """Each of them."""
        return map(self.of, values)

    def data(self, data: Any) -> str:
        """Stands for the content of an array or a table."""
        data = plain(data)
        if hasattr(data, "columns") and hasattr(data, "shape"):
            names = list(data.columns)
            is_pandas = hasattr(data, "iloc")
            # A data frame of pandas may have two columns of one name.
            columns = [data.iloc[:, at] if is_pandas else data[name] for at, name in enumerate(names)]
            return hash_of([*map(str, names), *(self.data(np.asarray(column)) for column in columns)])
        if hasattr(data, "tocsr") and hasattr(data, "nnz"):
            rows = data.tocsr()
            return hash_of([str(rows.shape), *map(self.data, (rows.data, rows.indices, rows.indptr))])
        array = data if isinstance(data, np.ndarray) else np.asarray(data)
        masked = [self.data(np.ma.getmaskarray(array))] if isinstance(array, np.ma.MaskedArray) else []
        array = np.asarray(array)
        if array.dtype.hasobject or array.dtype.kind == "T":
            entries = array.reshape(-1).tolist()
            return hash_of(["object", str(array.dtype), str(array.shape), *self.all(entries), *masked])
        own = hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return hash_of([array.dtype.str, str(array.dtype), str(array.shape), own.hexdigest(), *masked])

    def _fresh(self, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.CodeType):
            return hash_of(_code(value, self))
        if isinstance(value, functools.partial):
            keywords = [part for pair in sorted(value.keywords.items()) for part in pair]
            parts = [value.func, value.args, keywords]
            return hash_of(["partial", *self.all(parts)])
        if isinstance(value, types.MethodType):
            return hash_of(["method", self.of(value.__func__), self.of(value.__self__)])
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            own = "" if owner is None or isinstance(owner, types.ModuleType) else self.of(owner)
            return hash_of(["builtin", str(value.__module__), value.__qualname__, own])
        if isinstance(value, (staticmethod, classmethod)):
            return hash_of([type(value).__name__, self.of(value.__func__)])
        if isinstance(value, property):
            return hash_of(["property", *self.all((value.fget, value.fset, value.fdel))])
        if isinstance(value, (logging.Logger, random.Random, np.random.Generator, np.random.RandomState)):
            return f"{type(value).__qualname__} {getattr(value, 'name', '')}"
        if _is_tensor(value) or isinstance(value, (np.ndarray, np.generic)) or _is_table(value):
            return hash_of([_name(type(value)), str(getattr(value, "dtype", "")), self._content(value)])
        if type(value) in (list, tuple):
            return hash_of([type(value).__name__, *self.all(value)])
        if type(value) in (set, frozenset):
            return hash_of([type(value).__name__, *sorted(self.all(value))])
        if type(value) in (dict, types.MappingProxyType):
            return hash_of(["dict", *self._pairs(value)])
        return self._object(value)

    def _pairs(self, values: Mapping[Any, Any]) -> Iterator[str]:
        for name, value in values.items():
            yield self.of(name)
            yield self.of(value)

    def _content(self, value: Any) -> str:
        index = getattr(value, "index", None) if _is_table(value) else None
        try:
            rows = [] if index is None or callable(index) else [self.data(np.asarray(index))]
            return hash_of([self.data(value), *rows])
        except _Unkeyed:
            raise
        except Exception:
            raise _Unkeyed(f"an object of type {_name(type(value))}") from None

    def _object(self, value: Any) -> str:
        """An object by its attributes, and by how it would be copied."""
        kind = type(value)
        if kind.__module__.split(".")[0] == "torch" and kind.__name__ == "Generator":
            return "torch.Generator"
        tokens = ["object", self.of(kind)]
        tokens += self._pairs(getattr(value, "__dict__", {}))
        try:
            reduced = value.__reduce_ex__(2)
        except Exception:
            raise _Unkeyed(f"an object of type {_name(kind)}") from None
        if isinstance(reduced, str):
            return hash_of([*tokens, reduced])
        made, arguments, state, listed, mapped = (*reduced, None, None, None)[:5]
        parts = [made, arguments, state, list(listed or ()), list(mapped or ())]
        return hash_of([*tokens, *self.all(parts)])

    def _class(self, kind: type) -> str:
        tokens = ["class", _name(kind)]
        if _is_package(kind.__module__):
            return hash_of([*tokens, _version(kind.__module__)])
        tokens += self.all(kind.__bases__)
        for name, member in sorted(vars(kind).items()):
            is_function = isinstance(member, (types.FunctionType, staticmethod, classmethod, property))
            is_own = is_function or not (name.startswith("__") or name.startswith("_abc_"))
            if is_own and not isinstance(member, _SLOTS):
                tokens += [name, self.of(member)]
        return hash_of(tokens)

    def _function(self, function: types.FunctionType) -> str:
        # A function that wraps another one has the other's name, but its own globals.
        code, home = function.__code__, str(function.__globals__.get("__name__"))
        is_installed = _is_package(home)
        if is_installed and not function.__closure__:
            return hash_of(["function", home, function.__qualname__, _version(home)])
        tokens = ["function", *_code(code, self), *self.all((function.__defaults__, function.__kwdefaults__))]
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        used = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        if not is_installed:
            known = function.__globals__
            used |= {name: known[name] for name in sorted(_names(code)) if name in known}
        for name, value in used.items():
            tokens += [name, self._used(value, code, name)]
        return hash_of(tokens)

    def _used(self, value: Any, code: types.CodeType, name: str) -> str:
        """What a function uses by a name: by its type alone if the function only adds to it."""
        is_record = hasattr(value, "__len__") and hasattr(value, "__iter__") and _only_adds(code, name)
        return f"only added to: {_name(type(value))}" if is_record else self.of(value)


def _code(code: types.CodeType, keys: _Keys) -> list[str]:
    tokens = [code.co_code.hex(), *code.co_names, *code.co_varnames]
    for constant in code.co_consts:
        tokens += _code(constant, keys) if isinstance(constant, types.CodeType) else [keys.of(constant)]
    return tokens


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names(code: types.CodeType) -> set[str]:
    """The globals that code may read."""
    steps = (step for part in _codes(code) for step in dis.get_instructions(part))
    loads = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
    return {step.argval for step in steps if step.opname in loads}


def _only_adds(code: types.CodeType, name: str) -> bool:
    """Whether code does nothing with a variable but to call a method that adds to it."""
    for part in _codes(code):
        steps = list(dis.get_instructions(part))
        for at, step in enumerate(steps):
            if step.argval != name or not _VARIABLE.match(step.opname):
                continue
            after = steps[at + 1] if at + 1 < len(steps) else step
            is_added = after.opname in ("LOAD_METHOD", "LOAD_ATTR") and after.argval in _ADDING
            if not (step.opname.startswith("LOAD") and is_added):
                return False
    return True


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and hasattr(value, "cpu") and hasattr(value, "dtype")


def _is_table(value: Any) -> bool:
    top = type(value).__module__.split(".")[0]
    is_column = hasattr(value, "dtype") or hasattr(value, "columns") or hasattr(value, "tocsr")
    return top in ("pandas", "polars", "scipy") and is_column and hasattr(value, "shape")


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


@functools.cache
def _packages() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple(Path(paths[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@functools.cache
def _is_package(module: str) -> bool:
    """Whether a module is part of an installed package."""
    top = module.split(".")[0]
    if top in ("__main__", "__mp_main__"):
        return False
    if top in sys.stdlib_module_names or top == __name__.split(".")[0]:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return False
    place = Path(file).resolve()
    return {"site-packages", "dist-packages"} & set(place.parts) != set() or any(
        package in place.parents for package in _packages()
    )


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.split(".")[0]), "__version__", ""))
