"""Adversarial regularization and label smoothing: training, refusals, audits with the same defence."""

from __future__ import annotations

import numpy as np
import pytest

from networks import ARRAY, NOISY, PLAIN, TWO, X, Y, refused
from reticent import train
from reticent.audit import audit_model
from reticent.errors import ReticentError

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")

SCHEMA = """
unit = "row"
[label]
column = "kind"
categories = ["0", "1"]
[columns]
a = { bounds = [0, 1] }
b = { bounds = [0, 1] }
"""


def table(path, rows, seed):
    rng = np.random.default_rng(seed)
    values, kinds = rng.random((rows, 2)), rng.integers(0, 2, rows)
    lines = [f"{a:.4f},{b:.4f},{kind}" for (a, b), kind in zip(values, kinds, strict=True)]
    path.write_text("\n".join(["a,b,kind", *lines]) + "\n")
    return path


def test_a_network_is_trained_against_an_inference_network_without_a_guarantee():
    model = train.fit(TWO, X, Y, **ARRAY, **PLAIN, adversarial=3)
    assert model.certificate is None and model.epsilon is None
    own = model.adversarial
    assert own["strength"] == 3 and 0 < own["references"] < len(X) and 0 <= own["inference_accuracy"] <= 1
    assert model.dataset_size == len(X) - own["references"]


def test_smoothed_labels_go_with_privacy():
    model = train.fit(TWO, X, Y, **ARRAY, **NOISY, label_smoothing=0.1)
    assert model.certificate is not None and model.certificate.verify()
    assert "label_smoothing = 0.1" in (model.folder / "model.toml").read_text()


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({**PLAIN, "adversarial": -1}, "adversarial"),
        ({**PLAIN, "adversarial": float("nan")}, "adversarial"),
        ({**NOISY, "adversarial": 3}, "adversarial"),
        ({**PLAIN, "adversarial": 3, "reference_share": 0}, "reference_share"),
        ({**PLAIN, "adversarial": 3, "reference_share": 1}, "reference_share"),
        ({**PLAIN, "reference_share": 0.5}, "reference_share"),
        ({**PLAIN, "label_smoothing": 1}, "label_smoothing"),
    ],
)
def test_bad_input_is_refused(settings, field):
    refused(lambda: train.fit(TWO, X, Y, **ARRAY, **settings), ReticentError, field)


def test_an_audit_trains_its_references_with_the_defence_and_compares(tmp_path):
    members, others = table(tmp_path / "members.csv", 80, 1), table(tmp_path / "others.csv", 40, 2)
    for name, more in (("plain", {}), ("defended", {"adversarial": 3})):
        folder = tmp_path / name
        train.fit(TWO, str(members), schema=SCHEMA, **PLAIN, **more, out=folder)
    found = {
        name: audit_model(tmp_path / name, references=4, non_members=others, label_only=True)
        for name in ("plain", "defended")
    }
    assert "label-only" in [attack.name for attack in found["defended"].attacks]
    report = found["plain"].report(compare=[tmp_path / "defended"])
    assert "Defences compared" in report.html
    models = report.defences["models"]
    assert {model["defence"] for model in models} == {"adversarial", "early stopping"}
    assert all(model["epsilon"] is None for model in models)
