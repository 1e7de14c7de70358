"""Small data and settings of trainings for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reticent.train import Linear

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(7)
X = RNG.uniform(0, 1, (60, 2))
Y = (X[:, 0] > 0.5).astype(int)
IMAGES = RNG.integers(0, 256, (60, 6, 5), dtype=np.uint8)
TEXTS = ["see you at home", "win a free prize"] * 30
KINDS = ["ham", "spam"] * 30

#: A training with privacy whose noise is given, which is the fastest one.
NOISY = {"noise_multiplier": 2.0, "delta": 1e-5, "dataset_size": 60, "batch_size": 30, "steps": 2}
PLAIN = {"non_private": True, "batch_size": 30, "steps": 2}
ARRAY = {"bounds": (0, 1), "classes": [0, 1]}
WORDS = {"vocabulary": ["see", "you", "win", "free"], "length": 4, "classes": ["ham", "spam"]}
SCHEMA = """
unit = "row"
[label]
column = "kind"
categories = ["0", "1"]
[columns]
a = { bounds = [0, 1] }
"b c" = { bounds = [0, 1] }
"""
TWO = [Linear(out=2)]


def refused(call, kind, field, code=None):
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.field == field, error
    assert error.code[1:].isdigit() and (code is None or error.code == code), error
    assert "\n" not in str(error) and error.remedy, error
    assert "reticent-" not in str(error).replace("reticent-run", ""), error
    return error
