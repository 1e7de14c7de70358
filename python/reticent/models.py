"""scikit-learn estimators with differential privacy.

:class:`LogisticRegression`, :class:`LinearSVC`, :class:`SoftmaxRegression` and :class:`Ridge` are fitted by
the same requests as ``reticent train``. Every fitted estimator has a ``certificate_`` with the ε and δ that
it cost.

>>> import numpy as np
>>> from reticent.models import LogisticRegression
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(2000, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> model = LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=(0, 1)).fit(X, y)
>>> model.epsilon_, model.delta_
(1.0, 0.0)
>>> model.predict(X).shape
(2000,)

What an estimator may know of the data must be declared: ``bounds`` or a ``schema`` for the features,
``classes`` or ``target_bounds`` for the target. None of it is read off the rows silently.

**Every fit costs.** ``cross_val_score`` of scikit-learn with ``cv=5`` costs five fits, and ``GridSearchCV``
one fit for every candidate and fold: use :func:`track_spending` to add them up, or a
:class:`reticent.Budget` to limit them. Scores that scikit-learn computes on private rows (``score``,
``cross_val_score``, ``best_score_``) are exact: no certificate covers them, nor a model that was chosen by
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _models_values as _values
from ._arguments import pair, refused
from ._classes import check_given, texts_of, with_positive
from ._models_linear import Linear, Target
from ._models_spending import CrossValidation, Spending, cross_val_score, track_spending
from ._models_values import about
from ._refusals import one_of
from ._schemas import PublicSchema

# The base class tells how scikit-learn is installed if it is missing.
from sklearn.base import ClassifierMixin, RegressorMixin  # isort: skip

__all__ = [
    "CrossValidation",
    "LinearSVC",
    "LogisticRegression",
    "Ridge",
    "SoftmaxRegression",
    "Spending",
    "cross_val_score",
    "track_spending",
]


class _Classifier(ClassifierMixin, Linear):  # type: ignore[misc]
    """What the classifiers have in common."""

    #: Whether two classes are fitted like more of them.
    _is_multinomial: ClassVar[bool] = False

    classes: Any
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float | None = None,
        method: str | None = None,
        schema: Any = None,
        bounds: Any = None,
        classes: Any = None,
        regularization: float | None = None,
        fit_intercept: bool = True,
        neighboring: str = "add-remove",
        dataset_size: int | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        sampling_rate: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.schema = schema
        self.bounds = bounds
        self.classes = classes
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.neighboring = neighboring
        self.dataset_size = dataset_size
        self.steps = steps
        self.learning_rate = learning_rate
        self.sampling_rate = sampling_rate
        self.verbose = verbose

    def _target(self, y: Any, schema: PublicSchema | None, column: str) -> Target:
        with about("y"):
            found, rows = _values.labels_of(y, type(self).__name__)
        label = (None if schema is None else schema.label) or {}
        _values.check_label(label)
        check_given(self.classes, label)
        declared = label.get("categories") if self.classes is None else self.classes
        classes = _values.classes_of(declared, found)
        texts = texts_of(classes.tolist())
        several = self._is_multinomial or len(texts) > 2
        own: dict[str, Any] | None = {"categories": texts} if several else {"positive": texts[1]}
        order = list(range(len(texts))) if several else [1]
        if schema is not None and label:
            two = with_positive(texts, label["positive"]) if "positive" in label else texts
            is_listed = several and "positive" in label
            own = {"categories": two} if is_listed else None
            order = [texts.index(text) for text in two] if is_listed else _values.order_of(schema, texts)
        cells = _values.cells(texts, _values.codes_of(found, texts)[rows])
        return Target(column, own, cells, classes, order)

    def _stored_classes(self, schema: PublicSchema, classes: Any) -> tuple[NDArray[Any] | None, list[int]]:
        label = schema.label or {}
        if classes is None:
            positive = label.get("positive")
            classes = label.get("categories", [f"not {positive}", str(positive)])
        found = _values.classes_of(classes, np.asarray([]))
        self.classes = tuple(found.tolist())
        return found, _values.order_of(schema, texts_of(found.tolist()))

    def _set_weights(
        self, weights: NDArray[np.float64], intercepts: NDArray[np.float64], schema: PublicSchema
    ) -> None:
        if len(self._order) == 1:
            sign = 1.0 if self._order == [1] else -1.0
            weights, intercepts = sign * weights, sign * intercepts
        else:
            places = np.argsort(self._order)
            weights, intercepts = weights[places], intercepts[places]
            if len(places) == 2:
                weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
        self.encoded_coef_, self.encoded_intercept_ = weights, intercepts

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margins: one per row, positive for ``classes_[1]``; one per class if there are more."""
        scores = self._scores(X)
        if len(self._order) == 1:
            return scores[:, 0] if self._order == [1] else -scores[:, 0]
        scores = scores[:, np.argsort(self._order)]
        return scores if len(self._order) > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each row."""
        scores = self._scores(X)
        if len(self._order) == 1:
            places = np.where(scores[:, 0] >= 0.0, self._order[0], 1 - self._order[0])
        else:
            places = np.asarray(self._order)[np.argmax(scores, axis=1)]
        return np.asarray(self.classes_[places])


class LogisticRegression(_Classifier):
    """Logistic regression with differential privacy.

    With more than two classes, the methods ``"gradient"`` and ``"sgd"`` minimize the softmax loss; every
    other method fits one class against the rest, once per class, out of one budget.

    Parameters
    ----------
    epsilon : float
        ε of the whole fit, at most 50. ``None`` only with ``method="exact"``, which is not private.
    delta : float, optional
        δ of the whole fit, far below 1 / number of rows; 0 if it is not given.
    method : str, optional
        ``"output"``, ``"objective"``, ``"gradient"``, ``"sgd"``, ``"chaudhuri-2011"``, ``"kifer-2012"``,
        ``"iyengar-2019"`` or ``"exact"``. The default is the one with the smallest proven excess risk.
        ``"gradient"`` and ``"sgd"`` need ``delta``.
    schema : path, TOML text, mapping, or a schema of :func:`reticent.release.learn_schema`, optional
        What is publicly known of the columns of a data frame: bounds and categories. In a mapping of
        columns, a tuple declares bounds and a list declares categories: ``{"age": (17, 90), "sex":
        ["Male", "Female"]}``.
    bounds : (low, high), a pair for each feature, or a mapping of column names to pairs, optional
        Where the features lie, from public knowledge; values outside are clipped. Give ``schema`` or
        ``bounds``.
    classes : sequence, or "public"
        The label values. ``"public"`` declares that the set of values in ``y`` is public knowledge. A schema
        whose label has categories declares them too; if its label has a positive value alone, give both
        labels. Other values in ``y`` are refused.
    regularization : float, optional
        L2 regularization strength: the coefficient of |w|² / 2 beside the mean loss, for features that are
        scaled so that each row has norm at most 1. The default follows from public numbers.
    fit_intercept : bool
        Whether an intercept is fitted.
    neighboring : "add-remove" or "replace-one"
        The neighboring relation.
    dataset_size : int, optional
        A public number near the number of rows. Without it, 2 % of ε pay for a noisy count (add-remove).
    steps, learning_rate, sampling_rate : optional
        For ``"gradient"`` and ``"sgd"``; the defaults follow from public numbers.
    verbose : bool
        Whether progress is shown.

    Attributes
    ----------
    certificate_ : reticent.Certificate
        The guarantee; ``None`` with ``method="exact"``.
    epsilon_, delta_ : float
        What the certificate claims.
    classes_ : array
        The classes, sorted.
    coef_, intercept_ : array
        If all features are numbers: ``X @ coef_.T + intercept_`` is the ``decision_function`` of rows inside
        the bounds. With categorical features, use ``encoded_coef_``.
    encoded_coef_, encoded_intercept_, encoded_feature_names_ : array
        The weights of the features that :class:`reticent.preprocessing.SchemaEncoder` makes by the schema.
    method_, regularization_, dataset_size_
        What the fit used; the number of rows is the public one.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> model = LogisticRegression(epsilon=50.0, bounds=(-1, 1), classes=("no", "yes")).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    >>> model.certificate_.verify()
    True
    """

    _model: ClassVar[str] = "logistic"

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class: one column for each of ``classes_``."""
        scores = self._scores(X)
        if len(self._order) == 1:
            small = np.exp(-np.abs(scores))
            likely, unlikely = 1.0 / (1.0 + small), small / (1.0 + small)
            other = np.where(scores >= 0.0, unlikely, likely)
            own = np.where(scores >= 0.0, likely, unlikely)
            return np.hstack([other, own] if self._order == [1] else [own, other])
        # One softmax, or one model for each class: then the probabilities are scaled to add up to 1.
        logs = scores if self.method_ in ("gradient", "sgd") else -np.logaddexp(0.0, -scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(shares[:, np.argsort(self._order)])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class SoftmaxRegression(LogisticRegression):
    """Multinomial logistic regression with differential privacy: one softmax loss over all classes.

    It is fitted by noisy gradient descent on all rows (``method="gradient"``) or on Poisson samples
    (``"sgd"``), both of which need ``delta``. All parameters and attributes are those of
    :class:`LogisticRegression`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.8]])
    >>> y = rng.integers(0, 3, size=3000)
    >>> X = centers[y] + rng.normal(scale=0.1, size=(3000, 2))
    >>> model = SoftmaxRegression(epsilon=50.0, delta=1e-6, bounds=(-1, 1), classes=(0, 1, 2)).fit(X, y)
    >>> model.predict_proba(X).shape
    (3000, 3)
    >>> model.score(X, y) > 0.8
    True
    """

    _is_multinomial: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float | None = None,
        method: str | None = "gradient",
        schema: Any = None,
        bounds: Any = None,
        classes: Any = None,
        regularization: float | None = None,
        fit_intercept: bool = True,
        neighboring: str = "add-remove",
        dataset_size: int | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        sampling_rate: float | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            method=method,
            schema=schema,
            bounds=bounds,
            classes=classes,
            regularization=regularization,
            fit_intercept=fit_intercept,
            neighboring=neighboring,
            dataset_size=dataset_size,
            steps=steps,
            learning_rate=learning_rate,
            sampling_rate=sampling_rate,
            verbose=verbose,
        )

    def _settings(self) -> dict[str, Any]:
        one_of("method", self.method, ("gradient", "sgd"))
        return super()._settings()


class LinearSVC(_Classifier):
    """A linear support vector machine with differential privacy; the corner of its hinge loss is rounded.

    With more than two classes it fits one class against the rest, once per class, out of one budget. All
    parameters and attributes are those of :class:`LogisticRegression`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = LinearSVC(epsilon=50.0, bounds=(-1, 1), classes=(0, 1)).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _model: ClassVar[str] = "svm"


class Ridge(RegressorMixin, Linear):  # type: ignore[misc]
    """Ridge regression with differential privacy; the squared loss becomes a straight line for large
    residuals.

    Parameters
    ----------
    target_bounds : (low, high)
        Where the target lies, from public knowledge; values outside are clipped, and so are predictions. A
        schema whose label has bounds declares them too.

    All other parameters and attributes are those of :class:`LogisticRegression`. ``coef_`` and
    ``intercept_`` are in the unit of the target.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 2))
    >>> y = 3 * X[:, 0] - X[:, 1] + 10
    >>> model = Ridge(epsilon=50.0, bounds=(-1, 1), target_bounds=(5, 15)).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.coef_.shape
    (2,)
    """

    _model: ClassVar[str] = "ridge"

    target_bounds: Any

    def __init__(
        self,
        *,
        epsilon: float | None = 1.0,
        delta: float | None = None,
        method: str | None = None,
        schema: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        regularization: float | None = None,
        fit_intercept: bool = True,
        neighboring: str = "add-remove",
        dataset_size: int | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        sampling_rate: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.schema = schema
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.neighboring = neighboring
        self.dataset_size = dataset_size
        self.steps = steps
        self.learning_rate = learning_rate
        self.sampling_rate = sampling_rate
        self.verbose = verbose

    def _target(self, y: Any, schema: PublicSchema | None, column: str) -> Target:
        with about("y"):
            y = _values.checked_target(y, type(self).__name__)
            if y.dtype.kind in "UST":
                raise ValueError(f"y: not numbers (dtype {y.dtype}): give an array of numbers")
            values = np.ascontiguousarray(y, dtype=np.float64)
        if not np.isfinite(values).all():
            remedy = "remove or replace what is not a finite number"
            raise refused(307, "y", "holds NaN or infinity", remedy)
        label = None if schema is None else schema.label
        if label is not None and "bounds" not in label:
            remedy = "give a schema whose label has bounds, or use a classifier"
            raise refused(103, "schema", "its label has classes", remedy)
        if self.target_bounds is None:
            if label is None:
                remedy = "give the public bounds of the target, such as target_bounds=(0, 100)"
                raise refused(102, "target_bounds", "they are missing", remedy)
            return Target(column, None, values, None, [])
        low, high = pair("target_bounds", self.target_bounds)
        if label is None:
            return Target(column, {"bounds": (low, high)}, values, None, [])
        if [low, high] != label["bounds"]:
            problem = f"({low}, {high}): the schema's label has other bounds"
            raise refused(103, "target_bounds", problem, "leave it out", f"({low}, {high})")
        return Target(column, None, values, None, [])

    def _set_weights(
        self, weights: NDArray[np.float64], intercepts: NDArray[np.float64], schema: PublicSchema
    ) -> None:
        # To the native module, the bounds of the target are -1 and 1.
        low, high = (float(end) for end in (schema.label or {})["bounds"])
        half = 0.5 * (high - low)
        self.encoded_coef_ = weights[0] * half
        self.encoded_intercept_ = float(low + half * (intercepts[0] + 1.0))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row, between the bounds of the target."""
        return self._scores(X)[:, 0]

    @classmethod
    def _stored_params(
        cls, request: Mapping[str, Any], schema: PublicSchema, by_schema: bool
    ) -> dict[str, Any]:
        params = super()._stored_params(request, schema, by_schema)
        bounds = None if by_schema else tuple((schema.label or {})["bounds"])
        return {**params, "target_bounds": bounds}

    def _stored_classes(self, schema: PublicSchema, classes: Any) -> tuple[NDArray[Any] | None, list[int]]:
        if classes is not None:
            raise refused(103, "classes", "the model predicts numbers", "leave it out")
        return None, []
