"""Small data and estimators for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
pd = pytest.importorskip("pandas")

from reticent.models import LogisticRegression

ADULT = Path(__file__).parents[2] / "testdata" / "adult"

SCHEMA = """
unit = "row"

[columns]
age = { bounds = [17, 90] }
job = { categories = ["clerk", "cook", 7] }
hours = { bounds = [0, 100] }
note = "ignore"
"""


def blobs(rows: int = 1500, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, 3))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


def three(rows: int = 2000, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=rows)
    centers = np.array([[-0.6, -0.4], [0.6, -0.4], [0.0, 0.7]])
    return np.clip(centers[y] + rng.normal(scale=0.15, size=(rows, 2)), -1, 1), y


def people(rows: int = 1000, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 91, size=rows),
            "job": rng.choice(["clerk", "cook", "7", "pilot"], size=rows),
            "hours": rng.uniform(-20, 120, size=rows),
            "note": pd.to_datetime(["2020-01-01"] * rows),
        }
    )
    frame.loc[::7, "hours"] = np.nan
    frame.loc[::11, "job"] = None
    return frame


def logistic(**settings: Any) -> LogisticRegression:
    return LogisticRegression(**{"epsilon": 50.0, "bounds": (-1, 1), "classes": (0, 1), **settings})
