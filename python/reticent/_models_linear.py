"""What the linear models of :mod:`reticent.models` have in common."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _budget, _core, _models_store, _native, _progress
from . import _models_values as _values
from ._arguments import bounds_of, flag, path as path_of, real, refused, whole
from ._budget import Budget
from ._columns import read_columns, table_of
from ._core import Certificate
from ._folder import private_folder, read_files, save_files
from ._models_spending import count_fit
from ._models_store import Stored
from ._models_values import about
from ._refusals import one_of, relation
from ._schemas import PublicSchema, read_schema, schema_text

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        validate_data,
    )
except ImportError as error:
    raise ImportError(
        "reticent.models and reticent.preprocessing need scikit-learn 1.6 or later: "
        "pip install 'reticent[sklearn]'"
    ) from error

_METHODS = (
    "auto",
    "output",
    "objective",
    "gradient",
    "sgd",
    "chaudhuri-2011",
    "kifer-2012",
    "iyengar-2019",
    "exact",
)

_Self = TypeVar("_Self", bound="Linear")


class Target(NamedTuple):
    """What is predicted, as the native module is told."""

    #: The name of the label's column.
    column: str
    #: What the schema has to say of it below ``[label]``; none where it says so itself.
    label: dict[str, Any] | None
    #: The cells of the label's column.
    values: Any
    #: The sorted classes; none where numbers are predicted.
    classes: NDArray[Any] | None
    #: Which of them each class of the native module is; of two, which one is the positive one.
    order: list[int]


class Linear(BaseEstimator):  # type: ignore[misc]
    """What the linear models have in common."""

    #: The name in a request.
    _model: ClassVar[str]

    epsilon: float | None
    delta: float | None
    method: str | None
    schema: Any
    bounds: Any
    regularization: float | None
    fit_intercept: bool
    neighboring: str
    dataset_size: int | None
    steps: int | None
    learning_rate: float | None
    sampling_rate: float | None
    verbose: bool

    n_features_in_: int
    certificate_: Certificate | None
    epsilon_: float | None
    delta_: float | None
    encoded_coef_: NDArray[np.float64]
    encoded_intercept_: Any
    _stored: Stored
    #: The weights of the columns of X and their intercept; none where there are no such weights.
    _raw_weights: tuple[NDArray[np.float64], Any] | None
    _order: list[int]
    #: The schema that declared the features; none where bounds did.
    _schema: PublicSchema | None

    def fit(self: _Self, X: Any, y: Any, *, budget: Budget | None = None) -> _Self:
        """Fits the model to private rows.

        Parameters
        ----------
        X : array of numbers, or a data frame
            The features. Numbers outside their bounds are clipped.
        y : array
            The target, one value per row.
        budget : reticent.Budget, optional
            What the fit is charged to. A fit that would exceed it is refused before any noise is drawn. It
            is an argument of ``fit`` because a budget cannot be cloned.
        """
        settings = self._settings()
        charged = _budget.native(budget)
        schema = self._declared_schema()
        names, columns = self._features(X, schema, reset=True)
        target = self._target(y, schema, self._label_column(schema, names))
        with about("y"):
            check_consistent_length(columns[0][1], target.values)
        text = self._schema_text(schema, names, target)
        if schema is not None and schema.unit is not None:
            columns += read_columns(X, [schema.unit], "X", arrow=True)[1]
        with about("X"):
            table = table_of([*columns, (target.column, target.values)], "X")
        with private_folder() as base:
            place, folder = Path(base, "schema.toml"), Path(base, "model")
            place.write_text(text, encoding="utf-8")
            request = _core.request({**settings, "schema": place, "out": folder})
            progress = _progress.display(self.verbose)
            outcome = _core.load(_native.fit(request, train=table, budget=charged, progress=progress))
            certificate = _native.read_certificate(os.fspath(folder))
            stored = Stored(read_files(folder))
        self._take(stored, certificate, target.classes, target.order, schema is not None)
        count_fit(self.certificate_)
        warnings = list(outcome["warnings"])
        if self.certificate_ is None:
            warnings.append("method exact is not private: do not publish anything of this model")
        _core.warn(warnings)
        return self

    def _settings(self) -> dict[str, Any]:
        """The request without its files."""
        epsilon = real("epsilon", self.epsilon)
        method = "auto" if self.method is None else one_of("method", self.method, _METHODS)
        if method == "exact" and epsilon is not None:
            problem = f"{epsilon}, but method exact is not private"
            raise refused(103, "epsilon", problem, "give epsilon=None", str(epsilon))
        return {
            "model": self._model,
            "epsilon": epsilon,
            "delta": real("delta", self.delta),
            "method": {"auto": None, "gradient": "descent"}.get(method, method),
            "neighboring": relation(self.neighboring),
            "dataset-size": whole("dataset_size", self.dataset_size, 1),
            "regularization": real("regularization", self.regularization),
            "no-intercept": not flag("fit_intercept", self.fit_intercept),
            "steps": whole("steps", self.steps, 1),
            "learning-rate": real("learning_rate", self.learning_rate),
            "sampling-rate": real("sampling_rate", self.sampling_rate),
            "test-share": 0.0,
            # Classes that are found in y are declared to be public: the certificate says so.
            "observed-labels": isinstance(getattr(self, "classes", None), str),
        }

    def _declared_schema(self) -> PublicSchema | None:
        """The schema; none where bounds are given instead."""
        if self.schema is None and self.bounds is None:
            remedy = (
                "give bounds=(low, high) or schema= from public knowledge; reticent.release.learn_schema "
                "learns a schema privately, at a cost"
            )
            raise refused(102, "bounds", "they are missing", remedy)
        if self.schema is None:
            return None
        if self.bounds is not None:
            problem = "the schema declares them already"
            raise refused(103, "bounds", problem, "leave out bounds or schema")
        return read_schema(self.schema)

    def _features(
        self, X: Any, schema: PublicSchema | None, reset: bool
    ) -> tuple[list[str], list[tuple[str, Any]]]:
        """The names of the columns that are features, and these columns as the native module takes them."""
        if schema is not None:
            with about("X"):
                known, columns = read_columns(X, schema.names, "X", arrow=True)
            if reset:
                self._set_names(known)
            return schema.names, columns
        with about("X"):
            if _values.is_named(X):
                wanted = None if reset else getattr(self, "feature_names_in_", None)
                known, X = _values.named_numbers(X, None if wanted is None else list(wanted))
                if reset:
                    self._set_names(known)
                elif wanted is None:
                    X = validate_data(self, X, reset=False, dtype=np.float64)
            else:
                _values.check_kind(X)
                X = validate_data(self, X, reset=reset, dtype=np.float64)
        own = getattr(self, "feature_names_in_", None)
        names = [f"x{place}" for place in range(self.n_features_in_)] if own is None else list(own)
        return names, [(name, np.ascontiguousarray(X[:, place])) for place, name in enumerate(names)]

    def _set_names(self, names: list[str]) -> None:
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)

    def _label_column(self, schema: PublicSchema | None, names: list[str]) -> str:
        """The label's name in the table: the schema's own, or one that is free."""
        if schema is not None and schema.label is not None:
            return str(schema.label.get("column"))
        taken = {*names, None if schema is None else schema.unit}
        name = "y"
        while name in taken:
            name += "_"
        return name

    def _schema_text(self, schema: PublicSchema | None, names: list[str], target: Target) -> str:
        """The schema with its label."""
        label = {"column": target.column, **(target.label or {})}
        if schema is None:
            return schema_text(dict(zip(names, bounds_of(self.bounds, names), strict=True)), label)
        return schema.text if target.label is None else schema.with_label(label)

    def _target(self, y: Any, schema: PublicSchema | None, column: str) -> Target:
        raise NotImplementedError

    def _take(
        self,
        stored: Stored,
        certificate: str | None,
        classes: NDArray[Any] | None,
        order: list[int],
        by_schema: bool,
    ) -> None:
        """Takes over a stored model with its certificate, which the native module has read and checked."""
        schema = PublicSchema(stored.files["schema.toml"].decode())
        self._stored = stored
        self._order = order
        self._schema = schema if by_schema else None
        self.certificate_ = _core.certificate(None if certificate is None else _core.load(certificate))
        self.epsilon_ = None if self.certificate_ is None else self.certificate_.epsilon
        self.delta_ = None if self.certificate_ is None else self.certificate_.delta
        if classes is not None:
            self.classes_ = classes
        model = _models_store.own(stored.about)
        self.method_ = {"descent": "gradient"}.get(model["method"], model["method"])
        self.regularization_ = model["report"]["regularization"]
        self.dataset_size_ = model["report"]["size"]
        self.encoded_feature_names_ = np.asarray(schema.feature_names, dtype=object)
        linears = _models_store.linears(stored.about)
        self._set_weights(
            np.asarray([linear["weights"] for linear in linears], dtype=np.float64) * schema.scale,
            np.asarray([linear["intercept"] for linear in linears], dtype=np.float64),
            schema,
        )
        self._set_coef(schema)

    def _set_weights(
        self, weights: NDArray[np.float64], intercepts: NDArray[np.float64], schema: PublicSchema
    ) -> None:
        raise NotImplementedError

    def _set_coef(self, schema: PublicSchema) -> None:
        """Sets ``coef_`` and ``intercept_`` where X has the columns of the schema and all of them are
        numbers."""
        self._raw_weights = None
        names = getattr(self, "feature_names_in_", None)
        in_order = self.n_features_in_ == len(schema.names) and (names is None or list(names) == schema.names)
        if not in_order or any(column.bounds is None for column in schema.features):
            return
        bounds = np.asarray([column.bounds for column in schema.features], dtype=np.float64)
        # A number has two features: its position between the bounds, and whether it is missing.
        coef = self.encoded_coef_[..., 0::2] / (bounds[:, 1] - bounds[:, 0])
        self._raw_weights = coef, self.encoded_intercept_ - coef @ bounds[:, 0]

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the columns of ``X``, if all of them are features and numbers."""
        return np.asarray(self._raw("coef_")[0])

    @property
    def intercept_(self) -> Any:
        """The intercept that goes with ``coef_``."""
        return self._raw("intercept_")[1]

    def _raw(self, name: str) -> tuple[NDArray[np.float64], Any]:
        kind = type(self).__name__
        if "_raw_weights" not in self.__dict__:
            raise AttributeError(f"{kind!r} object has no attribute {name!r}: call fit first")
        if self._raw_weights is None:
            features = [] if self._schema is None else self._schema.features
            is_categorical = any(column.bounds is None for column in features)
            why = "it has categorical features" if is_categorical else "the columns of X are not the schema's"
            raise AttributeError(
                f"this {kind} has no {name}, as {why}: use encoded_coef_ and encoded_intercept_, the weights "
                "of the features encoded_feature_names_"
            )
        return self._raw_weights

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """The native module's scores, one line per row."""
        check_is_fitted(self, "_stored")
        _, columns = self._features(X, self._schema, reset=False)
        with about("X"):
            table = table_of(columns, "X")
        progress = _progress.display(self.verbose)
        with self._stored.folder() as folder:
            request = _core.request({"model": folder, "data": ""})
            _, _, scores, warnings = _native.predict(request, data=table, progress=progress)
        _core.warn(warnings)
        return scores.reshape(len(columns[0][1]), -1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a new folder, which ``reticent predict`` and :meth:`load` read.

        The private fingerprint of the training data, by which an audit recognizes them, is not written.

        >>> import tempfile
        >>> import numpy as np
        >>> from reticent.models import LogisticRegression
        >>> X, y = np.linspace(-1, 1, 1000).reshape(-1, 1), np.arange(1000) // 500
        >>> model = LogisticRegression(bounds=(-1, 1), classes=(0, 1)).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model")
        ...     again = LogisticRegression.load(f"{folder}/model")
        >>> bool((again.predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self, "_stored")
        names = getattr(self, "feature_names_in_", None)
        known = {
            "estimator": type(self).__name__,
            "schema": self._schema is not None,
            "classes": self.classes_.tolist() if hasattr(self, "classes_") else None,
            "features": self.n_features_in_,
            "names": None if names is None else [str(name) for name in names],
        }
        text = json.dumps(known, ensure_ascii=False, indent=2)
        save_files(path, {_models_store.ESTIMATOR_FILE: f"{text}\n".encode(), **self._stored.files})

    @classmethod
    def load(cls: type[_Self], path: str | os.PathLike[str], *, classes: Any = None) -> _Self:
        """Reads a model from the folder of :meth:`save` or of ``reticent train --out``.

        Parameters
        ----------
        path : path
            The folder.
        classes : sequence, optional
            The label values of a classifier, for a folder of the command, whose schema may name the
            positive one only. Without them the other class is called ``"not …"``, as in ``reticent
            predict``.
        """
        folder = Path(path_of("path", path, "give the folder of a model"))
        # Refuses a folder without a model, and files other than those that were stored with it.
        certificate = _native.read_certificate(os.fspath(folder))
        reader = _models_store.class_of(_core.load((folder / "model.json").read_text(encoding="utf-8")))
        several = reader == "models.SoftmaxRegression" and cls.__name__ == "LogisticRegression"
        if reader != f"models.{cls.__name__}" and not several:
            problem = f"the model in {str(folder)!r} is not a {cls.__name__}"
            raise refused(504, "path", problem, f"use reticent.{reader}", str(folder))
        files = read_files(folder)
        known = _models_store.known(files.pop(_models_store.ESTIMATOR_FILE, None), folder)
        schema = PublicSchema(files["schema.toml"].decode())
        by_schema = bool(known.get("schema", True))
        run = _core.load(files["run.json"].decode())
        model = cls(**cls._stored_params(run.get("request", {}), schema, by_schema))
        names = known.get("names", schema.names)
        model.n_features_in_ = int(known.get("features", len(schema.names)))
        if names is not None:
            model._set_names(names)
        labels, order = model._stored_classes(schema, known.get("classes") if classes is None else classes)
        model._take(Stored(files), certificate, labels, order, by_schema)
        return model

    @classmethod
    def _stored_params(
        cls, request: Mapping[str, Any], schema: PublicSchema, by_schema: bool
    ) -> dict[str, Any]:
        """The constructor's arguments from a stored request."""
        method = request.get("method")
        return {
            "epsilon": request.get("epsilon"),
            "delta": request.get("delta"),
            "method": "gradient" if method == "descent" else method,
            "schema": schema.text if by_schema else None,
            "bounds": None if by_schema else [column.bounds for column in schema.features],
            "regularization": request.get("regularization"),
            "fit_intercept": not request.get("no-intercept", False),
            "neighboring": request.get("neighboring", "add-remove"),
            "dataset_size": request.get("dataset-size"),
            "steps": request.get("steps"),
            "learning_rate": request.get("learning-rate"),
            "sampling_rate": request.get("sampling-rate"),
        }

    def _stored_classes(self, schema: PublicSchema, classes: Any) -> tuple[NDArray[Any] | None, list[int]]:
        """The classes of a stored model, and their order in it."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.method != "exact"
        tags.target_tags.required = True
        # A schema says what becomes of missing values and of categories.
        tags.input_tags.allow_nan = self.schema is not None
        tags.input_tags.categorical = self.schema is not None
        tags.input_tags.string = self.schema is not None
        return tags
