"""Private statistics of data frames, arrays and files, each with an interval and a certificate.

>>> from reticent import release
>>> people = {"age": [31, 45, 62, 28] * 250, "sex": ["f", "m", "m", "f"] * 250}
>>> answer = release.mean(people, "age", bounds=(0, 100), epsilon=1.0)
>>> answer.certificate.epsilon
1.0
>>> low, high = answer.interval
>>> low <= answer.value <= high
True

``data`` is a pandas or polars data frame, a pyarrow table, a DuckDB relation, a mapping of column names to
arrays, an array of one or two dimensions (whose columns are ``x0``, ``x1``, …), or the path of a ``.csv`` or
``.parquet`` file.

- The names and declared types of columns are public, and so is every argument. **Bounds, bins and categories
  must not come from the data**: take them from a questionnaire, a code book or a regulation. Values outside
  of bounds are clamped; rows without a value, or with one that is not a finite number, do not count.
- Everything spent on the same data adds up. Pass one :class:`reticent.Budget` as ``budget=`` to limit the
  sum.
- Every statistic of one column has a ``preview``: the same arguments, but nothing is read or spent.
- :func:`page` releases many statistics under one budget, by group, and protects people with several rows.

>>> plan = release.mean.preview(people, "age", bounds=(0, 100), epsilon=1.0)
>>> plan.epsilon, plan.mechanism
(1.0, 'discrete Laplace')
"""

from __future__ import annotations

from .pages import page, preview_page, suggest_limits
from .questions import Question
from .results import Preview, RandomizedFile, Release, Schema
from .schema import draft_schema, learn_schema
from .sheets import Figure, Limits, Page, PagePreview
from .singles import (
    contingency,
    correlation,
    covariance,
    distinct,
    people,
    quantiles,
    stddev,
    top,
    trend,
    variance,
)
from .statistics import count, histogram, mean, median, mode, proportion, quantile, sum
from .survey import estimate, randomize

__all__ = [
    "Figure",
    "Limits",
    "Page",
    "PagePreview",
    "Preview",
    "Question",
    "RandomizedFile",
    "Release",
    "Schema",
    "contingency",
    "correlation",
    "count",
    "covariance",
    "distinct",
    "draft_schema",
    "estimate",
    "histogram",
    "learn_schema",
    "mean",
    "median",
    "mode",
    "page",
    "people",
    "preview_page",
    "proportion",
    "quantile",
    "quantiles",
    "randomize",
    "stddev",
    "suggest_limits",
    "sum",
    "top",
    "trend",
    "variance",
]
