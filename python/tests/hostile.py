"""Hostile values, and what must hold whatever is passed."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import faulthandler
import fractions
import io
import json
import math
import os
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import reticent
from reticent import _native, errors, mechanisms, train
from reticent.accounting import Gaussian

TIMES = int(os.environ.get("RETICENT_FUZZ", "1"))

PACKAGE = Path(reticent.__file__).resolve().parent

#: How much time of the processor a call may take, in seconds: a busy machine does not count.
PATIENCE = 5.0


class Boom(Exception):
    """What hostile objects raise by themselves: the caller's own exception may pass."""


# What is passed


class Evil:
    """An object all of whose methods raise."""

    def _boom(self, *_: object, **__: object) -> Any:
        raise Boom

    __len__ = __iter__ = __getitem__ = __float__ = __int__ = __index__ = __bool__ = _boom
    __array__ = __contains__ = __fspath__ = __lt__ = __gt__ = __call__ = _boom
    __arrow_c_stream__ = __arrow_c_array__ = _boom


class Interface:
    """Something whose description of an array is none."""

    __array_interface__ = "memory"


class Shy:
    """An object that cannot be shown or compared."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise Boom

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise Boom


class Liar(list[Any]):
    """A list that is longer than it says, or shorter."""

    def __len__(self) -> int:
        return 10**6


class Sized:
    def __init__(self, length: Any) -> None:
        self.length = length

    def __len__(self) -> Any:
        return self.length


class Number:
    """Converts to whatever it was made with."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> Any:
        return self.value

    def __int__(self) -> Any:
        return self.value

    __index__ = __int__


class Array:
    """Something that is an array, or says so."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value


class Stream:
    """Something with an Arrow stream, or not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.value


class Exported:
    """Something with an Arrow array, or not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.value


class Place:
    """A path of whatever it was made with."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __fspath__(self) -> Any:
        return self.value


class Text(str):
    """Text of another class."""


class Metal(float):
    """A number of another class, with a text of its own."""

    def __repr__(self) -> str:
        return "1, 'epsilon': 1e9"

    __str__ = __repr__


def _capsule(name: bytes, memory: Any) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(memory), name, None)


_NAME, _ZEROS = b"arrow_array_stream", ctypes.create_string_buffer(64)


def _read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.setflags(write=False)
    return array


def _released() -> Any:
    stream = pa.table({"x": [1.0]}).__arrow_c_stream__()
    _native.Table.from_arrow("t", Stream(stream))
    return stream


def _broken_batches() -> Any:
    def batches() -> Iterator[Any]:
        yield pa.record_batch({"x": [1.0]})
        raise Boom

    return pa.RecordBatchReader.from_batches(pa.schema([("x", pa.float64())]), batches())


def _frame(columns: list[Any], rows: int = 4) -> pd.DataFrame:
    return pd.DataFrame(np.arange(float(rows * len(columns))).reshape(rows, -1), columns=columns)


def _evils() -> np.ndarray[Any, Any]:
    array = np.empty(2, dtype=object)
    array[0], array[1] = Evil(), Shy()
    return array


def _recursive() -> list[Any]:
    own: list[Any] = []
    own.append(own)
    return own


def _nested(depth: int) -> list[Any]:
    own: list[Any] = []
    for _ in range(depth):
        own = [own]
    return own


#: Hostile values by name. They are made anew for each call: some can be used only once.
POOL: dict[str, Callable[[], Any]] = {
    # Python
    "None": lambda: None,
    "True": lambda: True,
    "ellipsis": lambda: ...,
    "object": object,
    "class": lambda: float,
    "function": lambda: len,
    "module": lambda: math,
    "evil": Evil,
    "shy": Shy,
    "liar": lambda: Liar([1.0, 2.0]),
    "length -1": lambda: Sized(-1),
    "length text": lambda: Sized("a"),
    "length huge": lambda: Sized(10**30),
    "generator": lambda: (value for value in [1.0, 2.0]),
    "generator that raises": lambda: map(Evil(), [1]),
    "range": lambda: range(5),
    "slice": lambda: slice(3),
    "set": lambda: {1.0, 2.0},
    "frozenset": lambda: frozenset("ab"),
    "dict": dict,
    "dict of scalars": lambda: {"x": 1.0},
    "dict with odd keys": lambda: {None: [1.0], 1: [2.0], (1, 2): [3.0], "": [4.0]},
    "dict of uneven columns": lambda: {"x": [1.0], "s": ["a", "b"]},
    "dict of nested columns": lambda: {"x": [[1.0], [2.0]], "s": ["a", "b"]},
    "dict of columns": lambda: {"x": [1.0, 2.0, 3.0], "s": ["a", "b", None]},
    "dict of itself": lambda: {"x": _recursive()},
    "recursive list": _recursive,
    "deep list": lambda: _nested(500),
    "empty list": list,
    "list": lambda: [1.0, 2.0, 3.0],
    "list of None": lambda: [None, None],
    "list of mixed": lambda: [1, "a", None, 2.5, True, b"x", [1]],
    "list of huge integers": lambda: [2**70, -(2**70)],
    "list of NaN": lambda: [math.nan, 1.0],
    "list of lists": lambda: [[1.0, 2.0], [3.0]],
    "list of texts": lambda: ["a", "b", "a"],
    "list of objects": lambda: [object(), Evil(), Shy()],
    "list of shy": lambda: [Shy()],
    "tuple": lambda: (0.0, 1.0),
    "reversed bounds": lambda: (1.0, 0.0),
    "bounds of NaN": lambda: (math.nan, math.nan),
    "infinite bounds": lambda: (-math.inf, math.inf),
    "bounds of text": lambda: ("0", "1"),
    "bounds of three": lambda: (0.0, 1.0, 2.0),
    "wide bounds": lambda: (-1.7e308, 1.7e308),
    # Numbers
    "0": lambda: 0,
    "-0.0": lambda: -0.0,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "denormal": lambda: 5e-324,
    "largest": lambda: 1.7976931348623157e308,
    "below 1": lambda: math.nextafter(1.0, 0.0),
    "2^53+1": lambda: 2**53 + 1,
    "2^63": lambda: 2**63,
    "2^64": lambda: 2**64,
    "-2^63": lambda: -(2**63),
    "10^400": lambda: 10**400,
    "10^5000": lambda: 10**5000,
    "complex": lambda: 1j,
    "decimal": lambda: decimal.Decimal("0.1"),
    "decimal NaN": lambda: decimal.Decimal("sNaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "float of another class": lambda: Metal(0.5),
    "float() is text": lambda: Number("a"),
    "float() is NaN": lambda: Number(math.nan),
    "np.float64": lambda: np.float64(0.5),
    "np.float32": lambda: np.float32(0.5),
    "np.longdouble": lambda: np.longdouble(0.5),
    "np.float64 NaN": lambda: np.float64("nan"),
    "np.int8": lambda: np.int8(-1),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.bool": lambda: np.bool_(True),
    "np.str": lambda: np.str_("a"),
    "np.datetime64": lambda: np.datetime64("NaT"),
    "np.void": lambda: np.void(b"abc"),
    "date": lambda: datetime.date(2020, 1, 1),
    "timedelta": lambda: datetime.timedelta(1),
    # Texts
    "empty text": lambda: "",
    "blank text": lambda: " \t\n",
    "NUL": lambda: "a\x00b",
    "surrogate": lambda: "a\udc80b",
    "quotes": lambda: "\"'\\\n{}[]",
    "closing brace": lambda: '1.0}, "epsilon": 1e9, {',
    "field mark": lambda: "⟦epsilon⟧",
    "number as text": lambda: "1.0",
    "right to left": lambda: "\u202e\u2066abc",
    "long text": lambda: "x" * 1_000_000,
    "long line": lambda: "a=1 and " * 20_000,
    "formats": lambda: "%s {0} {epsilon} %n",
    "text of another class": lambda: Text("a"),
    "bytes": lambda: b"abc",
    "bytes that are not text": lambda: b"\xff\xfe\x00",
    "bytearray": lambda: bytearray(b"abc"),
    "memoryview": lambda: memoryview(b"abc"),
    "file": io.BytesIO,
    # Paths
    "folder": lambda: Path("."),
    "no such file": lambda: Path("no/such/file.csv"),
    "stdin": lambda: "-",
    "null device": lambda: "/dev/null",
    "long path": lambda: "a" * 5000 + ".csv",
    "path of an integer": lambda: Place(1),
    "path of bytes": lambda: Place(b"\xff.csv"),
    "path of evil": lambda: Place(Evil()),
    "table": lambda: Path("people.csv"),
    "broken table": lambda: Path("broken.csv"),
    "broken parquet": lambda: Path("broken.parquet"),
    "empty file": lambda: Path("empty.csv"),
    "binary file": lambda: Path("binary.json"),
    # Arrays
    "array": lambda: np.array([0.5, 1.5, 2.5]),
    "0-d array": lambda: np.array(0.5),
    "matrix": lambda: np.arange(12.0).reshape(6, 2),
    "3-d array": lambda: np.zeros((2, 2, 2)),
    "32-d array": lambda: np.zeros((1,) * 32),
    "empty array": lambda: np.zeros(0),
    "no rows": lambda: np.zeros((0, 2)),
    "no columns": lambda: np.zeros((6, 0)),
    "array with NaN": lambda: np.array([1.0, np.nan, np.inf]),
    "matrix with NaN": lambda: np.full((6, 2), np.nan),
    "matrix with inf": lambda: np.full((6, 2), -np.inf),
    "large numbers": lambda: np.full((6, 2), 1.7e308),
    "float16": lambda: np.array([0.5, 1.5], dtype=np.float16),
    "longdouble": lambda: np.array([0.5, 1.5], dtype=np.longdouble),
    "complex array": lambda: np.array([1j, 2.0]),
    "int64": lambda: np.array([1, 2, 3]),
    "int8": lambda: np.array([-128, 127], dtype=np.int8),
    "uint64": lambda: np.array([2**64 - 1, 0], dtype=np.uint64),
    "int64 ends": lambda: np.array([-(2**63), 2**63 - 1]),
    "bool array": lambda: np.array([True, False, True]),
    "text array": lambda: np.array(["a", "b"]),
    "bytes array": lambda: np.array([b"a", b"\xff"]),
    "text array with NUL": lambda: np.array(["a\x00b", "\udc80"]),
    "object array": lambda: np.array([1, "a", None], dtype=object),
    "object array of floats": lambda: np.array([1.0, 2.0], dtype=object),
    "object array of evil": _evils,
    "object matrix": lambda: np.array([[1, "a"], [None, 2.0]], dtype=object),
    "datetime array": lambda: np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    "timedelta array": lambda: np.array([1, 2], dtype="timedelta64[s]"),
    "structured array": lambda: np.array([(1.0, b"a")], dtype=[("x", "f8"), ("s", "S1")]),
    "nested structured array": lambda: np.zeros(2, dtype=[("x", [("y", "f8")])]),
    "void array": lambda: np.zeros(2, dtype="V5"),
    "record array": lambda: np.rec.array([(1.0, 2)], names="x,s"),
    "strided": lambda: np.arange(10.0)[::3],
    "reversed": lambda: np.arange(6.0)[::-1],
    "transposed": lambda: np.arange(12.0).reshape(2, 6).T,
    "broadcast": lambda: np.broadcast_to(1.0, (6, 2)),
    "read-only": lambda: _read_only(np.arange(4.0)),
    "byte-swapped": lambda: np.arange(4.0).astype(">f8"),
    "byte-swapped integers": lambda: np.arange(4).astype(">i8"),
    "misaligned": lambda: np.frombuffer(b"\0" * 33, dtype=np.uint8)[1:].view(np.float64),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "masked matrix": lambda: np.ma.masked_array(np.ones((3, 2)), mask=True),
    "np.matrix": lambda: np.asmatrix([[1.0, 2.0]]),
    "subclass": lambda: np.arange(3.0).view(np.recarray),
    "array that is not": lambda: Array(5),
    "array interface": Interface,
    "list of array interfaces": lambda: [Interface(), Interface()],
    "array of objects": lambda: Array(np.array([object()])),
    "images": lambda: np.zeros((2, 1, 3, 3), dtype=np.uint8),
    # Arrow
    "stream None": lambda: Stream(None),
    "stream text": lambda: Stream("arrow_array_stream"),
    "stream of another capsule": lambda: Stream(pa.array([1]).__arrow_c_array__()[0]),
    "stream of another name": lambda: Stream(_capsule(b"other", _ZEROS)),
    "stream of zeros": lambda: Stream(_capsule(_NAME, _ZEROS)),
    "stream used before": lambda: Stream(_released()),
    "stream of one array": lambda: Stream(pa.chunked_array([[1.0]]).__arrow_c_stream__()),
    "stream that breaks": _broken_batches,
    "exported None": lambda: Exported(None),
    "exported one": lambda: Exported((None, None)),
    "exported column": lambda: Exported(pa.array([1.0]).__arrow_c_array__()),
    "pa.table": lambda: pa.table({"x": [1.0, None], "s": ["a", None]}),
    "pa.table without rows": lambda: pa.table(
        {"x": pa.array([], pa.float64()), "s": pa.array([], pa.string())}
    ),
    "pa.table without columns": lambda: pa.table({}),
    "pa.table with a column twice": lambda: pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "x"]),
    "pa.table of other types": lambda: pa.table(
        {"x": pa.array([1], pa.decimal128(5)), "s": pa.array([1], pa.timestamp("ns")), "l": [[1]]}
    ),
    "pa.table of dictionaries": lambda: pa.table(
        {"s": pa.array(["a", None]).dictionary_encode(), "x": [1, 2]}
    ),
    "pa.table of nulls": lambda: pa.table({"x": pa.nulls(3), "s": pa.nulls(3)}),
    "pa.record_batch": lambda: pa.record_batch({"x": [1.0], "s": ["a"]}),
    "pa.array": lambda: pa.array([1.0, None]),
    "pa.chunked_array": lambda: pa.chunked_array([["a"], []]),
    "pa.scalar": lambda: pa.scalar(1.0),
    # Data frames
    "pd frame": lambda: pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]}),
    "pd without rows": lambda: pd.DataFrame({"x": np.zeros(0), "s": np.zeros(0, dtype=object)}),
    "pd without columns": lambda: pd.DataFrame(index=range(3)),
    "pd column twice": lambda: _frame(["x", "x"]),
    "pd integer names": lambda: _frame([0, 1]),
    "pd odd names": lambda: _frame([None, math.nan, (1, 2), ""]),
    "pd hostile names": lambda: _frame(["a\x00", '"x\n', "x" * 10_000]),
    "pd levels": lambda: pd.DataFrame(
        np.zeros((2, 2)), columns=pd.MultiIndex.from_tuples([("x", 1), ("x", 2)])
    ),
    "pd NA": lambda: pd.DataFrame({"x": pd.array([1, None], dtype="Int64"), "s": pd.array(["a", None])}),
    "pd categories": lambda: pd.DataFrame({"x": [1.0, 2.0], "s": pd.Categorical(["a", None])}),
    "pd interval categories": lambda: pd.DataFrame({"x": [1.0, 2.0], "s": pd.cut([1, 2], 2)}),
    "pd datetimes": lambda: pd.DataFrame({"x": pd.to_datetime(["2020", None]), "s": pd.to_timedelta([1, 2])}),
    "pd periods": lambda: pd.DataFrame({"x": pd.period_range("2020", periods=2, freq="D"), "s": ["a", "b"]}),
    "pd objects": lambda: pd.DataFrame({"x": [object(), None], "s": [[1], {}]}),
    "pd sparse": lambda: pd.DataFrame({"x": pd.arrays.SparseArray([0.0, 1.0]), "s": ["a", "b"]}),
    "pd series": lambda: pd.Series([1.0, None]),
    "pd series NA": lambda: pd.Series([1, pd.NA], dtype="Int64"),
    "pd series category": lambda: pd.Series(["a", "b"], dtype="category"),
    "pd series datetime": lambda: pd.Series(pd.to_datetime(["2020", None])),
    "pd index": lambda: pd.Index([1.0, 2.0]),
    "pd NaT": lambda: pd.NaT,
    "pd.NA": lambda: pd.NA,
    "pl frame": lambda: pl.DataFrame({"x": [1.0, None], "s": ["a", None]}),
    "pl without rows": lambda: pl.DataFrame({"x": [], "s": []}),
    "pl other types": lambda: pl.DataFrame({"x": [datetime.date(2020, 1, 1)], "s": [[1]]}),
    "pl lazy": lambda: pl.LazyFrame({"x": [1.0]}),
    "pl series": lambda: pl.Series("x", [1.0, None]),
    # The package's own
    "budget": lambda: reticent.Budget(epsilon=1.0),
    "native budget": lambda: _native.Budget(1.0, 0.0, "add-remove", "row", "data"),
    "events": lambda: Gaussian(1.0),
    "native table": lambda: _native.Table.from_columns("t", [("x", np.zeros(2))]),
    "noisy": lambda: mechanisms.laplace([1.0, 2.0], sensitivity=1.0, epsilon=1.0),
    "certificate": lambda: reticent.Certificate({}),
    "layer": lambda: train.Relu(),
    "network": lambda: train.Network([]),
    "error": lambda: errors.ReticentError("x"),
}

#: Texts that a path may be: nothing that could be written outside of the folder of the test.
TEXTS = st.text(max_size=12).filter(lambda text: "/" not in text)


def fixed(value: Any) -> Callable[[], Any]:
    """A drawn value as a member of the pool."""
    return lambda: value


DRAWN: st.SearchStrategy[tuple[str, Callable[[], Any]]] = st.one_of(
    st.sampled_from(sorted(POOL)).map(lambda name: (name, POOL[name])),
    st.sampled_from(sorted(POOL)).map(lambda name: (name, POOL[name])),
    st.one_of(st.floats(), st.integers(), TEXTS, st.binary(max_size=8)).map(
        lambda own: (repr(own), fixed(own))
    ),
    st.lists(st.one_of(st.none(), st.floats(), st.integers(-5, 5), TEXTS), max_size=4).map(
        lambda own: (repr(own), fixed(own))
    ),
)


# What must hold

#: How many cases each entry point had.
cases: Counter[str] = Counter()

#: Types that a native function may raise for arguments that it cannot convert.
CONVERSION = (TypeError, OverflowError, ValueError)

#: A TypeError of the public interface names the argument.
NAMED = re.compile(r"^[\w.]+(\(\))? (=|got|missing|takes)|^[a-z_]+:|argument '?[a-z_]+'?|__fspath__")


def no_nan(value: Any, path: str = "result") -> None:
    """No guarantee is NaN, infinite or negative, and nothing at all is NaN."""
    if isinstance(value, dict):
        for key, own in value.items():
            if key in ("epsilon", "delta") and isinstance(own, float):
                assert 0.0 <= own < math.inf, f"{path}.{key} = {own}"
            no_nan(own, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for place, own in enumerate(value[:50]):
            no_nan(own, f"{path}[{place}]")
    elif isinstance(value, float):
        assert value == value, f"{path} is NaN"


def check_result(result: Any) -> None:
    """What all results have in common."""
    for name in ("epsilon", "delta"):
        own = getattr(result, name, None)
        if isinstance(own, float):
            assert 0.0 <= own < math.inf, f"{name} = {own}"
    if hasattr(result, "to_dict") and type(result).__module__.startswith("reticent"):
        fields = result.to_dict()
        if not isinstance(result, mechanisms.Selected):
            # The candidates of a choice are the caller's own.
            no_nan(fields)
        json.dumps(fields, default=str)
        assert isinstance(repr(result), str)


def check_error(error: errors.ReticentError, one_line: bool = False) -> None:
    """What all errors have in common."""
    assert not isinstance(error, errors.InternalError), f"a defect: {error}"
    assert re.fullmatch(r"R\d{3}", error.code), error.code
    assert error.remedy and isinstance(error.remedy, str)
    assert error.field is None or isinstance(error.field, str)
    assert error.value is None or isinstance(error.value, str)
    message = str(error)
    if one_line:
        assert "\n" not in message and len(message) < 1500, f"not one clear line: {message[:500]}"
    # Marks of fields become names of arguments; one text of the pool is such a mark itself.
    assert message and not re.search(r"⟦[a-z_]+⟧", message.replace("⟦epsilon⟧", "")), message
    for leak in ("panicked", "unwrap", ".rs:"):
        assert leak not in message, message


def attempt(name: str, call: Callable[[], Any], native: bool = False, one_line: bool = False) -> None:
    """One case. With ``one_line`` nothing passed has text of its own, so the message is one clear line."""
    cases[name] += 1
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_result(call())
    except errors.ReticentError as error:
        check_error(error, one_line)
    except Boom:
        pass
    except CONVERSION as error:
        if not native:
            assert isinstance(error, TypeError) and NAMED.search(str(error)), (
                f"{type(error).__name__}: {error}"
            )
    except Exception as error:
        if type(error).__name__ in ("NotFittedError",):
            return
        raise
    finally:
        seconds = time.process_time() - began
        assert seconds < PATIENCE, f"took {seconds:.1f} s"


def fuzz(examples: int) -> Any:
    return settings(
        max_examples=examples * TIMES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An own folder, so that what is written stays there; and an end to calls that never return."""
    folder, before = tmp_path_factory.mktemp("boundary"), Path.cwd()
    (folder / "people.csv").write_text(
        "x,s\n" + "".join(f"{row % 7}.5,{'ab'[row % 2]}\n" for row in range(30))
    )
    (folder / "broken.csv").write_bytes(b'x,s\n1,"a\n\xff\xfe,\x00,,,\n"""\n')
    (folder / "broken.parquet").write_bytes(b"PAR1\x00\x01\x02PAR1")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "binary.json").write_bytes(bytes(range(256)))
    (folder / "schema.toml").write_text(
        'unit = "row"\n[columns]\nx = { bounds = [0, 7] }\ns = { label = true, classes = ["a", "b"] }\n'
    )
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    faulthandler.dump_traceback_later(300 * TIMES, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def few(value: Any) -> Any:
    """The same, unless it asks for more memory than there is."""
    is_whole = isinstance(value, (int, np.integer))
    return 1000 if is_whole and value > 10**6 else value


FRAME = {"x": [float(row % 7) for row in range(30)], "s": ["a", "b"] * 15}
