"""What fits cost together."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from . import _core, _native
from ._arguments import refused
from ._core import Certificate, Result, at_most, number


class Spending:
    """What fits have cost together; :func:`track_spending` fills it.

    ``fits`` is the number of all fits, and ``certificates`` has one for each private fit.

    >>> spending = Spending()
    >>> spending.fits, spending.epsilon(), spending.delta
    (0, 0.0, 0.0)
    """

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []
        self.fits = 0

    def epsilon(self, delta: float | None = None) -> float:
        """An upper bound on ε of all fits together, at ``delta``, or else at the sum of their δ.

        It assumes that the fits were about the same rows, or about parts of them to which every row belongs
        independently of all others, and that no argument of a fit was chosen by the results of earlier ones; a
        :class:`reticent.Budget` covers the latter as well. It is infinite after a fit without privacy.
        """
        _core.finite(delta=delta)
        if self.fits > len(self.certificates) or any(own.is_void for own in self.certificates):
            return math.inf
        if not self.certificates:
            return 0.0
        kinds = sorted({(own.unit, own.neighboring) for own in self.certificates})
        if len(kinds) > 1:
            shown = ", ".join(f"each {unit} ({relation})" for unit, relation in kinds)
            problem = f"the fits have different privacy units or neighboring relations: {shown}"
            raise refused(103, "neighboring", problem, "track fits of one kind at a time")
        unit, relation = kinds[0]
        events = [event for own in self.certificates for event in own.events]
        happened = {"events": {"log": {"neighboring": relation, "events": events}, "unit": unit}}
        at = self.delta if delta is None else float(delta)
        if at == 0.0 and self.delta == 0.0:
            # A pure guarantee is the divergence of infinite order.
            question: dict[str, Any] = {"rdp": {"orders": ["inf"]}}
            return float(_account(question, happened)["rdp"][0])
        return float(_account({"epsilon": {"delta": at}}, happened)["upper"])

    @property
    def delta(self) -> float:
        """The sum of the δ of all fits."""
        return math.fsum(own.delta for own in self.certificates)

    def __repr__(self) -> str:
        if not self.fits:
            return "Spending: no fits were tracked"
        fits = "1 fit" if self.fits == 1 else f"{self.fits} fits"
        open_fits = self.fits - len(self.certificates)
        if open_fits:
            return f"Spending: {fits}, {open_fits} of them without privacy"
        return f"Spending: {fits}, together ε ≤ {at_most(self.epsilon())}, δ ≤ {at_most(self.delta)}"


def _account(question: Mapping[str, Any], happened: Mapping[str, Any]) -> dict[str, Any]:
    return _core.load(_native.account(_core.request({"question": question, "happened": happened})))


_lock = threading.Lock()
_trackers: list[Spending] = []


def count_fit(certificate: Certificate | None) -> None:
    """Tells all open trackers of a fit."""
    with _lock:
        for spending in _trackers:
            spending.fits += 1
            if certificate is not None:
                spending.certificates.append(certificate)


@contextlib.contextmanager
def track_spending() -> Iterator[Spending]:
    """Adds up what all fits of ``reticent.models`` and ``reticent.train`` cost while the block runs, in every
    thread of this process.

    Models of other libraries are not counted, and neither are steps of a pipeline that learn from the rows. The
    sum does not cover how rows were split: scikit-learn's splitters put a row into a fold by its position or
    its label, so removing one row moves others, and no bound follows for them. Use :func:`cross_val_score`
    of this module, which draws folds row by row. ``n_jobs`` of scikit-learn uses threads inside the block, so those fits are counted. Fits in processes
    that the block starts in another way are not counted.

    >>> import numpy as np
    >>> from reticent.models import LogisticRegression
    >>> X, y = np.linspace(-1, 1, 1000).reshape(-1, 1), np.arange(1000) // 500
    >>> model = LogisticRegression(epsilon=0.5, bounds=(-1, 1), classes=(0, 1))
    >>> with track_spending() as spending:
    ...     models = [model.fit(X, y) for _ in range(4)]
    >>> spending
    Spending: 4 fits, together ε ≤ 2, δ ≤ 0
    """
    import joblib

    spending = Spending()
    with _lock:
        _trackers.append(spending)
    try:
        with joblib.parallel_config(backend="threading"):
            yield spending
    finally:
        with _lock:
            _trackers.remove(spending)


class CrossValidation(Result):
    """Scores of a cross-validation and what it cost.

    ``scores`` has one score per fold. ``fits`` is the number of fits, ``epsilon`` and ``delta`` are the
    cost of all of them together. The scores are exact: the guarantee does not cover them.
    """

    _title: ClassVar[str] = "Cross-validation"

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        mean = math.fsum(own["scores"]) / len(own["scores"])
        epsilon = "∞ (no privacy)" if math.isinf(own["epsilon"]) else at_most(own["epsilon"])
        return [
            ("scores", ", ".join(number(score) for score in own["scores"])),
            ("mean", f"{number(mean)} (exact: not covered by the guarantee)"),
            ("fits", str(own["fits"])),
            ("cost", f"ε ≤ {epsilon}, δ ≤ {at_most(own['delta'])} together"),
        ]


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: int = 5,
    scoring: Any = None,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Scores of ``cv`` folds, with what they cost.

    Every fold costs a whole fit, so k folds cost k times ε. Each row is put into a fold by a draw of its own,
    which does not depend on any row, so that neighboring tables give training sets that differ in that row only;
    scikit-learn's splitters do not have this property. The scores are exact: the guarantee does not cover
    them if the held-out rows are private. A fit that is refused raises its error.
    ``params={"budget": budget}`` charges all fits to a budget.

    >>> import numpy as np
    >>> from reticent.models import LogisticRegression
    >>> X, y = np.linspace(-1, 1, 1000).reshape(-1, 1), np.arange(1000) // 500
    >>> model = LogisticRegression(epsilon=0.5, bounds=(-1, 1), classes=(0, 1))
    >>> result = cross_val_score(model, X, y, cv=4)
    >>> len(result.scores), result.fits, round(result.epsilon, 6)
    (4, 4, 2.0)
    """
    from sklearn.model_selection import cross_val_score as scored
    from sklearn.utils.validation import _num_samples

    _check_private(estimator)
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 2:
        remedy = "give the number of folds, at least 2: rows are put into them one by one, at random"
        raise refused(201, "cv", "not a number of folds", remedy, cv)
    with track_spending() as spending:
        scores = scored(
            estimator,
            X,
            y,
            cv=_folds(_num_samples(X), int(cv)),
            scoring=scoring,
            params=None if params is None else dict(params),
            n_jobs=n_jobs,
            error_score="raise",
        )
    if spending.fits != int(cv):
        problem = f"{spending.fits} of {cv} fits stated what they cost"
        raise refused(401, "estimator", problem, "give an estimator of reticent.models")
    return CrossValidation(
        {
            "scores": [float(score) for score in scores],
            "fits": spending.fits,
            "epsilon": spending.epsilon(),
            "delta": spending.delta,
        }
    )


def _folds(rows: int, folds: int) -> list[tuple[Any, Any]]:
    """Training and test rows of every fold; each row is in one fold by a draw of its own."""
    own = _native.uniform(rows, folds)
    parts = [(np.flatnonzero(own != fold), np.flatnonzero(own == fold)) for fold in range(folds)]
    if any(not len(train) or not len(test) for train, test in parts):
        raise refused(308, "cv", f"too few rows for {folds} folds", "give fewer folds, or more rows")
    return parts


def _check_private(estimator: Any) -> None:
    """Refuses what is fitted to the rows without a certificate."""
    from sklearn.pipeline import Pipeline

    from .preprocessing import make_pipeline

    last = estimator
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps]
        make_pipeline(*steps)
        last = steps[-1]
    if not type(last).__module__.startswith("reticent."):
        problem = f"{type(last).__name__} has no certificate, so nothing can be said about its cost"
        raise refused(401, "estimator", problem, "give an estimator of reticent.models, or a pipeline that ends in one")
