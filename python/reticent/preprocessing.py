"""Preprocessing that learns nothing from the data.

A scaler that is fitted to private rows reveals them: the mean, the maximum or the set of categories that it
keeps is not covered by any guarantee. :class:`SchemaEncoder` uses the public schema alone.
:func:`make_pipeline` builds a scikit-learn pipeline and refuses steps that would be fitted to the data.

scikit-learn's own ``Pipeline`` cannot be checked from inside: an estimator of :mod:`reticent.models` behind a
``StandardScaler`` does not see the scaler, and its certificate does not cover it.

>>> import pandas as pd
>>> from reticent.preprocessing import SchemaEncoder
>>> schema = '''
... unit = "row"
... [columns]
... age = { bounds = [17, 90] }
... sex = { categories = ["Female", "Male"] }
... '''
>>> people = pd.DataFrame({"age": [17, 90, 300], "sex": ["Male", "Female", None]})
>>> SchemaEncoder(schema=schema).fit_transform(people)
array([[0., 0., 0., 1., 0., 0.],
       [1., 0., 1., 0., 0., 0.],
       [1., 0., 0., 0., 0., 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arguments import refused
from ._columns import columns_of, need_columns, read_columns
from ._schemas import encoded, read_schema

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError as error:
    raise ImportError(
        "reticent.models and reticent.preprocessing need scikit-learn 1.6 or later: "
        "pip install 'reticent[sklearn]'"
    ) from error

__all__ = ["SchemaEncoder", "make_pipeline"]


class SchemaEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns the columns of a data frame into numbers from 0 to 1 by a public schema.

    A column with ``bounds`` becomes its position between them, clipped, and a second feature that is 1 where
    the number is missing. A column with ``categories`` becomes one feature per category, one for every other
    value and one for a missing value. These are the features that ``schema=`` of :mod:`reticent.models`
    yields, before they are divided by the root of the number of columns.

    Nothing is learned from the data: ``fit`` checks that the columns are there, and ``transform`` may be
    called without it.

    Parameters
    ----------
    schema : path, TOML text, mapping, or a schema of :func:`reticent.release.learn_schema`
        The public schema. In a mapping of columns, a tuple of two numbers declares bounds and a list
        declares categories: ``{"age": (17, 90), "sex": ["Male", "Female"]}``. A learned schema has a cost of
        its own, which is in its certificate.

    >>> import numpy as np
    >>> encoder = SchemaEncoder(schema={"x0": (0, 10)})
    >>> encoder.transform(np.array([[5.0], [12.0], [np.nan]]))
    array([[0.5, 0. ],
           [1. , 0. ],
           [0. , 1. ]])
    >>> encoder.get_feature_names_out()
    array(['x0', 'x0:missing'], dtype=object)
    """

    def __init__(self, *, schema: Any = None) -> None:
        self.schema = schema

    def fit(self, X: Any, y: Any = None) -> SchemaEncoder:
        """Checks that ``X`` has the columns of the schema. No value is read."""
        schema = read_schema(self.schema)
        names, _ = columns_of(X, "X")
        need_columns(schema.names, names, "X")
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The features of the rows, one column for each name of :meth:`get_feature_names_out`."""
        schema = read_schema(self.schema)
        _, columns = read_columns(X, schema.names, "X")
        return np.hstack(
            [encoded(own, values, "X") for own, (_, values) in zip(schema.features, columns, strict=True)]
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features, such as ``age``, ``age:missing``, ``sex=Male``, ``sex:other``."""
        return np.asarray(read_schema(self.schema).feature_names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> Any:
    """scikit-learn's ``make_pipeline`` for private data: a step that learns from the rows is refused,
    unless it is the last one.

    Allowed are :class:`SchemaEncoder` and the transformers that scikit-learn itself declares to need no fit,
    such as ``FunctionTransformer``, ``Normalizer`` and ``HashingVectorizer``.

    >>> from reticent.models import LogisticRegression
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> model = LogisticRegression(bounds=(-1, 1), classes=(0, 1))
    >>> len(make_pipeline(Normalizer(), model))
    2
    >>> make_pipeline(StandardScaler(), model)
    Traceback (most recent call last):
        ...
    reticent.errors.PrivacyError: steps: StandardScaler is fitted to the private rows, ...
    """
    from sklearn.pipeline import make_pipeline as joined
    from sklearn.utils import get_tags

    for step in steps:
        is_name = step is None or isinstance(step, str) and step == "passthrough"
        if not is_name and (isinstance(step, type) or not hasattr(step, "fit")):
            problem = f"{type(step).__name__} has no fit"
            raise refused(104, "steps", problem, "give estimators, such as SchemaEncoder(schema=…)", step)
    for step in steps[:-1]:
        if step is None or isinstance(step, str):
            continue
        if get_tags(step).requires_fit:
            name = type(step).__name__
            problem = f"{name} is fitted to the private rows, and no certificate covers what it keeps"
            remedy = "use SchemaEncoder, or bounds= or schema= of the estimator"
            raise refused(403, "steps", problem, remedy, name)
    return joined(*steps, memory=memory, verbose=verbose)
