"""Audits with gradients of any framework, and white-box audits of stored networks."""

import json

import numpy as np
import pytest

from reticent import _native
from reticent.audit import audit, audit_model
from reticent.errors import DataError, RequestError, ReticentError

RECORDS, MODELS = 400, 4


def study(gap=1.5):
    """Outputs that tell nothing, and gradients that are shorter for members."""
    rng = np.random.default_rng(3)
    level = rng.normal(size=(RECORDS, 1))

    def model():
        inside = rng.random(RECORDS) < 0.5
        norms = np.exp(level + rng.normal(size=(RECORDS, 3)) - gap * inside[:, None])
        return inside, rng.normal(size=(RECORDS, 2)), norms

    inside, logits, norms = map(
        np.stack, zip(*(model() for _ in range(1 + MODELS)), strict=True)
    )
    return {
        "member": inside[0],
        "target_logits": logits[0],
        "labels": np.arange(RECORDS) % 2,
        "reference_logits": logits[1:],
        "reference_members": inside[1:],
        "gradients": norms[0],
        "reference_gradients": norms[1:],
    }


def test_gradients_are_attacked_and_compared_with_predictions():
    found = audit(**study())
    assert [row.access for row in found.by_access] == ["predictions", "gradients"]
    without, with_weights = found.by_access
    assert without.auc.lower < 0.55 and with_weights.auc.lower > 0.7
    assert with_weights.balanced_accuracy.value > 0.7 and with_weights.attack in repr(
        with_weights
    )
    names = {attack.name for attack in found.attacks}
    assert {
        "gradient-norm",
        "lira-online-gradient",
        "rmia-online-gradient",
        "nasr-calibrated",
    } <= names
    assert "input-gradient-norm" not in names
    assert not audit(
        **{**study(), "gradients": None, "reference_gradients": None}
    ).by_access


def test_names_of_records_do_not_matter():
    given = study()
    texts = audit(
        **given,
        ids=[f"person {place}" for place in range(RECORDS)],
        attacks="gradient-norm",
    )
    assert texts.auc == pytest.approx(audit(**given, attacks="gradient-norm").auc)


def test_nothing_is_found_where_nothing_leaks():
    found = audit(**study(gap=0))
    assert all(abs(row.auc.value - 0.5) < 0.12 for row in found.by_access)


def test_a_mapping_has_more_than_norms():
    given = study()
    norms = given.pop("gradients")
    rng = np.random.default_rng(5)
    more = {"norms": norms, "input_norms": norms[:, 0], "cosines": rng.random(RECORDS)}
    more |= {
        "features": rng.normal(size=(RECORDS, 4)),
        "activations": rng.normal(size=(RECORDS, 5)),
    }
    del given["reference_gradients"]
    found = audit(**given, gradients=more)
    names = {attack.name for attack in found.attacks}
    assert {"input-gradient-norm", "gradient-cosine", "nasr-supervised"} <= names
    assert "nasr-calibrated" not in names


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"gradients": None}, RequestError, "gradients of the target"),
        ({"gradients": np.ones((RECORDS - 1, 3))}, DataError, "400"),
        ({"gradients": -np.ones((RECORDS, 3))}, DataError, "not negative"),
        ({"gradients": np.full((RECORDS, 3), np.nan)}, ReticentError, "gradients"),
        (
            {"gradients": {"norm": np.ones(RECORDS)}},
            RequestError,
            "mapping with 'norms'",
        ),
        (
            {
                "gradients": {
                    "norms": np.ones(RECORDS),
                    "cosines": np.ones((RECORDS, 2)),
                }
            },
            DataError,
            "cosines",
        ),
        (
            {"reference_gradients": np.ones((MODELS, RECORDS, 2))},
            ReticentError,
            "width",
        ),
        (
            {"reference_gradients": np.ones((MODELS + 1, RECORDS, 3))},
            DataError,
            "models × records",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes, error, words):
    with pytest.raises(error, match=words):
        audit(**{**study(), **changes})


def test_stored_networks_are_audited_with_their_weights(tmp_path):
    rng = np.random.default_rng(7)

    def table(name):
        lines = [
            f"{a:.3f},{b:.3f},{c:.3f},{'yes' if d < 0.5 else 'no'}"
            for a, b, c, d in rng.random((150, 4))
        ]
        rows = ["a,b,c,label", *lines]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
        return str(tmp_path / name)

    columns = "".join(f"{name} = {{ bounds = [0, 1] }}\n" for name in "abc")
    schema = tmp_path / "schema.toml"
    schema.write_text(
        f'unit = "row"\nlabel = {{ column = "label", positive = "yes" }}\n[columns]\n{columns}'
    )
    model = tmp_path / "model"
    asked = {
        "data": table("in.csv"),
        "schema": str(schema),
        "model": "mlp",
        "non-private": True,
    }
    _native.train(
        json.dumps({**asked, "epochs": 30, "batch-size": 10, "out": str(model)})
    )
    others = table("out.csv")
    found = audit_model(
        model,
        references=2,
        non_members=others,
        white_box=True,
        activations="1",
        progress=False,
    )
    assert [row.access for row in found.by_access][-1] == "gradients"
    with pytest.raises(ReticentError, match="white_box"):
        audit_model(model, references=0, non_members=others, activations=["1"])
    with pytest.raises(RequestError, match="white_box"):
        audit_model(model, references=0, non_members=others, white_box="yes")
