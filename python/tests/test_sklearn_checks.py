"""scikit-learn's own checks of estimators."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.utils.estimator_checks import parametrize_with_checks  # type: ignore[import-untyped]

from reticent.models import LinearSVC, LogisticRegression, Ridge, SoftmaxRegression

pytestmark = [
    pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

# Without noise, all checks hold.
EXACT: list[Any] = [
    LogisticRegression(epsilon=None, method="exact", bounds=(-3, 3), classes="public"),
    LinearSVC(epsilon=None, method="exact", bounds=(-3, 3), classes="public"),
    Ridge(epsilon=None, method="exact", bounds=(-3, 3), target_bounds=(-3, 3)),
]

PRIVATE: list[Any] = [
    LogisticRegression(epsilon=50.0, bounds=(-3, 3), classes="public"),
    LinearSVC(epsilon=50.0, bounds=(-3, 3), classes="public"),
    SoftmaxRegression(epsilon=50.0, delta=1e-3, bounds=(-3, 3), classes="public"),
    Ridge(epsilon=50.0, bounds=(-3, 3), target_bounds=(-3, 3)),
]

_TWO_FITS = "compares two fits to the same rows: their noise differs, and it cannot be seeded"

#: What cannot hold with noise, and why.
EXPECTED_FAILURES = {
    "check_fit_idempotent": _TWO_FITS,
    "check_supervised_y_2d": _TWO_FITS,
    "check_classifier_data_not_an_array": _TWO_FITS,
    "check_regressor_data_not_an_array": _TWO_FITS,
    "check_regressors_int": _TWO_FITS,
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return {} if estimator.method == "exact" else EXPECTED_FAILURES


with_checks: Any = parametrize_with_checks(EXACT + PRIVATE, expected_failed_checks=expected_failures)


@with_checks  # type: ignore[untyped-decorator]
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
