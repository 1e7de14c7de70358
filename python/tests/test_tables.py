"""Data of every kind become the same table, and what cannot be read is refused by name."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import _native, _tables, release
from reticent.errors import DataError, ReticentError, RequestError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

AGES = [30, 41, 57, 41, 18]
NAMES = ["a", "b", None, "b", "c"]
TRUTHS = [True, False, True, True, False]
HEIGHTS = [1.5, None, 1.75, 2.0, None]

# At ε = 50 integer noise is 0 but for a probability below 1e-21, so answers tell what was read.
SHARP = 50.0


def count(data: Any, column: Any = None, **arguments: Any) -> int:
    return int(release.count(data, column, epsilon=SHARP, **arguments))


def cells(data: Any, column: Any, categories: list[Any]) -> list[int]:
    return list(release.histogram(data, column, categories=categories, epsilon=SHARP).value)


def kinds(data: Any) -> dict[str, str]:
    return dict(_tables.table(data).columns())


def mapping() -> dict[str, Any]:
    return {
        "age": np.array(AGES),
        "name": NAMES,
        "truth": np.array(TRUTHS),
        "height": np.array([np.nan if own is None else own for own in HEIGHTS]),
    }


def frames() -> dict[str, Any]:
    columns = {"age": AGES, "name": NAMES, "truth": TRUTHS, "height": HEIGHTS}
    nullable = {"age": "Int64", "name": "string", "truth": "boolean", "height": "Float64"}
    arrow = pa.table(columns)
    names, heights = [own or "" for own in NAMES], [own or np.nan for own in HEIGHTS]
    return {
        "mapping": mapping(),
        "pandas": pd.DataFrame(columns),
        "pandas object": pd.DataFrame(columns).astype({"name": object}),
        "pandas nullable": pd.DataFrame(columns).astype(nullable),
        "pandas arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas categorical": pd.DataFrame(columns).astype({"name": "category", "truth": "category"}),
        "pandas slice": pd.DataFrame({**columns, "more": 0}).iloc[::-1][["name", "age", "height", "truth"]],
        "polars": pl.DataFrame(columns),
        "polars categorical": pl.DataFrame(columns).with_columns(pl.col("name").cast(pl.Categorical)),
        "polars in a mapping": {name: pl.Series(values) for name, values in columns.items()},
        "pyarrow": arrow,
        "pyarrow in a mapping": {name: arrow[name] for name in columns},
        "pyarrow dictionary": arrow.set_column(1, "name", arrow["name"].dictionary_encode()),
        "pyarrow batches": pa.concat_tables([arrow.slice(0, 2), arrow.slice(2)]),
        "duckdb": duckdb.sql("select * from arrow"),
        "lists": columns,
        "records": np.array(
            list(zip(AGES, names, TRUTHS, heights, strict=True)),
            dtype=[("age", "i4"), ("name", "U3"), ("truth", "?"), ("height", "f4")],
        ),
        "masked": {
            **mapping(),
            "age": np.ma.masked_array(AGES, mask=[False] * 5),
            "height": np.ma.masked_array(np.nan_to_num(heights, nan=-1.0), mask=np.isnan(heights)),
        },
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_frame_has_the_same_answers(kind: str) -> None:
    data = frames()[kind]
    assert count(data) == 5
    assert count(data, where="age>=41") == 3
    assert count(data, "height") == 3
    assert cells(data, "name", ["a", "b", "c", "d"]) == [1, 2, 1, 0]
    assert cells(data, "truth", [True, False]) == [3, 2]
    assert cells(data, "age", [41, 18, 0]) == [2, 1, 0]
    total = release.sum(data, "age", bounds=(0, 100), epsilon=SHARP, integers=True)
    # The noise has scale 100 / 50: it exceeds 60 with probability e^-30.
    assert abs(total.value - 187) <= 60 and type(total.value) is int
    high = release.sum(data, "height", bounds=(0, 2), epsilon=SHARP).value
    # Scale 2 / 50: 1.2 is exceeded with probability e^-30.
    assert abs(high - 5.25) < 1.2


def test_types_are_those_that_are_declared() -> None:
    assert kinds(mapping()) == {"age": "integer", "name": "text", "truth": "boolean", "height": "float"}
    # Whether a value is missing or a number happens to be whole does not change a type.
    values: Any
    for values in ([1, 2, 3], [1, 2, None], [1, 2, 2.5], [1.0, None, None]):
        assert kinds({"x": values}) == {"x": "float"}
    for values in (pd.array([1, 2], dtype="Int64"), pd.array([1, None], dtype="Int64")):
        assert kinds(pd.DataFrame({"x": values})) == {"x": "float"}
    for values in (["1", "2"], ["1", None], ["1", 2]):
        assert kinds({"x": values}) == {"x": "text"}
    for truths in ([True, False], [True, None]):
        assert kinds(pd.DataFrame({"x": pd.array(truths, dtype="boolean")})) == {"x": "text"}
    for labels in ([1, 2], [1, None]):
        assert kinds(pd.DataFrame({"x": pd.Categorical(labels)})) == {"x": "text"}
    assert kinds(np.zeros((2, 2), dtype=np.int8)) == {"x0": "integer", "x1": "integer"}
    assert kinds(np.zeros((2, 1), dtype=np.float32)) == {"x0": "float"}
    assert kinds([[1, 2], [3, 4]]) == {"x0": "float", "x1": "float"}


def test_labels_are_those_of_the_library() -> None:
    values = [1, 1.0, 2.5, 1e21, -0.0, 123456789012345.0, 1e-7]
    expected = ["1", "1", "2.5", "1000000000000000000000", "0", "123456789012345", "0.0000001"]
    assert _tables.labels(values, "x") == expected
    others = [True, "  yes ", np.float32(0.5), np.int8(3), b"no"]
    assert _tables.labels(others, "x") == ["true", "  yes ", "0.5", "3", "no"]
    # The same numbers as floats in a column.
    floats = np.array([2.5, 1e21, -0.0, 1e-7])
    assert cells({"x": floats}, "x", [2.5, 1e21, 0, 1e-7]) == [1, 1, 1, 1]
    # Mixed lists are text, and match the same categories.
    assert cells({"x": [1, "1", 1.0, True, "true", None]}, "x", [1, True]) == [3, 2]
    for wrong in ("yes", 3, None, b"yes"):
        with pytest.raises(RequestError) as error:
            _tables.labels(wrong, "categories")
        assert error.value.field == "categories"
    with pytest.raises(RequestError):
        _tables.labels(["a", None], "categories")
    with pytest.raises(DataError):
        _tables.labels([datetime.date(2020, 1, 1)], "categories")


def test_arrays_of_every_layout() -> None:
    base = np.arange(40, dtype=np.float64).reshape(8, 5)
    fixed = base.copy()
    fixed.setflags(write=False)
    for array in (base, np.asfortranarray(base), base[::-1], np.flip(base, 0), fixed, base.astype(object)):
        assert count(array, where="x2>=20") == 4
        assert count(array) == 8
    assert count(base[:, ::2], where="x1>=20") == 4
    assert count(base.T, 4) == 5
    assert count(base[::2], where="x0>=10") == 3
    assert count(base.astype(">f8"), where="x0>=10") == 6
    masked = np.ma.masked_array(base, mask=base >= 30)
    assert count(masked, where="x0>=10") == 4 and count(masked, 0) == 6
    assert cells([[1, "a"], [2, True], [1, None]], 0, [1, 2]) == [2, 1]
    assert cells([[1, "a"], [2, True], [1, None]], 1, ["a", True]) == [1, 1]
    assert count({"x": np.arange(10)[::3]}, where="x>=3") == 3
    assert count({"x": np.arange(10, dtype=">i2")}, where="x>=3") == 7


def test_one_column_needs_no_name() -> None:
    series = pd.Series(AGES, name="age")
    for data in (AGES, tuple(AGES), np.array(AGES), series, pl.Series("age", AGES), pa.array(AGES)):
        histogram = release.histogram(data, bins=[0, 20, 40, 100], epsilon=SHARP)
        assert list(histogram.value) == [1, 1, 3]
        assert count(data) == 5
    chunked = pa.chunked_array([[1, 2], [3]])
    assert list(release.histogram(chunked, categories=[3, 4], epsilon=SHARP).value) == [1, 0]
    assert release.mean(series, bounds=(0, 100), epsilon=1.0).query["column"] == "age"
    assert release.mean(series, "years", bounds=(0, 100), epsilon=1.0).query["column"] == "years"
    with pytest.raises(RequestError) as error:
        release.mean(pd.DataFrame({"age": AGES}), bounds=(0, 100), epsilon=1.0)
    assert (error.value.code, error.value.field) == ("R102", "column")


def test_columns_that_nobody_asks_about_are_not_looked_at() -> None:
    odd = {
        "when": pd.date_range("2020-01-01", periods=5),
        "span": pd.to_timedelta([1, 2, 3, 4, 5], unit="s"),
        "object": [object() for _ in range(5)],
        "huge": [10**30] * 5,
        "period": pd.period_range("2020-01", periods=5, freq="M"),
    }
    frame = pd.DataFrame({"age": AGES, **odd})
    assert count(frame) == 5
    assert count(frame, "age", where="age>=41") == 3
    assert count({"when": np.zeros(5, "M8[s]"), "age": AGES}, where="age>=41") == 3
    for name in odd:
        with pytest.raises(DataError) as error:
            count(frame, name)
        assert (error.value.code, error.value.field) == ("R309", f"data[{name!r}]"), name
        with pytest.raises(DataError):
            count(frame, where=f"{name}=3")
    others = (pl.from_pandas(frame[["age", "when"]]), pa.table({"age": AGES, "when": odd["when"]}))
    for other in others:
        assert count(other, "age") == 5
        assert count(other, "when") == 5
    assert count(pl.DataFrame({"age": AGES, "any": pl.Series([object()] * 5, dtype=pl.Object)}), "age") == 5


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    for data in (mapping(), pd.DataFrame(mapping()), pl.DataFrame(mapping()), pa.table(mapping())):
        with pytest.raises(DataError) as error:
            release.mean(data, "agee", bounds=(0, 1), epsilon=1.0)
        assert (error.value.code, error.value.field) == ("R306", "column")
        assert 'did you mean "age"' in str(error.value) and "height" in str(error.value)
        with pytest.raises(DataError) as error:
            count(data, where="agee>3")
        assert (error.value.code, error.value.field) == ("R306", "where")
        assert str(error.value).startswith("where: ") and "height" in str(error.value)


def test_no_rows_are_as_private_as_any_other_number() -> None:
    empty: list[Any] = [
        {"x": []},
        {"x": np.zeros(0)},
        pd.DataFrame({"x": []}),
        pd.DataFrame({"x": pd.Series([], dtype="string")}),
        pl.DataFrame({"x": []}, schema={"x": pl.Int64}),
        pa.table({"x": pa.array([], pa.float64())}),
        np.zeros((0, 2)),
        [],
    ]
    for data in empty:
        assert count(data) == 0
    for data in (empty[1], empty[4], empty[5]):
        answer = release.mean(data, "x", bounds=(0, 10), epsilon=1.0)
        assert 0 <= answer.interval[0] <= answer.value <= answer.interval[1] <= 10
    with pytest.raises(DataError) as error:
        release.mean(empty[1], "x", bounds=(0, 10), epsilon=1.0, neighboring="replace-one")
    assert error.value.code == "R308"


def test_cells_are_never_errors() -> None:
    odd = np.array([1.0, np.nan, np.inf, -np.inf, 1e300, 2.0])
    for data in ({"x": odd}, odd, odd.reshape(-1, 1), pl.DataFrame({"x": odd}), pa.table({"x": odd})):
        column = "x0" if getattr(data, "ndim", 1) == 2 else "x"
        name = "value" if data is odd else column
        total = release.sum(data, name, bounds=(0, 10), epsilon=SHARP, integers=True)
        # Scale 10 / 50: 6 is exceeded with probability e^-30.
        assert abs(total.value - 13) <= 6
        assert list(release.histogram(data, name, bins=[0, 1.5, 3], epsilon=SHARP).value) == [1, 1]
    assert count({"x": ["", " ", "a", None, "ü" * 1000]}, "x") == 2


def test_what_is_not_a_table_is_refused() -> None:
    cubes = (np.zeros((2, 2, 2)), {"x": np.zeros((2, 2))})
    for data in (3, None, 1.5, object(), {}, pd.DataFrame(), {"x": 3}, *cubes):
        with pytest.raises(ReticentError) as error:
            count(data, "x")
        assert error.value.field is not None and error.value.field.startswith("data"), data
    with pytest.raises(DataError) as wrong:
        count({"x": [1, 2], "y": [1, 2, 3]})
    assert wrong.value.field == "data" and "'y' has 3 rows and column 'x' has 2" in str(wrong.value)
    with pytest.raises(DataError) as wrong:
        count([[1, 2], [3]], "x0")
    assert wrong.value.field == "data"
    with pytest.raises(RequestError) as lazy:
        count(pl.DataFrame({"x": [1]}).lazy())
    assert "not collected" in str(lazy.value)
    with pytest.raises(DataError) as twice:
        count(pd.DataFrame(np.zeros((2, 2)), columns=["x", "x"]), "x")
    assert twice.value.code == "R306"
    with pytest.raises(DataError) as gone:
        count("no/such/file.csv")
    assert gone.value.code == "R301"
    with pytest.raises(ReticentError):
        count("")


def test_types_without_a_meaning_are_refused() -> None:
    wrong: list[Any] = [
        np.zeros(2, dtype=complex),
        np.zeros(2, dtype="M8[D]"),
        np.zeros(2, dtype="m8[s]"),
        [datetime.date(2020, 1, 1)] * 2,
        [decimal.Decimal(1), 2],
        [{"a": 1}, {}],
        [b"\xff\xfe", b"a"],
        pd.Series(pd.cut(pd.Series([1, 2]), [0, 1, 2])),
        pd.Series([datetime.date(2020, 1, 1)] * 2),
        pl.Series([datetime.date(2020, 1, 1)] * 2),
        pa.array([[1], [2]]),
        np.array([1 + 2j, "a"], dtype=object),
    ]
    for values in wrong:
        with pytest.raises(DataError) as error:
            count({"x": values}, "x")
        assert (error.value.code, error.value.field) == ("R309", "data['x']"), values


def test_integers_that_would_be_rounded_are_refused() -> None:
    huge: list[Any] = [
        np.array([2**64 - 1], dtype=np.uint64),
        [2**53 + 1],
        [2**70, 1],
        [10**400],
        pd.Series([2**60 + 1, None], dtype="Int64"),
        np.ma.masked_array([2**60 + 1, 1], mask=[False, True]),
    ]
    for values in huge:
        with pytest.raises(DataError) as error:
            count({"x": values}, "x")
        assert (error.value.code, error.value.field) == ("R309", "data['x']"), values
    kept = np.array([2**60 + 1, 2**60 + 2, 2**60 + 2])
    assert cells({"x": kept}, "x", [2**60 + 1, 2**60 + 2]) == [1, 2]
    assert cells(pl.DataFrame({"x": kept}), "x", [2**60 + 1, 2**60 + 2]) == [1, 2]
    assert cells({"x": kept.astype(np.uint64)}, "x", [2**60 + 1, 2**60 + 2]) == [1, 2]


def test_broken_arrow_data_are_refused() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("no stream\ntoday")

    with pytest.raises(DataError) as error:
        count(Broken())
    assert (error.value.field, "no stream" in str(error.value)) == ("data", True)
    assert "\n" not in str(error.value)
    with pytest.raises(DataError) as error:
        release.estimate(Broken(), "x", categories=["a", "b"], epsilon=1.0)
    assert error.value.field == "data"


def test_files_are_read_where_they_are(tmp_path: Any) -> None:
    frame = pd.DataFrame({"age": AGES, "name": NAMES})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    for path in (tmp_path / "people.csv", str(tmp_path / "people.parquet")):
        assert count(path, where="age>=41") == 3
        assert cells(path, "name", ["a", "b"]) == [1, 2]
    assert kinds(tmp_path / "people.parquet") == {"age": "integer", "name": "text"}


def test_numbers() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert _tables.numbers(array, "X") is array
    assert _tables.numbers(array.astype(np.float32), "X").dtype == np.float64
    assert _tables.numbers([[1, 2], [3, 4]], "X").shape == (2, 2)
    assert _tables.numbers(pd.DataFrame({"a": [1, 2], "b": [True, False]}), "X").tolist() == [[1, 1], [2, 0]]
    assert _tables.numbers(np.array([1, 2.5, True], dtype=object), "X").tolist() == [1, 2.5, 1]
    assert _tables.numbers(pl.DataFrame({"a": [1, 2]}), "X").tolist() == [[1], [2]]
    assert _tables.numbers(np.zeros((0, 3)), "X").shape == (0, 3)
    assert _tables.numbers(np.array([1e308, 1e308]), "X").tolist() == [1e308, 1e308]
    missing: list[Any] = [
        [1.0, np.nan],
        np.array([1, None], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.DataFrame({"a": pd.array([1, None], dtype="Float64")}),
        np.ma.masked_array([1, 2], mask=[False, True]),
        np.array([1, pd.NA], dtype=object),
    ]
    for values in missing:
        found = _tables.numbers(values, "X", allow_missing=True).reshape(-1)
        assert found[0] == 1 and np.isnan(found[1])
        with pytest.raises(DataError) as error:
            _tables.numbers(values, "X")
        assert (error.value.code, error.value.field) == ("R307", "X")
    for values in ([1.0, np.inf], [-np.inf, np.nan]):
        for allowed in (True, False):
            with pytest.raises(DataError):
                _tables.numbers(values, "X", allow_missing=allowed)


def test_what_is_not_numbers() -> None:
    class Sparse:
        dtype = np.dtype(float)

        def toarray(self) -> None: ...

    wrong: list[Any] = [
        "text",
        ["1", "2"],
        np.array(["1"], dtype=object),
        [1 + 2j],
        np.zeros(2, "M8[D]"),
        [[1, 2], [3]],
        [10**400],
        object(),
        {"a": 1},
        Sparse(),
        pd.DataFrame({"a": ["x"], "b": [1]}),
        pd.Series([1, 2], dtype="category"),
        pd.Series(pd.date_range("2020-01-01", periods=2)),
        pd.Series(["1", "2"], dtype="string"),
        np.ma.masked_array(["a"], mask=[True]),
    ]
    for values in wrong:
        with pytest.raises(DataError) as error:
            _tables.numbers(values, "X")
        assert error.value.field == "X" and error.value.code == "R309", values


def test_a_table_is_taken_as_it_is() -> None:
    table = _tables.table(mapping())
    assert isinstance(table, _native.Table) and _tables.table(table) is table
    assert count(table, where="age>=41") == 3


def test_files_are_read_as_they_are(tmp_path: Any) -> None:
    (tmp_path / "a.csv").write_text("land;weight\nSE;1.071,5\nNA;80\n")
    (tmp_path / "b.csv").write_text("weight;land\n60;SE\n;NO\n")
    both = str(tmp_path / "*.csv")
    assert count(both) == 4
    assert count(both, "land") == 3
    assert cells(both, "land", ["SE", "NO"]) == [2, 1]
    options = {"also": [tmp_path / "b.csv"], "decimal_comma": True}
    assert count(tmp_path / "a.csv", reading=options, where="weight > 1000") == 1
    opened = reticent.read_table(tmp_path / "a.csv", **options)
    assert [name for name, _ in opened.columns()] == ["land", "weight"]
    assert count(opened, "weight") == 3
    assert list(
        release.histogram(
            tmp_path / "a.csv", "land", categories=["SE", "NA"], epsilon=SHARP, reading={"missing": []}
        ).value
    ) == [1, 1]
    with pytest.raises(ReticentError, match="counts as missing"):
        cells(tmp_path / "a.csv", "land", ["SE", "NA"])


def test_columns_are_derived_in_files_and_in_memory(tmp_path: Any) -> None:
    (tmp_path / "t.csv").write_text("w,h\n81,1.8\n50,1\n,2\n")
    derive = ["bmi = w / (h * h) in 10, 60"]
    for data in (str(tmp_path / "t.csv"), {"w": [81.0, 50.0, None], "h": [1.8, 1.0, 2.0]}):
        assert count(data, "bmi", reading={"derive": derive}) == 2
        assert count(data, "bmi", reading={"derive": derive}, where="bmi < 30") == 1


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"separater": ";"}, "unknown option"),
        ({"separator": ";;"}, "one character"),
        ({"decimal_comma": "yes"}, "True or False"),
        ({"missing": [1]}, "a list of texts"),
        ([";"], "a mapping"),
        ({"quoting": "single"}, "invalid argument"),
        ({"encoding": "ebcdic"}, "utf-8, windows-1252"),
    ],
)
def test_options_of_files_are_checked(tmp_path: Any, reading: Any, message: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ReticentError, match=message):
        release.count(tmp_path / "t.csv", epsilon=1.0, reading=reading)


def test_options_of_text_are_not_for_data_in_memory() -> None:
    with pytest.raises(RequestError, match="only for files"):
        count({"a": [1]}, reading={"separator": ";"})
