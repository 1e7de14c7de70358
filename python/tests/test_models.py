"""Estimators: predictions, guarantees, tools of scikit-learn, stored models."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estimators import SCHEMA, blobs, logistic, people, three

import joblib
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score as sklearn_cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

import reticent
from reticent import _native, _schemas, models
from reticent._core import request
from reticent.errors import (
    BudgetError,
    DataError,
    InvalidValueError,
    ModelError,
    PrivacyError,
    ReticentError,
    RequestError,
)
from reticent.models import LinearSVC, LogisticRegression, Ridge, SoftmaxRegression, track_spending
from reticent.preprocessing import SchemaEncoder, make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")


# What is predicted.


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC])
def test_two_classes_are_told_apart(kind: Any) -> None:
    X, y = blobs()
    model = kind(epsilon=50.0, bounds=(-1, 1), classes=(0, 1)).fit(X, y)
    assert model.score(X, y) > 0.9
    margins = model.decision_function(X)
    assert margins.shape == (len(X),)
    assert ((margins >= 0) == (model.predict(X) == 1)).all()
    assert hasattr(model, "predict_proba") == (kind is LogisticRegression)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(epsilon=50.0, bounds=(-1, 1), classes=(0, 1, 2)),
        LogisticRegression(epsilon=50.0, delta=1e-6, method="gradient", bounds=(-1, 1), classes=(0, 1, 2)),
        SoftmaxRegression(epsilon=50.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1, 2)),
        SoftmaxRegression(epsilon=50.0, delta=1e-6, method="sgd", bounds=(-1, 1), classes=(0, 1, 2)),
        LinearSVC(epsilon=50.0, bounds=(-1, 1), classes=(0, 1, 2)),
    ],
)
def test_three_classes_are_told_apart(model: Any) -> None:
    X, y = three()
    model.fit(X, y)
    assert model.score(X, y) > 0.85
    margins = model.decision_function(X)
    assert margins.shape == (len(X), 3)
    assert (model.classes_[margins.argmax(axis=1)] == model.predict(X)).all()
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all()
        assert (shares.argmax(axis=1) == margins.argmax(axis=1)).all()
        assert np.allclose(np.exp(model.predict_log_proba(X)), shares)


def test_a_softmax_of_two_classes_is_one_margin() -> None:
    X, y = blobs()
    model = SoftmaxRegression(epsilon=50.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1)).fit(X, y)
    margins = model.decision_function(X)
    assert margins.shape == (len(X),) and model.score(X, y) > 0.9
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-margins)))
    assert np.allclose((X @ model.coef_.T + model.intercept_)[:, 0], margins)


def test_numbers_are_predicted_in_their_own_unit() -> None:
    X, _ = blobs()
    y = 200 + 30 * X[:, 0] - 10 * X[:, 2]
    model = Ridge(epsilon=50.0, bounds=(-1, 1), target_bounds=(150, 250)).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.coef_[0] - 30) < 10 and abs(model.intercept_ - 200) < 10
    assert ((model.predict(100 * X) >= 150) & (model.predict(100 * X) <= 250)).all()


def test_predictions_are_those_of_the_native_module() -> None:
    X, y = three()
    words = np.array(["ant", "bee", "cat"])[y]
    model = LogisticRegression(epsilon=50.0, bounds=(-1, 1), classes=("cat", "ant", "bee")).fit(X, words)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    table = _native.Table.from_columns("X", [("x0", X[:, 0].copy()), ("x1", X[:, 1].copy())])
    with model._stored.folder() as folder:
        labels, classes, _, _ = _native.predict(request({"model": folder, "data": ""}), data=table)
    assert model.predict(X).tolist() == labels and classes == ["ant", "bee", "cat"]
    assert model.score(X, words) > 0.85


def test_rows_are_predicted_one_by_one() -> None:
    X, y = blobs(200)
    model = logistic().fit(X, y)
    whole = model.decision_function(X)
    order = np.random.default_rng(1).permutation(len(X))
    assert (model.decision_function(X[order]) == whole[order]).all()
    assert (model.decision_function(X[:1]) == whole[:1]).all()


def test_values_outside_the_bounds_are_clipped() -> None:
    X, y = blobs()
    model = logistic().fit(3 * X, y)
    assert (model.decision_function(3 * X) == model.decision_function(np.clip(3 * X, -1, 1))).all()


@pytest.mark.parametrize("labels", [(False, True), ("a", "b"), (-1, 1), (0.0, 1.0), (0.25, 0.5)])
def test_classes_keep_their_type(labels: tuple[Any, Any]) -> None:
    X, y = blobs(400)
    target = np.asarray(labels)[y]
    if labels == (0.25, 0.5):
        with pytest.raises(DataError, match="Unknown label type"):
            logistic(classes=labels).fit(X, target)
        return
    model = logistic(classes=labels).fit(X, target)
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, target) > 0.85
    assert model.classes_.tolist() == list(labels)


def test_declared_classes_need_not_be_present() -> None:
    X, y = blobs(400)
    model = logistic(classes=(0, 1, 2)).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    one = logistic().fit(X, np.ones(400, dtype=int))
    assert (one.predict(X) == 1).mean() > 0.9


# Weights.


@pytest.mark.parametrize("bounds", [(-2, 3), [(-2, 3), (-1, 5), (-7, 1)]])
def test_coefficients_give_the_decision_function(bounds: Any) -> None:
    X, y = blobs(600)
    model = logistic(bounds=bounds).fit(X, y)
    assert model.coef_.shape == (1, 3) and model.intercept_.shape == (1,)
    assert np.allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X)[:, None], atol=1e-9)
    several = LinearSVC(epsilon=50.0, bounds=(-2, 3), classes=(0, 1, 2)).fit(*three(600))
    points = three(600)[0]
    assert several.coef_.shape == (3, 2)
    assert np.allclose(points @ several.coef_.T + several.intercept_, several.decision_function(points))
    number = Ridge(epsilon=50.0, bounds=bounds, target_bounds=(-9, 9)).fit(X, X[:, 0])
    expected = np.clip(X @ number.coef_ + number.intercept_, -9, 9)
    assert np.allclose(expected, number.predict(X))


def test_encoded_weights_go_with_the_encoder() -> None:
    frame = people()
    y = (frame["age"] > 50).astype(int)
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=(0, 1)).fit(frame, y)
    encoder = SchemaEncoder(schema=SCHEMA)
    features = encoder.fit_transform(frame)
    assert model.encoded_feature_names_.tolist() == encoder.get_feature_names_out().tolist()
    margins = features @ model.encoded_coef_[0] + model.encoded_intercept_[0]
    assert np.allclose(margins, model.decision_function(frame), atol=1e-9)
    assert not hasattr(model, "coef_")


def test_without_an_intercept() -> None:
    X, y = blobs(600)
    model = logistic(fit_intercept=False).fit(X, y)
    assert model.encoded_intercept_.tolist() == [0.0]


# Guarantees.


def test_a_certificate_says_what_a_fit_cost() -> None:
    X, y = blobs(600)
    model = logistic(epsilon=0.7).fit(X, y)
    assert (model.epsilon_, model.delta_) == (0.7, 0.0)
    assert model.certificate_ is not None and model.certificate_.verify()
    assert "schema" in model.certificate_.public and model.certificate_.neighboring == "add-remove"
    other = logistic(epsilon=0.7, delta=1e-6, method="gradient", neighboring="replace-one").fit(X, y)
    assert other.certificate_ is not None and other.certificate_.verify()
    assert other.epsilon_ is not None and other.epsilon_ <= 0.7 and other.delta_ == 1e-6
    assert other.method_ == "gradient" and other.dataset_size_ == 600


def test_exact_fits_have_no_certificate_and_say_so() -> None:
    X, y = blobs(600)
    with pytest.warns(reticent.PrivacyWarning, match="not private"):
        model = logistic(epsilon=None, method="exact").fit(X, y)
    assert model.certificate_ is None and model.epsilon_ is None
    with pytest.raises(RequestError) as caught:
        logistic(method="exact").fit(X, y)
    assert caught.value.field == "epsilon"


def test_a_budget_is_charged_and_refuses() -> None:
    X, y = blobs(600)
    budget = reticent.Budget(epsilon=2.0)
    model = logistic(epsilon=1.5).fit(X, y, budget=budget)
    assert budget.left == 0.5
    with track_spending() as spending, pytest.raises(BudgetError):
        logistic(epsilon=1.0).fit(X, y, budget=budget)
    assert spending.fits == 0 and budget.left == 0.5
    assert model.predict(X).shape == (600,)
    with pytest.raises(BudgetError):
        models.cross_val_score(logistic(epsilon=0.2), X, y, cv=3, params={"budget": budget})
    with pytest.raises(TypeError, match="budget"):
        logistic().fit(X, y, budget=3.0)  # type: ignore[arg-type]
    # A budget takes nothing without privacy.
    with pytest.raises(ReticentError):
        logistic(epsilon=None, method="exact").fit(X, y, budget=reticent.Budget(epsilon=50.0))


def test_a_learnt_schema_is_paid_for_and_a_draft_is_told() -> None:
    frame = people()[["age", "hours"]]
    y = (frame["age"] > 50).astype(int)
    spent = """
[spent]
epsilon = 0.25
delta = 0
neighboring = "add-remove"
events = '[{"pure":{"epsilon":0.25}}]'
"""
    text = 'unit = "row"\n[columns]\nage = { bounds = [17, 90] }\n'
    model = LogisticRegression(epsilon=1.0, schema=text + spent, classes=(0, 1)).fit(frame, y)
    assert model.epsilon_ == 1.25
    with pytest.warns(reticent.PrivacyWarning, match="draft"):
        LogisticRegression(schema="draft = true\n" + text, classes=(0, 1)).fit(frame, y)

    class Learnt:
        toml = text

    assert LogisticRegression(schema=Learnt(), classes=(0, 1)).fit(frame, y).epsilon_ == 1.0


def test_a_unit_column_protects_users() -> None:
    frame = people()
    frame["user"] = np.arange(len(frame)) // 4
    y = (frame["age"] > 50).astype(int)
    text = SCHEMA.replace('"row"', '{ column = "user" }', 1)
    model = LogisticRegression(schema=text, classes=(0, 1)).fit(frame, y)
    assert model.certificate_ is not None and model.certificate_.unit == "all rows of one user"
    assert model.predict(frame.drop(columns="user")).shape == (len(frame),)
    with pytest.raises(DataError, match="user"):
        LogisticRegression(schema=text, classes=(0, 1)).fit(frame.drop(columns="user"), y)


def test_nothing_private_is_kept_of_the_rows() -> None:
    X, y = blobs(600)
    model = logistic().fit(X, y)
    names = {"certificate.json", "ledger.json", "model.json", "run.json", "schema.toml"}
    assert set(model._stored.files) == {*names, "weights.safetensors"}
    assert b"fingerprint" not in pickle.dumps(model)


# Tools of scikit-learn.


def test_estimators_are_cloned_and_their_parameters_set() -> None:
    model = logistic(epsilon=0.3)
    copied = clone(model).set_params(epsilon=2.0)
    assert (model.epsilon, copied.epsilon) == (0.3, 2.0)
    assert "epsilon=0.3" in repr(model)
    with pytest.raises(NotFittedError):
        copied.predict(blobs()[0])
    with pytest.raises(NotFittedError):
        copied.save("anywhere")


def test_pipelines_pass_arrays_and_budgets() -> None:
    frame = people()
    y = (frame["age"] > 50).astype(int)
    budget = reticent.Budget(epsilon=60.0)
    steps = Pipeline([("encode", SchemaEncoder(schema=SCHEMA)), ("fit", logistic(bounds=(0, 1)))])
    steps.fit(frame, y, fit__budget=budget)
    assert steps.score(frame, y) > 0.85
    assert abs(budget.left - 10.0) < 1e-9
    assert steps[:-1].get_feature_names_out().tolist() == _schemas.PublicSchema(SCHEMA).feature_names


def test_pipelines_that_learn_from_the_rows_are_refused() -> None:
    for step in (StandardScaler(), MinMaxScaler()):
        with pytest.raises(PrivacyError) as caught:
            make_pipeline(step, logistic())
        assert caught.value.field == "steps" and caught.value.value == type(step).__name__
    X, y = blobs()
    fine = make_pipeline(FunctionTransformer(np.tanh), "passthrough", Normalizer(), logistic())
    assert fine.fit(X, y).score(X, y) > 0.85


def test_spending_is_added_up() -> None:
    X, y = blobs(600)
    with track_spending() as spending:
        scores = sklearn_cross_val_score(logistic(epsilon=0.5), X, y, cv=4)
    assert len(scores) == 4 and spending.fits == 4
    assert 2.0 <= spending.epsilon() < 2.0 + 1e-9 and spending.delta == 0.0
    assert spending.epsilon(delta=1e-6) <= 2.0 + 1e-9
    assert repr(spending) == "Spending: 4 fits, together ε ≤ 2, δ ≤ 0"
    with track_spending() as outer, track_spending() as inner:
        logistic(epsilon=0.5).fit(X, y)
    assert (outer.fits, inner.fits, spending.fits) == (1, 1, 4)
    with track_spending() as spending:
        logistic(epsilon=None, method="exact").fit(X, y)
    assert spending.epsilon() == np.inf and "without privacy" in repr(spending)
    with track_spending() as spending:
        logistic(epsilon=0.5).fit(X, y)
        logistic(epsilon=0.5, neighboring="replace-one").fit(X, y)
    with pytest.raises(RequestError):
        spending.epsilon()
    with pytest.raises(InvalidValueError):
        spending.epsilon(delta=float("nan"))


def test_spending_with_a_delta_is_no_more_than_the_sum() -> None:
    X, y = blobs(600)
    with track_spending() as spending:
        for _ in range(3):
            logistic(epsilon=0.5, delta=1e-6, method="gradient", dataset_size=600).fit(X, y)
    assert 3e-6 * (1 - 1e-12) <= spending.delta <= 3e-6 * (1 + 1e-12)
    together = spending.epsilon()
    assert 0.5 < together <= 1.5 + 1e-6
    assert together <= spending.epsilon(delta=1e-7)


def test_grid_searches_and_jobs_are_counted() -> None:
    X, y = blobs(600)
    grid = {"regularization": [1e-3, 1e-2]}
    with track_spending() as spending:
        search = GridSearchCV(logistic(epsilon=0.25), grid, cv=2, n_jobs=2).fit(X, y)
    assert spending.fits == 5
    assert 1.25 <= spending.epsilon() < 1.25 + 1e-9
    assert search.best_estimator_.epsilon_ == 0.25


def test_cross_validation_says_what_it_cost() -> None:
    X, y = blobs(600)
    result = models.cross_val_score(logistic(epsilon=0.5), X, y, cv=3, n_jobs=2)
    assert len(result.scores) == 3 and result.fits == 3
    assert 1.5 <= result.epsilon < 1.5 + 1e-9 and result.delta == 0.0
    assert "exact: not covered" in repr(result) and "<table>" in result._repr_html_()
    assert json.dumps(result.to_dict())
    frame = people()
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=(0, 1))
    by_name = models.cross_val_score(model, frame, (frame["age"] > 50).astype(int), cv=2, scoring="roc_auc")
    assert min(by_name.scores) > 0.9


def test_the_score_of_ranks_has_the_right_sign() -> None:
    X, y = blobs()
    words = np.array(["no", "yes"])[y]
    text = 'unit = "row"\n[label]\ncolumn = "said"\npositive = "no"\n[columns]\nx0 = { bounds = [-1, 1] }\n'
    model = LogisticRegression(epsilon=50.0, schema=text, classes=("no", "yes"))
    assert min(sklearn_cross_val_score(model, X, words, cv=2, scoring="roc_auc")) > 0.8
    model.fit(X, words)
    assert model.score(X, words) > 0.75
    assert ((model.decision_function(X) > 0) == (model.predict(X) == "yes")).all()
    assert (model.predict_proba(X).argmax(axis=1) == (model.predict(X) == "yes")).all()
    margins = SchemaEncoder(schema=text).transform(X) @ model.encoded_coef_.T + model.encoded_intercept_
    assert np.allclose(margins[:, 0], model.decision_function(X))


# Where models are kept.


@pytest.mark.parametrize(
    "model",
    [
        logistic(),
        Ridge(epsilon=50.0, bounds=(-1, 1), target_bounds=(-1, 2)),
        logistic(classes=(0, 1, 2)),
        SoftmaxRegression(epsilon=50.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1)),
    ],
)
def test_models_survive_pickling_saving_and_copying(model: Any, tmp_path: Path) -> None:
    X, y = blobs(600)
    model = clone(model).fit(X, y)
    expected = model.predict(X)
    model.save(tmp_path / "kept")
    loaded = type(model).load(tmp_path / "kept")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model), loaded):
        assert (other.predict(X) == expected).all()
        assert other.certificate_ == model.certificate_
        assert np.array_equal(other.coef_, model.coef_)
        assert other.n_features_in_ == 3 and not hasattr(other, "feature_names_in_")
        with pytest.raises(DataError, match="NaN"):
            other.predict(np.full((1, 3), np.nan))
        with pytest.raises(DataError, match="features"):
            other.predict(X[:, :2])
    assert (clone(loaded).fit(X, y).predict(X) == y).mean() > 0.8 or isinstance(model, Ridge)
    with pytest.raises(DataError) as caught:
        model.save(tmp_path / "kept")
    assert caught.value.field == "path" and caught.value.code == "R304"


def test_folders_are_those_of_the_command(tmp_path: Path) -> None:
    frame = people()
    target = np.where(frame["age"] > 50, "old", "young")
    model = LogisticRegression(epsilon=50.0, schema=SCHEMA, classes=("old", "young")).fit(frame, target)
    model.save(tmp_path / "kept")
    table = tmp_path / "people.csv"
    frame.drop(columns="note").to_csv(table, index=False)
    asked = request({"model": tmp_path / "kept", "data": table})
    labels, _, scores, _ = _native.predict(asked)
    assert np.allclose(scores, model.decision_function(frame))
    assert [label == "young" for label in labels] == (model.predict(frame) == "young").tolist()
    # What the command writes has no notes of Python.
    (tmp_path / "kept" / "estimator.json").unlink()
    loaded = LogisticRegression.load(tmp_path / "kept")
    assert loaded.classes_.tolist() == ["not young", "young"]
    assert np.allclose(loaded.decision_function(frame), scores)
    named = LogisticRegression.load(tmp_path / "kept", classes=("old", "young"))
    assert (named.predict(frame) == model.predict(frame)).all()
    with pytest.raises(RequestError):
        LogisticRegression.load(tmp_path / "kept", classes=("a", "b"))
    with pytest.raises(ModelError, match=r"reticent\.models\.LogisticRegression"):
        LinearSVC.load(tmp_path / "kept")


def test_broken_folders_are_refused(tmp_path: Path) -> None:
    X, y = blobs(600)
    model = logistic().fit(X, y)
    with pytest.raises(ModelError):
        LogisticRegression.load(tmp_path / "none")
    model.save(tmp_path / "kept")
    schema = tmp_path / "kept" / "schema.toml"
    schema.write_text(schema.read_text().replace("[-1", "[-9"))
    with pytest.raises(ModelError) as caught:
        LogisticRegression.load(tmp_path / "kept")
    assert caught.value.code == "R502"
    model.save(tmp_path / "other")
    (tmp_path / "other" / "estimator.json").write_text("[")
    with pytest.raises(ModelError, match="estimator"):
        LogisticRegression.load(tmp_path / "other")


def test_folders_are_private_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    X, y = blobs(600)
    model = logistic().fit(X, y)
    model.predict(X)
    with model._stored.folder() as folder:
        assert stat.S_IMODE(Path(folder).parent.stat().st_mode) == 0o700
        assert sorted(os.listdir(folder)) == sorted(model._stored.files)
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(InvalidValueError):
        logistic(epsilon=1e9).fit(X, y)
    with pytest.raises(DataError):
        model.predict(X[:, :2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_predict_and_fit() -> None:
    X, y = blobs(600)
    model = logistic().fit(X, y)
    expected = model.predict(X)

    def child() -> None:
        assert (model.predict(X) == expected).all()
        assert logistic().fit(X, y).epsilon_ == 50.0

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert (model.predict(X) == expected).all()


def _fit(seed: int) -> Any:
    X, y = blobs(600, seed)
    return logistic().fit(X, y)


def test_processes_and_threads() -> None:
    X, _ = blobs(600)
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_fit)(seed) for seed in range(3))
    assert all(model.predict(X).shape == (600,) for model in found)
    answers: list[Any] = []
    model = found[0]
    expected = model.predict(X)

    def work() -> None:
        for seed in range(3):
            answers.append(_fit(seed).epsilon_ == 50.0 and bool((model.predict(X) == expected).all()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 12
