"""What fits cost together."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from . import _core, _native
from ._arguments import refused
from ._core import Certificate, Result, number


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

        It assumes that all fits were about the same rows, and that no argument of a fit was chosen by the
        results of earlier ones; a :class:`reticent.Budget` covers that as well. It is infinite after a fit
        without privacy.
        """
        _core.finite(delta=delta)
        if self.fits > len(self.certificates):
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
        fits = "1 fit" if self.fits == 1 else f"{self.fits} fits"
        open_fits = self.fits - len(self.certificates)
        if open_fits:
            return f"Spending: {fits}, {open_fits} of them without privacy"
        return f"Spending: {fits}, together ε ≤ {number(self.epsilon())}, δ ≤ {number(self.delta)}"


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
    """Adds up what all fits cost while the block runs, in every thread of this process.

    ``n_jobs`` of scikit-learn uses threads inside the block, so those fits are counted. Fits in processes
    that the block starts in another way are not counted.

    >>> import numpy as np
    >>> from reticent.models import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = np.linspace(-1, 1, 1000).reshape(-1, 1), np.arange(1000) // 500
    >>> model = LogisticRegression(epsilon=0.5, bounds=(-1, 1), classes=(0, 1))
    >>> with track_spending() as spending:
    ...     scores = cross_val_score(model, X, y, cv=4)
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
        epsilon = "∞ (no privacy)" if math.isinf(own["epsilon"]) else number(own["epsilon"])
        return [
            ("scores", ", ".join(number(score) for score in own["scores"])),
            ("mean", f"{number(mean)} (exact: not covered by the guarantee)"),
            ("fits", str(own["fits"])),
            ("cost", f"ε ≤ {epsilon}, δ ≤ {number(own['delta'])} together"),
        ]


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> CrossValidation:
    """scikit-learn's ``cross_val_score``, with what it cost.

    Every fold costs a whole fit, so k folds cost k times ε. The scores are exact: the guarantee does not
    cover them if the held-out rows are private. A fit that is refused raises its error. ``params={"budget":
    budget}`` charges all fits to a budget.

    >>> import numpy as np
    >>> from reticent.models import LogisticRegression
    >>> X, y = np.linspace(-1, 1, 1000).reshape(-1, 1), np.arange(1000) // 500
    >>> model = LogisticRegression(epsilon=0.5, bounds=(-1, 1), classes=(0, 1))
    >>> result = cross_val_score(model, X, y, cv=4)
    >>> len(result.scores), result.fits, round(result.epsilon, 6)
    (4, 4, 2.0)
    """
    from sklearn.model_selection import cross_val_score as scored

    with track_spending() as spending:
        scores = scored(
            estimator,
            X,
            y,
            cv=cv,
            scoring=scoring,
            groups=groups,
            params=None if params is None else dict(params),
            n_jobs=n_jobs,
            error_score="raise",
        )
    return CrossValidation(
        {
            "scores": [float(score) for score in scores],
            "fits": spending.fits,
            "epsilon": spending.epsilon(),
            "delta": spending.delta,
        }
    )
