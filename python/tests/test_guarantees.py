"""What results say about their guarantees is what holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from reticent import Certificate, errors, models, train
from reticent.models import LogisticRegression, track_spending
from reticent.train import Linear, Network


def rows(count: int = 400) -> tuple[Any, Any]:
    X = np.random.default_rng(0).uniform(0, 1, size=(count, 2))
    return X, (X[:, 0] > 0.5).astype(int)


def private(**more: Any) -> LogisticRegression:
    return LogisticRegression(**({"epsilon": 0.5, "bounds": (0, 1), "classes": (0, 1)} | more))


@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_classes_that_are_read_off_the_data_are_a_public_fact() -> None:
    X, y = rows()
    fact = "the set of labels, as found in the data"
    assert fact in private(classes="public").fit(X, y).certificate_.public
    assert fact not in private().fit(X, y).certificate_.public
    settings: dict[str, Any] = {"bounds": (0, 1), "epsilon": 2, "delta": 1e-5, "steps": 2, "batch_size": 50}
    for classes, is_there in (("public", True), ((0, 1), False)):
        fitted = train.fit(Network([Linear(out=2)]), X, y, classes=classes, **settings)
        assert fitted.certificate is not None
        assert (fact in fitted.certificate.public) == is_there


@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_networks_are_part_of_what_was_spent() -> None:
    X, y = rows()
    settings: dict[str, Any] = {"bounds": (0, 1), "classes": (0, 1), "steps": 2, "batch_size": 50}
    with track_spending() as spending:
        train.fit(Network([Linear(out=2)]), X, y, epsilon=2, delta=1e-5, **settings)
    assert spending.fits == 1 and 1.9 < spending.epsilon() <= 2.0
    with track_spending() as spending:
        train.fit(Network([Linear(out=2)]), X, y, non_private=True, **settings)
    assert spending.epsilon() == np.inf
    with track_spending() as spending:
        pass
    assert "no fits" in repr(spending)


def test_models_without_a_certificate_are_not_cross_validated() -> None:
    from sklearn.linear_model import LogisticRegression as Plain
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    X, y = rows()
    with pytest.raises(errors.PrivacyError) as caught:
        models.cross_val_score(Plain(), X, y)
    assert caught.value.field == "estimator"
    with pytest.raises(errors.PrivacyError):
        models.cross_val_score(make_pipeline(StandardScaler(), private()), X, y)
    result = models.cross_val_score(make_pipeline(Normalizer(), private()), X, y, cv=3)
    assert result.fits == 3 and 1.4 < result.epsilon <= 1.5 + 1e-9
    for cv in (1, 0, -1, True, 2.5, None, "5"):
        with pytest.raises(errors.ReticentError) as refused:
            models.cross_val_score(private(), X, y, cv=cv)
        assert refused.value.field == "cv"


def test_folds_of_neighboring_tables_differ_in_one_row() -> None:
    from reticent import _models_spending as spending

    drawn = np.random.default_rng(7).integers(5, size=1001, dtype=np.uint64)
    original = spending._native.uniform
    spending._native.uniform = lambda rows, below: drawn[:rows]
    try:
        with_row, without = spending._folds(1001, 5), spending._folds(1000, 5)
    finally:
        spending._native.uniform = original
    # The draws of the other rows are the same: the last row is in all training sets but that of its own fold.
    moved = [len(set(a) ^ set(b)) for (a, _), (b, _) in zip(with_row, without, strict=True)]
    assert sorted(moved) == [0, 1, 1, 1, 1]


@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_a_claim_that_a_draft_voids_is_not_printed() -> None:
    import pandas as pd

    from reticent import release

    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = private(bounds=None, schema=release.draft_schema(frame))
    with track_spending() as spending:
        model.fit(frame, y)
    assert model.certificate_.is_void and "void" in str(model.certificate_)
    assert "ε ≤" not in str(model.certificate_) and "ε ≤" not in repr(model.certificate_)
    assert spending.epsilon() == np.inf


def test_bounds_are_printed_rounded_up() -> None:
    data = {
        "version": 1, "unit": "row", "neighboring": "add-remove", "events": [], "epsilon": 1.00001,
        "delta": 1.00001e-6, "accountant": "pld", "public": [],
    }  # fmt: skip
    assert "ε ≤ 1.001" in str(Certificate(data)) and "δ ≤ 1.001e-6" in str(Certificate(data))
