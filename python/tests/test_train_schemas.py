"""Schemas of networks whose labels are given beside the features."""

from __future__ import annotations

import numpy as np
import pytest
from networks import PLAIN, TEXTS, TWO, KINDS, X, Y, refused

from reticent import errors, train

COLUMNS = {"a": X[:, 0], "b": X[:, 1]}
INCOME = np.where(Y == 1, ">50K", "<=50K")
FEATURES = "[columns]\na = { bounds = [0, 1] }\nb = { bounds = [0, 1] }\n"


def schema(label: str = "", unit: str = 'unit = "row"') -> str:
    own = f'[label]\ncolumn = "income"\n{label}\n' if label else ""
    return f"{unit}\n{own}{FEATURES}"


POSITIVE = schema('positive = ">50K"')
CATEGORIES = schema('categories = ["<=50K", ">50K"]')


def fit(y=None, own=POSITIVE, data=COLUMNS, **settings):
    return train.fit(TWO, data, y, schema=own, **PLAIN, **settings)


def test_labels_beside_a_positive_value_need_both_classes():
    error = refused(lambda: fit(Y), errors.RequestError, "classes", "R102")
    assert ">50K" in error.remedy
    refused(lambda: fit(INCOME), errors.RequestError, "classes", "R102")
    made = fit(INCOME, classes=[">50K", "<=50K"])
    assert made.classes.tolist() == ["<=50K", ">50K"]
    assert set(made.predict(COLUMNS)) <= {"<=50K", ">50K"}
    assert made.evaluate(COLUMNS, INCOME).rows == 60
    refused(lambda: made.evaluate(COLUMNS, Y), errors.DataError, "y", "R307")
    public = fit(INCOME, classes="public", validation=(COLUMNS, INCOME))
    assert public.classes.tolist() == ["<=50K", ">50K"]
    refused(lambda: fit(INCOME, classes=[0, 1]), errors.RequestError, "classes", "R103")
    refused(lambda: fit(INCOME, classes=["<=50K", "?", ">50K"]), errors.RequestError, "classes", "R103")
    refused(lambda: fit(INCOME, target_bounds=(0, 1)), errors.RequestError, "target_bounds", "R103")


@pytest.mark.parametrize("own", [POSITIVE, CATEGORIES, schema()])
def test_labels_that_are_not_declared_are_refused_without_their_value(own):
    for y in (Y, np.where(Y == 1, ">50K", "secret"), np.where(Y == 1, ">50K", "")):
        error = refused(lambda y=y: fit(y, own, classes=["<=50K", ">50K"]), errors.DataError, "y", "R307")
        assert "secret" not in f"{error} {error.value} {error.remedy}" and error.value is None
        assert "not one of the declared classes" in str(error)
    images = np.zeros((4, 3, 3), dtype=np.uint8)
    error = refused(
        lambda: train.fit(TWO, images, [0, 1, 77, 1], classes=2, **PLAIN), errors.DataError, "y", "R307"
    )
    assert "77" not in str(error) and error.value is None


def test_labels_inside_a_table_are_read_by_the_schema():
    table = {**COLUMNS, "income": INCOME.tolist()}
    assert fit(None, data=table).classes.tolist() == ["not >50K", ">50K"]
    refused(lambda: fit(None, data=table, classes=["<=50K", ">50K"]), errors.RequestError, "classes", "R103")
    assert fit(None, CATEGORIES, data=table).classes.tolist() == ["<=50K", ">50K"]
    made = fit(None, schema(), data=table, label="income", classes=["<=50K", ">50K"])
    assert made.evaluate(table).rows == 60


def test_classes_beside_categories():
    for classes in (None, ["<=50K", ">50K"], [">50K", "<=50K"]):
        assert fit(INCOME, CATEGORIES, classes=classes).classes.tolist() == ["<=50K", ">50K"]
    refused(lambda: fit(INCOME, CATEGORIES, classes=["a", ">50K"]), errors.RequestError, "classes", "R103")
    refused(lambda: fit(Y, CATEGORIES), errors.DataError, "y", "R307")


def test_a_schema_without_a_label():
    made = fit(INCOME, schema(), classes=["<=50K", ">50K"])
    assert 'column = "label"' in (made.folder / "schema.toml").read_text()
    assert set(made.predict(COLUMNS)) <= {"<=50K", ">50K"}
    named = fit(INCOME, schema(), classes=["<=50K", ">50K"], label="said")
    assert 'column = "said"' in (named.folder / "schema.toml").read_text()
    taken = fit(INCOME, schema(), data={**COLUMNS, "label": Y}, classes=["<=50K", ">50K"])
    assert 'column = "label_"' in (taken.folder / "schema.toml").read_text()
    assert taken.evaluate(COLUMNS, INCOME).rows == 60
    refused(lambda: fit(INCOME, schema()), errors.RequestError, "classes", "R102")
    refused(lambda: fit(INCOME, schema(), label="a", classes=2), errors.RequestError, "label", "R103")
    number = train.fit("logistic", COLUMNS, X[:, 0], schema=schema(), target_bounds=(0, 1), **PLAIN)
    assert number.classes is None and number.predict(COLUMNS).dtype == np.float64
    bounds = schema("bounds = [0, 1]")
    for target in (None, (0, 1)):
        made = train.fit("logistic", COLUMNS, X[:, 0], schema=bounds, target_bounds=target, **PLAIN)
        assert made.classes is None
    refused(lambda: fit(X[:, 0], bounds, target_bounds=(0, 2)), errors.RequestError, "target_bounds", "R103")
    refused(lambda: fit(X[:, 0], bounds, classes=2), errors.RequestError, "classes", "R103")


def test_the_unit_stays_when_the_label_is_written():
    own = schema('positive = ">50K"', 'unit = { column = "who" }')
    who = {**COLUMNS, "who": [f"u{place // 2}" for place in range(60)]}
    made = fit(INCOME, own, who, classes=["<=50K", ">50K"], examples_per_user=2)
    assert "who" in (made.folder / "schema.toml").read_text()


def test_mappings_arrays_and_texts():
    mapping = {"a": (0, 1), "b": [0, 1]}
    data = {"a": X[:, 0], "b": Y}
    made = fit(INCOME, mapping, data, classes=["<=50K", ">50K"])
    text = (made.folder / "schema.toml").read_text()
    assert "a = { bounds = [0, 1] }" in text and 'b = { categories = ["0", "1"] }' in text
    array = fit(Y, {"x0": (0, 1), "x1": (0, 1)}, X, classes=2)
    assert array.predict(X).shape == (60,)
    refused(lambda: array.predict(X[:, :1]), errors.ModelError, "X")
    refused(lambda: fit(Y, {"x0": (0, 1)}, X, classes=2), errors.RequestError, "schema", "R103")
    refused(lambda: fit(Y, {"x0": (0, 1)}, X, classes=2, bounds=(0, 1)), errors.RequestError, "bounds")
    terms = {"vocabulary": ["see", "win"], "text_column": "words", "classes": ["ham", "spam"]}
    frame = {"words": TEXTS, "a": X[:, 0]}
    joined = train.fit("transformer-text", frame, KINDS, schema={"a": (0, 1)}, length=4, **terms, **PLAIN)
    assert set(joined.predict(frame)) <= {"ham", "spam"}


@pytest.mark.parametrize("dtype", ["category", "object"])
def test_columns_of_texts_have_no_bounds(dtype):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "sex": pd.Series(["secret", "Female"] * 30, dtype=dtype)})
    error = refused(
        lambda: train.fit(TWO, frame, Y, bounds=(0, 1), classes=2, **PLAIN), errors.DataError, "X", "R309"
    )
    assert "'sex'" in str(error) and "schema=" in error.remedy and "secret" not in str(error)
