"""Networks: data of every kind, and everything that is refused."""

from __future__ import annotations

import inspect
import tempfile

import numpy as np
import pytest

from networks import ARRAY, IMAGES, KINDS, NOISY, PLAIN, SCHEMA, TEXTS, TWO, WORDS, X, Y, refused
from reticent import errors, train
from reticent.train import Conv2d, Embedding, Flatten, Linear, MeanTime, Network, Relu, Residual
from reticent.train.data import Reader
from reticent.train.images import pixels_of
from reticent.train.labels import positions_of, values_of

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")


# ---------------------------------------------------------------- data


def tables():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": X[:, 0], "b c": X[:, 1]}
    when = pandas.Series(pandas.date_range("2020-01-01", periods=60))
    return {
        "pandas": pandas.DataFrame({**columns, "when": when}, index=range(60, 0, -1)),
        "polars": polars.DataFrame({**columns, "when": when}),
        "pyarrow": pyarrow.table(columns),
        "mapping": {**columns, "b c": columns["b c"].tolist()},
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "mapping"])
def test_tables_of_every_kind(kind):
    data = tables()[kind]
    made = train.fit(TWO, data, Y, schema=SCHEMA, **PLAIN)
    assert made.network.input == (4,)
    expected = train.load(made.folder).predict(tables()["mapping"])
    assert (made.predict(data) == expected).all() and made.predict(data).dtype == np.int64
    assert made.evaluate(data, Y).rows == 60
    refused(lambda: made.evaluate(data, Y[:7]), errors.DataError, "y")
    refused(lambda: made.evaluate(data), errors.DataError, "X", "R306")
    refused(lambda: made.predict({"a": X[:, 0]}), errors.DataError, "X", "R306")


def test_the_label_may_be_a_column(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b c": X[:, 1], "kind": Y})
    csv, schema = tmp_path / "rows.csv", tmp_path / "schema.toml"
    frame.to_csv(csv, index=False)
    schema.write_text(SCHEMA)

    class Declared:
        toml = SCHEMA

    public = frame.assign(kind=1 - frame["kind"])
    for data, own in ((frame, SCHEMA), (csv, schema), (str(csv), Declared())):
        made = train.fit(TWO, data, schema=own, validation=public, **PLAIN)
        assert made.accuracy is not None and made.evaluate(csv).accuracy + made.accuracy == pytest.approx(1)
        assert (made.predict(str(csv)) == made.predict(frame)).all()
    refused(lambda: train.fit(TWO, frame, Y, schema=SCHEMA, **PLAIN), errors.RequestError, "y")
    refused(lambda: train.fit(TWO, csv, Y, schema=SCHEMA, **PLAIN), errors.RequestError, "y")
    refused(lambda: train.fit(TWO, frame, schema=SCHEMA, label="a", **PLAIN), errors.RequestError, "label")
    refused(lambda: train.fit(TWO, frame, **PLAIN), errors.RequestError, "schema")
    refused(
        lambda: train.fit(TWO, frame, schema=SCHEMA, bounds=(0, 1), **PLAIN), errors.RequestError, "bounds"
    )
    refused(lambda: train.fit(TWO, frame, schema="no = [\n", **PLAIN), errors.DataError, "schema")
    refused(
        lambda: train.fit(TWO, frame, schema=SCHEMA.replace("bounds", "bond"), **PLAIN),
        errors.DataError,
        "schema",
    )
    refused(lambda: train.fit(TWO, frame, schema=3, **PLAIN), errors.RequestError, "schema")
    refused(
        lambda: train.fit(TWO, tmp_path / "no.csv", schema=SCHEMA, **PLAIN), errors.DataError, "X", "R301"
    )


def test_a_table_of_numbers_needs_bounds_alone():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b c": X[:, 1]})
    made = train.fit(TWO, frame, Y, bounds={"a": (0, 1), "b c": (0, 2)}, classes=2, **PLAIN)
    assert 'categories = ["0", "1"]' in (made.folder / "schema.toml").read_text()
    assert '"b c" = { bounds = [0, 2] }' in (made.folder / "schema.toml").read_text()
    joined = frame.assign(kind=Y)
    again = train.fit(TWO, joined, bounds=(0, 1), classes=[0, 1], label="kind", **PLAIN)
    assert again.predict(frame).shape == (60,)
    strange = frame.assign(kind=Y + 5)
    refused(
        lambda: train.fit(TWO, strange, bounds=(0, 1), classes=[0, 1], label="kind", **PLAIN),
        errors.DataError,
        "X",
    )


def test_users_are_protected_as_the_schema_says():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b c": X[:, 1], "who": np.arange(60) // 3})
    schema = SCHEMA.replace('"row"', '{ column = "who" }')
    terms = {**NOISY, "dataset_size": 20, "batch_size": 10}
    made = train.fit(TWO, frame, Y, schema=schema, examples_per_user=2, **terms)
    assert made.certificate.unit == "all rows of one who"
    assert made.predict(frame.drop(columns="who")).shape == (60,)


def test_images_of_every_layout():
    colours = np.stack([IMAGES, IMAGES // 2, 255 - IMAGES], axis=-1)
    network = [Conv2d(out=2, kernel=3), Relu(), Flatten(), Linear(out=2)]
    made = train.fit(network, colours, Y, classes=["dog", "cat"], **NOISY)
    assert made.network.input == (3, 6, 5) and made.certificate.unit == "image"
    assert set(made.predict(colours)) <= {"dog", "cat"}
    shares = made.predict_proba(colours)
    turned = np.moveaxis(colours, 3, 1)
    assert (shares == made.predict_proba(turned)).all()
    assert (shares == made.predict_proba(np.asfortranarray(turned))).all()
    names = np.where(Y == 1, "cat", "dog")
    assert made.evaluate(colours, Y).accuracy == made.evaluate(turned, names).accuracy
    plain = train.fit("logistic", IMAGES[::2], Y[::2].astype(str), **PLAIN | {"batch_size": 10})
    assert plain.classes.tolist() == list(range(10)) and plain.network.input == (1, 6, 5)
    assert plain.predict(IMAGES).dtype == np.int64
    refused(lambda: plain.predict(colours), errors.ModelError, "X")
    refused(lambda: plain.predict(X), errors.RequestError, "X")


def test_where_the_channels_are():
    small = np.arange(2 * 3 * 4 * 4, dtype=np.uint8).reshape(2, 3, 4, 4)
    error = refused(lambda: pixels_of(small, "X"), errors.RequestError, "channels")
    assert 'channels="first"' in error.remedy
    assert pixels_of(small, "X", "first", None).shape == (2, 3, 4, 4)
    assert pixels_of(small, "X", "last", None).shape == (2, 4, 3, 4)
    assert pixels_of(small, "X", None, (4, 3, 4)).shape == (2, 4, 3, 4)
    assert pixels_of(small[:, :, :, :1], "X", None, (1, 3, 4)).shape == (2, 1, 3, 4)
    two = np.zeros((2, 2, 5, 5), dtype=np.uint8)
    refused(lambda: pixels_of(two, "X"), errors.RequestError, "channels")
    refused(lambda: pixels_of(two, "X", "middle", None), errors.InvalidValueError, "channels")
    assert pixels_of(two, "X", "first", None).flags.c_contiguous


def test_texts_of_every_kind(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    network = [Embedding(out=4), MeanTime(), Linear(out=2)]
    terms = {"non_private": True, "batch_size": 30, "epochs": 30, "learning_rate": 1.0}
    made = train.fit(network, TEXTS, KINDS, validation=(TEXTS[:8], KINDS[:8]), **WORDS, **terms)
    assert made.network.layers[0]["vocabulary"] == 6, "four tokens, padding and unknown"
    assert made.accuracy == 1 and made.predict(TEXTS[:2]).tolist() == ["ham", "spam"]
    sources = [tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), pandas.Series(TEXTS)]
    sources += [polars.Series(TEXTS), pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS])]
    sources += [pandas.DataFrame({"text": TEXTS, "other": 1})]
    for source in sources:
        assert (made.predict(source) == np.array(KINDS)).all(), type(source)
    words = tmp_path / "words.txt"
    words.write_text("see\nyou\nwin\nfree")
    frame = pandas.DataFrame({"message": TEXTS, "kind": KINDS})
    own = {**WORDS, "vocabulary": words}
    again = train.fit(network, frame, text_column="message", label="kind", **own, **PLAIN)
    assert again.network.layers[0]["vocabulary"] == 6
    assert again.predict(["home sweet home"]).shape == (1,)
    beside = train.fit(network, frame[["message"]], KINDS, text_column="message", **WORDS, **PLAIN)
    assert beside.evaluate(frame[["message"]], KINDS).rows == 60
    rated = {key: value for key, value in WORDS.items() if key != "classes"}
    number = [Embedding(out=4), MeanTime(), Linear(out=1)]
    rating = train.fit(number, TEXTS, np.arange(60.0), target_bounds=(0, 59), **rated, **PLAIN)
    assert rating.predict(TEXTS).max() <= 59


def test_classes_keep_their_kind():
    assert values_of(["0", "-3", "12"]).tolist() == [0, -3, 12]
    assert values_of(["false", "true"]).dtype == bool
    assert values_of(["01", "2"]).tolist() == ["01", "2"]
    assert values_of(["true", "maybe"]).tolist() == ["true", "maybe"]
    public = train.fit(TWO, X, Y * 10 - 3, bounds=(0, 1), classes="public", **PLAIN)
    assert public.classes.tolist() == [-3, 7]
    odd = ['a "b" \\', "é\x7f\t."]
    made = train.fit(TWO, X, np.array(odd)[Y], bounds=(0, 1), classes=odd, **PLAIN)
    assert made.classes.tolist() == odd and made.evaluate(X, np.array(odd)[Y]).rows == 60


# ---------------------------------------------------------------- what is refused


BAD_X = {
    "nan": np.where(X > 0.9, np.nan, X),
    "infinity": np.where(X > 0.9, np.inf, X),
    "texts": X.astype(str),
    "dates": np.full((60, 2), "2020-01-01", dtype="M8[D]"),
    "complex": X.astype(complex),
    "objects": np.array([[object(), 1.0]] * 60, dtype=object),
    "none": None,
    "a number": 3,
    "bytes": b"abc",
    "one dimension": X[:, 0],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "empty list": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "float images": IMAGES / 255,
    "integer images": IMAGES.astype(int),
    "five dimensions": IMAGES[..., None, None],
    "generator": (row for row in X),
}


@pytest.mark.parametrize("kind", BAD_X)
def test_bad_features_are_refused_by_name(kind):
    own = {"classes": 2} if "images" in kind or "dimensions" in kind else ARRAY
    error = refused(lambda: train.fit("mlp", BAD_X[kind], Y, **own, **NOISY), errors.ReticentError, "X")
    assert isinstance(error, (errors.DataError, errors.RequestError))
    if "images" in kind:
        assert "uint8" in error.remedy


BAD_Y = {
    "too few": Y[:5],
    "two dimensions": Y[:, None],
    "negative": Y - 1,
    "undeclared": Y + 1,
    "fractions": Y + 0.5,
    "nan": np.where(Y, 1.0, np.nan),
    "infinity": np.where(Y, 1.0, np.inf),
    "None": [None] + ["0"] * 59,
    "huge": [10**30] + [1] * 59,
    "huge array": np.full(60, 2**64 - 1, dtype=np.uint64),
    "objects": [object()] * 60,
    "text": "0" * 60,
    "missing": None,
    "complex": Y.astype(complex),
    "dates": np.full(60, "2020-01-01", dtype="M8[D]"),
    "mapping": {"y": Y},
}


@pytest.mark.parametrize("kind", BAD_Y)
def test_bad_labels_are_refused_by_name(kind):
    check_labels(BAD_Y[kind])


def test_bad_labels_of_pandas_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    check_labels(pandas.Series([pandas.NA] + [1] * 59, dtype="Int64"))
    check_labels(pandas.Series([pandas.NA] + [1] * 59, dtype=object))
    check_labels(pandas.Series(pandas.date_range("2020-01-01", periods=60)))
    check_labels(pandas.Series(["x", "y"] * 30, dtype="category"))
    check_labels(pandas.DataFrame({"y": Y}))


def check_labels(labels):
    refused(lambda: train.fit(TWO, X, labels, **ARRAY, **NOISY), errors.ReticentError, "y")
    refused(lambda: train.fit("logistic", IMAGES, labels, classes=2, **NOISY), errors.ReticentError, "y")
    words = {**WORDS, "classes": [0, 1]}
    refused(lambda: train.fit("logistic", TEXTS, labels, **words, **NOISY), errors.ReticentError, "y")


def test_good_labels_of_every_type():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    reader = Reader("table", label="label", classes=("0", "1"))
    read_only = Y.copy()
    read_only.flags.writeable = False
    series = pandas.Series(Y)
    for labels in (
        Y.astype(np.uint8),
        Y.astype(">i2"),
        Y.astype(float),
        Y.astype(str),
        Y.astype(object),
        Y.tolist(),
        np.repeat(Y, 2)[::2],
        read_only,
        series.astype("Int64"),
        series.astype("category"),
        series.astype("string"),
        polars.Series(Y),
    ):
        reader.labelled(X, labels)
        assert (positions_of(labels, ("0", "1"), "y") == Y).all(), type(labels)
    Reader("table", label="label", classes=("false", "true")).labelled(X, Y == 1)


WRONG = [
    ("epsilon", "1", "R202"),
    ("epsilon", 0, "R201"),
    ("epsilon", float("nan"), "R201"),
    ("epsilon", True, "R202"),
    ("delta", None, "R102"),
    ("delta", 2.0, "R201"),
    ("noise_multiplier", 1.0, "R103"),
    ("non_private", "yes", "R104"),
    ("steps", 1.5, "R202"),
    ("steps", -1, "R201"),
    ("steps", 2**80, "R201"),
    ("epochs", 3, "R103"),
    ("batch_size", True, "R202"),
    ("batch_size", 0, "R201"),
    ("batch_size", [3], "R202"),
    ("clip", 0, "R201"),
    ("clip", float("inf"), "R201"),
    ("clipping", "round", "R203"),
    ("clipping", 3, "R104"),
    ("optimizer", "sdg", "R203"),
    ("learning_rate", -1, "R201"),
    ("learning_rate", "fast", "R202"),
    ("momentum", 2, "R201"),
    ("weight_decay", -1, "R201"),
    ("schedule", "never", "R203"),
    ("warmup", -1, "R201"),
    ("average", 2, "R201"),
    ("dataset_size", 0, "R201"),
    ("neighboring", "next-door", "R203"),
    ("examples_per_user", 3, "R103"),
    ("freeze", "tail", "R203"),
    ("freeze", 3.5, "R104"),
    ("threads", 0, "R201"),
    ("device", "tpu", "R203"),
    ("device", None, "R203"),
    ("device", 3, "R203"),
    ("chunk", 0, "R201"),
    ("chunk", 1.5, "R202"),
    ("chunk", 2**80, "R201"),
    ("out", 3, "R104"),
    ("out", "", "R104"),
    ("out", "/proc/nowhere", "R303"),
    ("checkpoint_every", "sometimes", "R201"),
    ("checkpoint_every", 0, "R201"),
    ("budget", 3, "R104"),
    ("callbacks", 3, "R104"),
    ("callbacks", [print, 3], "R104"),
    ("progress", "yes", "R104"),
    ("classes", None, "R102"),
    ("classes", "all", "R104"),
    ("classes", [0, 0], "R205"),
    ("classes", [0], "R205"),
    ("classes", [0, None], "R205"),
    ("classes", 1, "R201"),
    ("bounds", None, "R102"),
    ("bounds", (1, 0), "R204"),
    ("bounds", (0, float("nan")), "R204"),
    ("bounds", (0, "x"), "R204"),
    ("bounds", "ab", "R204"),
    ("bounds", 5, "R204"),
    ("bounds", [(0, 1)] * 3, "R204"),
    ("bounds", {"a": (0, 1)}, "R204"),
    ("label", "kind", "R103"),
    ("shift", 0.5, "R103"),
    ("shift", [[1], [1, 2]], "R309"),
    ("scale", 0, "R201"),
    ("channels", "first", "R103"),
    ("length", 4, "R103"),
    ("validation", 3, "R104"),
    ("validation", X[:5], "R102"),
    ("validation", (X[:5], Y[:4]), "R307"),
    ("validation", (X[:0], Y[:0]), "R308"),
    ("lerning_rate", 3, "R101"),
]


@pytest.mark.parametrize(("name", "value", "code"), WRONG)
def test_wrong_arguments_are_named(name, value, code):
    terms = {"epsilon": 1.0, "delta": 1e-5, "dataset_size": 60, "batch_size": 30, "steps": 2}
    refused(lambda: train.fit(TWO, X, Y, **{**ARRAY, **terms, name: value}), errors.ReticentError, name, code)


def test_other_wrong_arguments():
    refused(lambda: train.fit("mpl", X, Y, **ARRAY, **NOISY), errors.InvalidValueError, "network")
    refused(
        lambda: train.fit(TWO, X, Y, target_bounds=(0, 1), **ARRAY, **NOISY), errors.RequestError, "classes"
    )
    refused(lambda: train.fit(TWO, TEXTS, KINDS, **ARRAY, **NOISY), errors.RequestError, "bounds")
    for words in (3, ["a", 3], ["a\nb"], ["a", "a"], [], ["\ud800"], "/no/such/file"):
        own = {**WORDS, "vocabulary": words}
        refused(
            lambda own=own: train.fit("logistic", TEXTS, KINDS, **own, **NOISY),
            errors.ReticentError,
            "vocabulary",
        )
    for name in ("bounds", "classes", "freeze"):
        own = {**ARRAY, name: np.array(3)}
        refused(lambda own=own: train.fit(TWO, X, Y, **own, **NOISY), errors.ReticentError, name)
    for name in ("label", "text_column", "validation"):
        own = {**WORDS, name: "\ud800"}
        made = lambda own=own: train.fit("logistic", TEXTS, KINDS, **own, **NOISY)
        refused(made, errors.ReticentError, name)
    refused(lambda: Residual(3), errors.RequestError, "layers")
    refused(lambda: Network(TWO, input=print), errors.InvalidValueError, "input")
    with pytest.raises(errors.RequestError, match="column"):
        train.fit(TWO, {"a": 1}, Y, bounds=(0, 1), classes=2, **NOISY)
    refused(lambda: train.fit("logistic", [*TEXTS[1:], None], KINDS, **WORDS, **NOISY), errors.DataError, "X")
    refused(
        lambda: train.fit("logistic", [*TEXTS[1:], "\ud800"], KINDS, **WORDS, **NOISY), errors.DataError, "X"
    )
    refused(lambda: train.fit("logistic", X, KINDS, **WORDS, **NOISY), errors.DataError, "X")
    refused(
        lambda: train.fit("logistic", IMAGES, Y, classes=300, **NOISY), errors.InvalidValueError, "classes"
    )
    refused(
        lambda: train.fit("logistic", IMAGES, Y, classes=2, shift=[1, 2], **NOISY),
        errors.InvalidValueError,
        "shift",
    )
    refused(lambda: train.fit("cnn-mnist", IMAGES, Y, classes=2, **NOISY), errors.DataError, "network")
    with tempfile.TemporaryDirectory() as folder:
        refused(lambda: train.fit("mlp", folder, Y, **NOISY), errors.RequestError, "y")
        with pytest.raises(errors.DataError, match="no images"):
            train.fit("mlp", folder, **NOISY)


def test_random_arguments_never_crash():
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    odd = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.binary(max_size=4),
        st.lists(st.one_of(st.integers(), st.text(max_size=3), st.floats()), max_size=4),
        st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
        st.sampled_from(
            [
                object(),
                X,
                X.astype(str),
                IMAGES,
                TEXTS,
                np.array(3),
                np.array(["a", None], dtype=object),
                print,
            ]
        ),
    )
    left_out = {"self", "X", "y", "out", "threads", "progress", "callbacks"}
    names = sorted(set(inspect.signature(Network.fit).parameters) - left_out)

    @hypothesis.settings(max_examples=200, deadline=None, database=None)
    @hypothesis.given(st.sampled_from(["X", "y", *names]), odd, st.sampled_from([X, IMAGES, TEXTS]))
    def check(name, value, data):
        own = {"bounds": (0, 1), "classes": [0, 1]} if data is X else {"classes": [0, 1]}
        own |= {"vocabulary": ["see"]} if data is TEXTS else {}
        # An ε without its δ: what is right is refused as well, before anything is trained.
        given = {"X": data, "y": Y, **own, "epsilon": 1.0, name: value}
        features, labels = given.pop("X"), given.pop("y")
        try:
            train.fit("logistic", features, labels, **given, **({} if name == "steps" else {"steps": 1}))
        except errors.ReticentError as error:
            assert "panic" not in str(error) and error.code != "R901", error
        else:
            assert name in ("delta", "epsilon", "noise_multiplier", "non_private")

    check()
