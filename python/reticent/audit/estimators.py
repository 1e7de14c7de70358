"""Models of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _tables
from ..errors import AuditError, DataError, RequestError
from .arrays import Bools, array_of, shape_of, shaped
from .files import refusal
from .models import Said, imported


def made_by(make_estimator: Any) -> Any:
    """A new estimator."""
    is_estimator = hasattr(make_estimator, "fit") and not isinstance(make_estimator, type)
    if is_estimator:
        return imported("sklearn.base", "make_estimator").clone(make_estimator)
    if not callable(make_estimator):
        remedy = "give a function that returns a new estimator, or an estimator"
        raise refusal(RequestError, "R104", "make_estimator", make_estimator, remedy)
    made = make_estimator()
    if not hasattr(made, "fit") or not hasattr(made, "predict"):
        remedy = f"returned {type(made).__name__}: return an estimator with fit and predict"
        raise refusal(RequestError, "R104", "make_estimator", None, remedy)
    return made


def is_regressor(made: Any) -> bool:
    """Whether an estimator predicts numbers."""
    tags = getattr(made, "__sklearn_tags__", None)
    kind = getattr(made, "_estimator_type", None) if tags is None else tags().estimator_type
    return bool(kind == "regressor")


def targets_of(
    y: Any, records: int, is_numeric: bool
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.int64] | None]:
    """The targets, the classes in order and each record's number; no classes for a regressor."""
    given = array_of(y, "y")
    shaped(given, "y", (records,), "one target for each row of X")
    if is_numeric:
        return _tables.numbers(given, "y"), None, None
    column = _tables.column(y if hasattr(y, "dtype") and hasattr(y, "iloc") else given, "y")
    is_text = isinstance(column, list)
    if any(text is None for text in column) if is_text else not np.isfinite(column).all():
        raise refusal(DataError, "R307", "y", None, "holds missing values: give a class for every row")
    try:
        classes, labels = np.unique(given, return_inverse=True)
    except TypeError:
        raise refusal(
            DataError, "R309", "y", None, "classes of several types: give numbers or texts"
        ) from None
    if len(classes) < 2:
        raise refusal(DataError, "R307", "y", None, "only one class: give records of at least two")
    return given, classes, labels.astype(np.int64)


def fit_sklearn(
    make_estimator: Any, X: Any, y: NDArray[Any], classes: NDArray[Any] | None, inside: Bools, seed: int
) -> Said:
    """What a model that was trained on some of the records says about all of them."""
    places = np.flatnonzero(inside)
    made = made_by(make_estimator)
    made.fit(_rows_of(X, places), y[places])
    if classes is None:
        return "score", -np.abs(y - np.asarray(made.predict(X), dtype=np.float64))
    if hasattr(made, "predict_proba"):
        return "probabilities", _aligned(made, np.asarray(made.predict_proba(X)), classes, 0.0)
    if hasattr(made, "decision_function"):
        margins = np.asarray(made.decision_function(X), dtype=np.float64)
        if margins.ndim == 1:
            # The logit of the second class against the first.
            margins = np.column_stack([np.zeros(len(margins)), margins])
        return "logits", _aligned(made, margins, classes, None)
    return "score", (np.asarray(made.predict(X)) == y).astype(np.float64)


def _aligned(
    made: Any, said: NDArray[Any], classes: NDArray[Any], absent: float | None
) -> NDArray[np.float32]:
    """Outputs with a column for each class of all records, whichever classes the model has seen."""
    own = np.asarray(getattr(made, "classes_", classes))
    if said.ndim != 2 or said.shape[1] != len(own) or own.ndim != 1:
        remedy = f"outputs of {shape_of(said)} for {len(own)} classes: give a model of one target"
        raise refusal(RequestError, "R104", "make_estimator", None, remedy)
    found = np.isin(classes, own)
    if not found.all() and absent is None:
        remedy = "not in the training data of a model without probabilities: give more records of each class"
        raise refusal(AuditError, "R601", "y", str(classes[~found][0]), remedy)
    columns = np.full((len(said), len(classes)), 0.0 if absent is None else absent, dtype=np.float32)
    columns[:, np.searchsorted(classes, own)] = said
    return columns


def _rows_of(data: Any, places: NDArray[np.intp]) -> Any:
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if isinstance(data, (list, tuple)):
        return [data[place] for place in places]
    return data[places]
