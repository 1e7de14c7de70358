"""Attacks on whole records, and comparisons of models and releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reticent import _native, errors
from reticent.audit import Disclosures, audit_model, difference, reconstruct


def test_a_linear_model_gives_records_away(tmp_path: Path) -> None:
    model = tmp_path / "model"
    _native.fit(json.dumps({"method": "exact", "out": str(model)}))
    found = reconstruct(model, attacked=40)
    assert isinstance(found, Disclosures) and len(found) == 1
    own = found["informed-adversary"]
    assert own.records == 40 and own.kind == "reconstruction"
    first = own.measures[0]
    assert first.attack.lower > 0.8 and first.baseline.value < 0.1 and first.difference.lower > 0.5
    assert "without the model" in repr(own)
    with pytest.raises(KeyError, match="informed-adversary"):
        found["other"]
    # What was found is part of the report of the model's audit.
    page = audit_model(model, references=0, records=400).report()
    assert "informed-adversary" in page.html
    assert page.findings["disclosures"][0]["name"] == "informed-adversary"
    with pytest.raises(errors.ReticentError, match="pictures"):
        audit_model(model, references=0, records=400).report(pictures=True)


def test_a_private_linear_model_does_not(tmp_path: Path) -> None:
    model = tmp_path / "model"
    _native.fit(json.dumps({"epsilon": 0.5, "method": "output", "out": str(model)}))
    first = reconstruct(model, attacked=40)["informed-adversary"].measures[0]
    assert first.attack.upper < 0.2


def test_two_releases(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps({"rows": 10, "sum": 100.0, "old": 1}))
    after.write_text(json.dumps({"rows": 11, "sum": 130.0, "new": 1}))
    found = difference(before, after)["release-difference"]
    shown = {measure.condition: measure.attack.value for measure in found.measures[1:]}
    assert shown == {"rows": 1.0, "sum": 30.0} and found.measures[0].attack.value == 1.0
    after.write_text("[]")
    with pytest.raises(errors.ReticentError, match="neither a released page"):
        difference(before, after)
    with pytest.raises(errors.ReticentError, match="two folders of models, or two files"):
        difference(before, tmp_path)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"batches": [0]}, "batches"),
        ({"batches": []}, "batches"),
        ({"batches": "1,4"}, "batches"),
        ({"epsilons": [0.0]}, "epsilons"),
        ({"epsilons": 3}, "epsilons"),
        ({"attacked": 0}, "attacked"),
        ({"delta": None}, "delta"),
        ({"confidence": 1.5}, "confidence"),
        ({"steps": 0}, "steps"),
        ({"shadows": -1}, "shadows"),
        ({"key": 3}, "key"),
        ({"model": 3}, "model"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, fields: dict[str, Any], named: str) -> None:
    with pytest.raises(errors.ReticentError) as refused:
        reconstruct(**{"model": tmp_path, **fields})
    assert refused.value.field == named
