"""Schemas of linear models: labels, mappings of columns, and weights of categories."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from estimators import SCHEMA, blobs, logistic, pd, people

from reticent.errors import DataError, ReticentError
from reticent.models import LinearSVC, LogisticRegression, Ridge, SoftmaxRegression
from reticent.preprocessing import SchemaEncoder

MAPPING = {"age": (17, 90), "job": ["clerk", "cook", 7], "hours": (0.0, 100.0)}


def incomes() -> tuple[Any, Any]:
    frame = people()
    return frame, np.where(frame["age"] > 50, ">50K", "<=50K")


def positive(text: str = SCHEMA) -> str:
    return text.replace("[columns]", '[label]\ncolumn = "income"\npositive = ">50K"\n[columns]')


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, SoftmaxRegression])
def test_labels_beside_a_positive_value(kind: Any, tmp_path: Any) -> None:
    frame, y = incomes()
    model = kind(epsilon=50.0, delta=1e-6, schema=positive(), classes=(">50K", "<=50K")).fit(frame, y)
    assert model.classes_.tolist() == ["<=50K", ">50K"] and model.score(frame, y) > 0.85
    model.save(tmp_path / "model")
    again = kind.load(tmp_path / "model")
    assert (again.predict(frame) == model.predict(frame)).all()
    for classes, field in ((None, "classes"), ((0, 1), "classes"), ((">50K", "other"), "y")):
        with pytest.raises(ReticentError) as caught:
            kind(delta=1e-6, schema=positive(), classes=classes).fit(frame, y)
        assert caught.value.field == field and "<=50K" not in str(caught.value)
        assert caught.value.value != "<=50K"


def test_a_mapping_is_a_schema() -> None:
    frame, y = incomes()
    features = SchemaEncoder(schema=MAPPING).fit_transform(frame)
    assert (features == SchemaEncoder(schema=SCHEMA).fit_transform(frame)).all()
    exact: dict[str, Any] = {"epsilon": None, "method": "exact", "classes": ("<=50K", ">50K")}
    with pytest.warns(UserWarning):
        models = [LogisticRegression(schema=own, **exact).fit(frame, y) for own in (MAPPING, SCHEMA)]
    assert (models[0].encoded_coef_ == models[1].encoded_coef_).all()
    jobs = np.array(["clerk", "cook", "7"])
    arrays = {"age": (np.int64(17), np.float64(90)), "job": jobs, "hours": (0, 100)}
    assert (SchemaEncoder(schema=arrays).transform(frame) == features).all()
    assert SchemaEncoder(schema={"x0": [17, 90]}).get_feature_names_out().tolist()[:2] == ["x0=17", "x0=90"]


@pytest.mark.parametrize(
    "kind",
    [
        *[(17,), (90, 17), ("a", "b"), (True, False), (0, np.inf), (0, 10**400), (), (0, 1, 2)],
        *[[], [1.5], ["a", "a"], [None], [""], "a", None, {"a", "b"}, {"bounds": (0, 1)}],
    ],
)
def test_mappings_that_are_not_schemas(kind: Any) -> None:
    with pytest.raises(ReticentError) as caught:
        SchemaEncoder(schema={"age": kind}).transform(people())
    assert caught.value.field == "schema" and "age" in str(caught.value)
    with pytest.raises(ReticentError):
        SchemaEncoder(schema={}).transform(people())


def test_weights_of_categories_are_found_under_another_name() -> None:
    frame, y = incomes()
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=("<=50K", ">50K")).fit(frame, y)
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match="categorical.*encoded_coef_.*encoded_feature_names_"):
            getattr(model, name)
        with pytest.raises(AttributeError, match="fit"):
            getattr(LogisticRegression(), name)
    some = LogisticRegression(schema={"age": (17, 90)}, classes=("<=50K", ">50K")).fit(frame, y)
    with pytest.raises(AttributeError, match="columns of X"):
        _ = some.coef_
    X, labels = blobs()
    fitted = logistic().fit(X, labels)
    assert (pickle.loads(pickle.dumps(fitted)).coef_ == fitted.coef_).all()


@pytest.mark.parametrize("dtype", ["category", "object", "string"])
@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_texts_have_no_bounds(dtype: str, package: str) -> None:
    data = pd.DataFrame({"age": [1.0, 2.0] * 20, "sex": pd.Series(["secret", "b"] * 20, dtype=dtype)})
    if package == "polars":
        data = pytest.importorskip("polars").from_pandas(data)
    for model in (logistic(), Ridge(bounds=(0, 1), target_bounds=(0, 1))):
        with pytest.raises(DataError) as caught:
            model.fit(data, [0, 1] * 20)
        assert "column 'sex' is not numeric" in str(caught.value) and "schema=" in caught.value.remedy
        assert caught.value.field == "X" and "secret" not in str(caught.value)


def test_errors_hold_no_values_of_the_data() -> None:
    X, y = blobs(40)
    secret = X.astype(object)
    secret[3, 1] = "secret"
    for data, target in ((secret, y), (X[:, 0] + 0.123456, y), (X, np.where(y == 1, 1, 77777))):
        with pytest.raises(DataError) as caught:
            logistic().fit(data, target)
        shown = f"{caught.value} {caught.value.value}"
        assert "secret" not in shown and "77777" not in shown and "array=" not in shown
        assert "\n" not in str(caught.value) and caught.value.__cause__ is None
