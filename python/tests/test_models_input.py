"""Estimators and preprocessing: data of every kind, and everything that is refused."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from estimators import ADULT, SCHEMA, blobs, logistic, pd, people

from sklearn.base import clone

from reticent import models, preprocessing
from reticent.errors import DataError, ReticentError, RequestError
from reticent.models import LinearSVC, LogisticRegression, Ridge, SoftmaxRegression
from reticent.preprocessing import SchemaEncoder

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")


# Data frames.


def _frames() -> list[tuple[str, Callable[[Any], Any]]]:
    return [
        ("pandas", lambda frame: frame),
        ("mapping", lambda frame: {name: frame[name] for name in frame}),
        ("polars", lambda frame: pytest.importorskip("polars").from_pandas(frame)),
        ("pyarrow", lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(frame)),
        ("categories", lambda frame: frame.assign(job=frame["job"].astype("category"))),
        ("nullable", lambda frame: frame.assign(age=frame["age"].astype("Int64"))),
    ]


@pytest.mark.parametrize(("name", "convert"), _frames(), ids=[name for name, _ in _frames()])
def test_frames_of_every_kind(name: str, convert: Callable[[Any], Any]) -> None:
    frame = people()
    y = (frame["age"] > 50).astype(int)
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=(0, 1)).fit(convert(frame), y)
    other = LogisticRegression(epsilon=None, method="exact", schema=SCHEMA, classes=(0, 1)).fit(frame, y)
    assert np.allclose(other.decision_function(convert(frame)), other.decision_function(frame))
    assert model.score(convert(frame), y) > 0.85
    encoder = SchemaEncoder(schema=SCHEMA)
    assert (encoder.transform(convert(frame)) == encoder.transform(frame)).all()
    numbers = convert(frame)
    if name == "polars":
        numbers = numbers.select(["age"])
    elif name == "pyarrow":
        numbers = numbers.select(["age"])
    else:
        numbers = {"age": frame["age"]} if name == "mapping" else numbers[["age"]]
    by_bounds = LogisticRegression(epsilon=50.0, bounds={"age": (17, 90)}, classes=(0, 1)).fit(numbers, y)
    assert by_bounds.feature_names_in_.tolist() == ["age"] and by_bounds.coef_.shape == (1, 1)
    assert (by_bounds.predict(numbers) == y).mean() > 0.85


def test_duckdb_relations() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = people().drop(columns="note")
    y = (frame["age"] > 50).astype(int)
    relation = duckdb.connect().from_df(frame)
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=(0, 1)).fit(relation, y)
    assert model.score(frame, y) > 0.85


def test_the_label_column_is_never_a_feature() -> None:
    frame = people()
    frame["income"] = np.where(frame["age"] > 50, ">50K", "<=50K")
    text = SCHEMA.replace("[columns]", '[label]\ncolumn = "income"\npositive = ">50K"\n[columns]')
    model = LogisticRegression(epsilon=50.0, schema=text, classes=("<=50K", ">50K"))
    model.fit(frame, frame["income"])
    assert model.score(frame.drop(columns="income"), frame["income"]) > 0.85
    with pytest.raises(RequestError) as caught:
        LogisticRegression(schema=text).fit(frame, frame["income"])
    assert caught.value.field == "classes"
    clash = pd.DataFrame({"y": [0.1, 0.9] * 200, "y_": [0.0, 1.0] * 200})
    assert logistic().fit(clash, [0, 1] * 200).predict(clash).shape == (400,)


def test_categories_of_a_schema_are_classes() -> None:
    frame = people()
    target = pd.cut(frame["age"], [0, 40, 65, 100], labels=["young", "middle", "old"])
    label = '[label]\ncolumn = "stage"\ncategories = ["young", "middle", "old"]\n'
    text = SCHEMA.replace("[columns]", f"{label}[columns]")
    model = LogisticRegression(epsilon=50.0, schema=text).fit(frame, target)
    assert model.classes_.tolist() == ["middle", "old", "young"]
    ages = pd.DataFrame({"age": [20, 88], "job": ["cook", "cook"], "hours": [40.0, 40.0]})
    assert model.predict(ages).tolist() == ["young", "old"]
    assert model.predict_proba(ages).argmax(axis=1).tolist() == [2, 1]
    margins = SchemaEncoder(schema=text).transform(frame) @ model.encoded_coef_.T + model.encoded_intercept_
    assert np.allclose(margins, model.decision_function(frame))
    two = text.replace('"young", "middle", "old"', '"young", "old"')
    binary = LinearSVC(epsilon=50.0, schema=two).fit(frame, np.where(frame["age"] > 50, "old", "young"))
    assert binary.decision_function(frame).shape == (1000,)
    assert ((binary.decision_function(frame) > 0) == (binary.predict(frame) == "young")).all()


def test_census_accuracy() -> None:
    pytest.importorskip("pyarrow")
    frame = pd.read_parquet(ADULT / "adult.parquet")
    model = LogisticRegression(epsilon=1.0, schema=ADULT / "schema.toml", classes=("<=50K", ">50K"))
    model.fit(frame, frame["income"])
    assert model.score(frame, frame["income"]) > 0.78
    assert model.epsilon_ == 1.0 and len(model.encoded_feature_names_) == 125


# Preprocessing.


def test_the_encoder_matches_the_native_encoder_on_strange_cells() -> None:
    frame: dict[str, Any] = {
        "age": ["17", " 90 ", "abc", None, "1e2", "inf", "nan", "1_0", "+53.5", ".5e2", "", "１７"],
        "job": [7.0, 7.5, np.nan, 1e20, -0.0, 7.0, 0.1, 3.0, 7.0, np.nan, 2.0, 7.0],
        "hours": np.array([0, 100, 50, 7, -3, 300, 1, 2, 3, 4, 5, 6]),
    }
    rng = np.random.default_rng(0)
    places = rng.integers(0, 12, size=500)
    many: dict[str, Any] = {name: [values[place] for place in places] for name, values in frame.items()}
    many["hours"] = np.asarray(many["hours"])
    text = SCHEMA.replace('"cook", 7]', '"cook", 7, "100000000000000000000", 0, "0.1"]')
    y = rng.integers(0, 2, size=500)
    model = LogisticRegression(epsilon=None, method="exact", schema=text, classes=(0, 1)).fit(many, y)
    features = SchemaEncoder(schema=text).transform(frame)
    margins = features @ model.encoded_coef_[0] + model.encoded_intercept_[0]
    assert np.allclose(margins, model.decision_function(frame))
    assert (features.sum(axis=1) > 0).all() and features.min() >= 0 and features.max() <= 1


def test_the_encoder_needs_no_fit_and_reads_no_values() -> None:
    encoder = SchemaEncoder(schema=SCHEMA)
    frame = people()
    assert (encoder.transform(frame) == clone(encoder).fit(frame).transform(frame)).all()
    assert encoder.set_output(transform="pandas").transform(frame).columns[0] == "age"
    with pytest.raises(DataError) as caught:
        clone(encoder).fit(frame[["age"]])
    assert caught.value.field == "X" and caught.value.value == "job"


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (None, "R102"),
        (3, "R104"),
        ("no/such/file.toml", "R301"),
        ("unit = ", "R311"),
        ('unit = "row"\n', "R315"),
        ('unit = "row"\n[columns]\na = { bounds = [1] }\n', "R312"),
        ('unit = "row"\n[columns]\na = { bounds = [2, 1] }\n', "R312"),
        ('unit = "row"\n[columns]\na = { bounds = [1, inf] }\n', "R312"),
        ('unit = "row"\n[columns]\na = { categories = [] }\n', "R312"),
        ('unit = "row"\n[columns]\na = { categories = ["b", " b"] }\n', "R312"),
        ('unit = "row"\n[columns]\na = 3\n', "R312"),
    ],
)
def test_broken_schemas_are_refused(schema: Any, code: str) -> None:
    with pytest.raises(ReticentError) as caught:
        SchemaEncoder(schema=schema).transform(people())
    assert (caught.value.code, caught.value.field) == (code, "schema")


# Bad input.


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-6}, "delta"),
        ({"method": "gradient"}, "delta"),
        ({"method": "magic"}, "method"),
        ({"method": 3}, "method"),
        ({"method": "chaudhuri-2011", "delta": 1e-6}, "delta"),
        ({"neighboring": "swap"}, "neighboring"),
        ({"bounds": None}, "bounds"),
        ({"bounds": (1, -1)}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": (0, 0)}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": "ab"}, "bounds"),
        ({"bounds": ("a", "b")}, "bounds"),
        ({"bounds": [(0, 1), (0, 1)]}, "bounds"),
        ({"bounds": {"x0": (0, 1)}}, "bounds"),
        ({"bounds": (-1e308, 1e308)}, "bounds"),
        ({"schema": SCHEMA}, "bounds"),
        ({"bounds": None, "schema": SCHEMA}, "X"),
        ({"classes": None}, "classes"),
        ({"classes": "all"}, "classes"),
        ({"classes": (0,)}, "classes"),
        ({"classes": ()}, "classes"),
        ({"classes": 2}, "classes"),
        ({"classes": (0, 0)}, "classes"),
        ({"classes": (0, "1")}, "classes"),
        ({"classes": ("a", " a")}, "classes"),
        ({"classes": ("a", "")}, "classes"),
        ({"classes": (0, float("nan"))}, "classes"),
        ({"classes": (0, None)}, "classes"),
        ({"classes": (0, 2)}, "y"),
        ({"dataset_size": 0}, "dataset_size"),
        ({"dataset_size": 1.5}, "dataset_size"),
        ({"dataset_size": 2**70}, "dataset_size"),
        ({"regularization": -1.0}, "regularization"),
        ({"regularization": "x"}, "regularization"),
        ({"steps": 10}, "steps"),
        ({"steps": True}, "steps"),
        ({"learning_rate": 0.1}, "learning_rate"),
        ({"sampling_rate": 0.1}, "sampling_rate"),
        ({"sampling_rate": 2.0, "method": "sgd", "delta": 1e-6}, "sampling_rate"),
    ],
)
def test_arguments_are_refused_by_name(settings: dict[str, Any], field: str) -> None:
    X, y = blobs(50)
    with pytest.raises(ReticentError) as caught:
        logistic(**settings).fit(X, y)
    assert caught.value.field == field, caught.value
    assert caught.value.remedy and "\n" not in str(caught.value)


def _object(value: Any) -> Any:
    X = blobs(50)[0].astype(object)
    X[3, 1] = value
    return X


@pytest.mark.parametrize(
    "X",
    [
        np.full((50, 3), np.nan),
        np.full((50, 3), np.inf),
        np.zeros((50, 3), dtype=complex),
        np.zeros((0, 3)),
        np.zeros((50, 0)),
        np.zeros(50),
        np.zeros((50, 3, 1)),
        np.zeros((49, 3)),
        np.zeros((50, 3), dtype="datetime64[s]"),
        np.full((50, 3), "a"),
        np.full((50, 3), "1"),
        _object("a"),
        _object({"a": 1}),
        _object(None),
        _object(pd.NA),
        _object(10**400),
        [[1, 2, 3], [1, 2]],
        [],
        None,
        3,
        "X",
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 50)}),
        pd.DataFrame({"a": ["b"] * 50}),
        pd.DataFrame({"a": ["1"] * 50}),
        pd.DataFrame({"a": pd.array([1, None] * 25, dtype="Int64")}),
        pd.DataFrame({"a": pd.Categorical(["b"] * 50)}),
        pd.Series(np.zeros(50)),
        {"a": ["b"] * 50},
        {"a": np.zeros(50), "b": np.zeros(49)},
        {"a": [1.0, None] * 25},
        {},
    ],
)
def test_features_are_refused_by_name(X: Any) -> None:
    y = np.arange(50) % 2
    with pytest.raises(DataError) as caught:
        logistic().fit(X, y)
    is_length = "inconsistent" in str(caught.value)
    assert str(caught.value.field).split("[")[0] == ("y" if is_length else "X"), caught.value


@pytest.mark.parametrize(
    "y",
    [
        None,
        np.full(50, np.nan),
        np.full(50, np.inf),
        np.zeros((50, 2)),
        np.zeros(49),
        np.zeros(50, dtype=complex),
        np.zeros(50, dtype="datetime64[s]"),
        np.array([None] * 50, dtype=object),
        np.array([0, "a"] * 25, dtype=object),
        np.array([{}] * 50, dtype=object),
        np.array([10**30] * 50, dtype=object),
        np.full(50, -1),
        np.full(50, 2**63, dtype=np.uint64),
        np.linspace(0, 1, 50),
        pd.Series(pd.array([1, None] * 25, dtype="Int64")),
        pd.Series(pd.to_datetime(["2020-01-01"] * 50)),
        "y",
        3,
        [],
    ],
)
def test_targets_are_refused_by_name(y: Any) -> None:
    X, _ = blobs(50)
    with pytest.raises(DataError) as caught:
        logistic().fit(X, y)
    assert caught.value.field == "y", caught.value


@pytest.mark.parametrize(
    "y", [np.full(50, np.nan), np.full(50, "a"), np.array([10**400] * 50, dtype=object), None]
)
def test_numbers_to_predict_are_refused_by_name(y: Any) -> None:
    X, _ = blobs(50)
    with pytest.raises(ReticentError) as caught:
        Ridge(bounds=(-1, 1), target_bounds=(0, 1)).fit(X, y)
    assert caught.value.field == "y", caught.value
    for bounds in (None, (1, 0), "ab", 3):
        with pytest.raises(ReticentError) as caught:
            Ridge(bounds=(-1, 1), target_bounds=bounds).fit(X, X[:, 0])
        assert caught.value.field == "target_bounds"


def test_texts_of_every_storage_are_the_same_target() -> None:
    X, y = blobs(60)
    words = np.array(["no", "yes"])[y]
    settings: dict[str, Any] = {"epsilon": None, "method": "exact", "classes": "public"}
    expected = logistic(**settings).fit(X, words)
    for target in (
        words.tolist(),
        words.astype(object),
        pd.Series(words),
        pd.Series(words, dtype=object),
        pd.Series(words, dtype="string"),
        pd.Series(words, dtype="category"),
    ):
        model = logistic(**settings).fit(X, target)
        assert model.classes_.tolist() == ["no", "yes"], type(target)
        assert np.allclose(model.coef_, expected.coef_)
    for missing in (None, np.nan, pd.NA):
        values = np.array([*words[1:], missing], dtype=object)
        for target in (values, values.tolist(), pd.Series(values), pd.Series(values, dtype="string")):
            with pytest.raises(DataError) as caught:
                logistic(**settings).fit(X, target)
            assert caught.value.field == "y", caught.value


def test_texts_of_every_storage_are_the_same_features() -> None:
    frame, y = people(300), np.arange(300) % 2
    settings: dict[str, Any] = {"epsilon": None, "method": "exact", "schema": SCHEMA, "classes": (0, 1)}
    expected = LogisticRegression(**settings).fit(frame.assign(job=frame["job"].astype(object)), y)
    for dtype in ("str", "string", "category"):
        own = frame.assign(job=frame["job"].astype(dtype))
        model = LogisticRegression(**settings).fit(own, y)
        assert np.allclose(model.encoded_coef_, expected.encoded_coef_), dtype
        assert (model.predict(own) == expected.predict(frame)).all(), dtype


def test_layouts_and_types_of_arrays() -> None:
    X, y = blobs(400)
    model = logistic(epsilon=None, method="exact").fit(X, y)
    expected = model.decision_function(X)
    readonly = X.copy()
    readonly.setflags(write=False)
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], readonly, X.astype(object), X.tolist()):
        other = logistic(epsilon=None, method="exact").fit(same, y)
        assert np.allclose(other.decision_function(same), expected)
    for small in (np.int8, np.uint16, np.bool_, np.float32):
        assert logistic().fit((X > 0).astype(small), y).score((X > 0).astype(small), y) > 0.8
    huge = logistic().fit(np.where(X > 0, 2**62, -(2**62)), y)
    assert np.isfinite(huge.decision_function(X)).all()


def test_schemas_that_do_not_fit_the_estimator() -> None:
    frame = people()
    y = (frame["age"] > 50).astype(int)

    def labelled(line: str) -> str:
        return SCHEMA.replace("[columns]", f'[label]\ncolumn = "old"\n{line}\n[columns]')

    cases: list[tuple[Any, str]] = [
        (LogisticRegression(schema=labelled("bounds = [0, 1]"), classes=(0, 1)), "schema"),
        (Ridge(schema=labelled("positive = 1")), "schema"),
        (Ridge(schema=labelled("bounds = [0, 1]"), target_bounds=(0, 2)), "target_bounds"),
        (LogisticRegression(schema=labelled("bounds = [0, 1]")), "schema"),
        (LogisticRegression(schema=labelled("positive = 1")), "classes"),
        (LogisticRegression(schema=labelled("positive = 1"), classes=(0, 1, 2)), "classes"),
        (LogisticRegression(schema=labelled("positive = 1"), classes=(1, 2)), "y"),
        (LogisticRegression(schema=labelled("positive = 5"), classes=(0, 1)), "classes"),
        (LogisticRegression(schema=labelled("categories = [0, 2]"), classes=(0, 1)), "classes"),
        (LogisticRegression(schema=SCHEMA + "\nstrange = 1\n", classes=(0, 1)), "schema"),
    ]
    for model, field in cases:
        with pytest.raises(ReticentError) as caught:
            model.fit(frame, y)
        assert caught.value.field == field, caught.value
    fine = Ridge(epsilon=50.0, schema=labelled("bounds = [0, 1]"), target_bounds=(0, 1)).fit(frame, y)
    assert fine.score(frame, y) > 0.3
    infinite = frame.assign(hours=np.inf)
    with pytest.raises(DataError, match="infinity"):
        fine.predict(infinite)
    with pytest.raises(DataError, match="'age'"):
        fine.predict(np.zeros((3, 2)))


def test_names_of_every_kind() -> None:
    names = ['a "b"', "c.d", "e\\f", "ü = 1", "new\nline", "\x7f", "x'y"]
    frame = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, size=(300, len(names))), columns=names)
    words = np.where(frame.iloc[:, 0] > 0, 'yes "\\', "nö\n#")
    model = LogisticRegression(epsilon=50.0, bounds=(-1, 1), classes="public").fit(frame, words)
    assert set(model.predict(frame)) == {'yes "\\', "nö\n#"}
    margins = frame.to_numpy() @ model.coef_[0] + model.intercept_[0]
    assert np.allclose(margins, model.decision_function(frame))
    with pytest.raises(DataError):
        logistic().fit({"\ud800": np.zeros(4)}, [0, 1, 0, 1])


# The package.


def test_the_package_does_not_import_scikit_learn() -> None:
    code = "import sys, reticent; sys.exit('sklearn' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("module", [models, preprocessing])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
