"""Attribute inference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reticent import _native, errors
from reticent.audit import Disclosures, audit_model, infer_attribute


def test_only_the_difference_from_imputation_counts(tmp_path: Path) -> None:
    model = tmp_path / "model"
    _native.fit(json.dumps({"epsilon": 1.0, "out": str(model)}))
    found = infer_attribute(model, "sex", records=600, references=1, confidence=0.9999)
    assert isinstance(found, Disclosures) and len(found) == 2
    own = found["attribute-calibrated-sex"]
    assert own.kind == "attribute-inference" and own.records == 600
    members, others, apart = own.measures
    # Sex follows from other columns, and the model adds nothing.
    assert members.attack.value > 0.7 and members.baseline.value > 0.7
    assert members.difference.lower <= 0 <= members.difference.upper
    assert apart.attack.lower <= 0 <= apart.attack.upper
    bound = own.to_dict()["bound"]
    assert bound["prior"] == others.attack.upper < bound["success"] <= 1
    page = audit_model(model, references=0, records=400).report()
    assert "attribute-calibrated-sex" in page.html


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"column": "age"}, "column"),
        ({"column": "colour"}, "column"),
        ({"column": ""}, "column"),
        ({"column": 3}, "column"),
        ({"records": 1}, "records"),
        ({"confidence": 2.0}, "confidence"),
        ({"references": -1}, "references"),
    ],
)
def test_refusals_name_the_argument(tmp_path: Path, fields: dict[str, Any], named: str) -> None:
    model = tmp_path / "model"
    _native.fit(json.dumps({"epsilon": 1.0, "out": str(model)}))
    with pytest.raises(errors.ReticentError) as refused:
        infer_attribute(**{"model": model, "column": "sex", **fields})
    assert refused.value.field == named
