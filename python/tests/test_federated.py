"""Parties that train together, and attacks on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reticent import train
from reticent.audit import audit_canaries, audit_federated
from reticent.errors import ReticentError

SCHEMA = """unit = "row"
[label]
column = "y"
categories = ["a", "b"]
[columns]
x = { bounds = [0, 1] }
z = { bounds = [0, 1] }
"""


def table(path: Path, seed: int, rows: int = 120) -> Path:
    """Rows with random labels."""
    rng = np.random.default_rng(seed)
    lines = [f"{rng.uniform()},{rng.uniform()},{rng.choice(['a', 'b'])}" for _ in range(rows)]
    path.write_text("\n".join(["x,z,y", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("federated")
    table(folder / "train.csv", 1)
    table(folder / "test.csv", 2)
    train.federated(
        "mlp",
        folder / "train.csv",
        schema=SCHEMA,
        validation=folder / "test.csv",
        parties=3,
        rounds=6,
        local_epochs=5,
        local_batch=8,
        learning_rate=0.3,
        non_private=True,
        out=folder / "run",
        threads=1,
    )
    return folder


def test_rounds_are_kept_and_observed(place: Path) -> None:
    assert len(list((place / "run" / "snapshots").iterdir())) == 6
    for observer in ("server", "party-2"):
        found = audit_federated(place / "run", observer=observer, rounds=[[1, 2], range(4, 7)], threads=1)
        assert [row.rounds for row in found.observed] == [[1, 2], [4, 5, 6]]
        assert all(row.accuracy.lower <= float(row.accuracy) <= row.accuracy.upper for row in found.observed)
        assert found.epsilon_lower is None and found.headline == "snapshot-loss"


def test_an_active_attacker_leaves_traces(place: Path) -> None:
    found = audit_federated(place / "run", active="ascent", rounds=[2, 3, 4, 5, 6], threads=1)
    assert found.headline == "gradient-ascent"
    first = found.trajectories[0]
    assert [line["label"] for line in first.lines] == ["members", "non-members"]
    assert len(first.at) == len(first.lines[0]["value"])
    assert any("could notice" in trajectory.about for trajectory in found.trajectories)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"observer": "party-9"}, "observer"),
        ({"victim": "nobody"}, "victim"),
        ({"rounds": [7]}, "rounds"),
        ({"rounds": 3}, "rounds"),
        ({"rate": 0.5}, "rate"),
        ({"active": "poison"}, "active"),
        ({"active": "isolate", "observer": "party-1"}, "active"),
    ],
)
def test_mistakes_are_named(place: Path, arguments: dict[str, object], field: str) -> None:
    with pytest.raises(ReticentError) as error:
        audit_federated(place / "run", **arguments)  # type: ignore[arg-type]
    assert error.value.field == field


def test_a_budget_protects_parties_or_records(tmp_path: Path) -> None:
    data = table(tmp_path / "train.csv", 3)
    common = {"schema": SCHEMA, "epsilon": 6, "delta": 1e-4, "rounds": 3, "threads": 1}
    parties = train.federated("mlp", data, parties=12, out=tmp_path / "parties", **common)
    assert parties.certificate is not None and parties.certificate.unit == "party"
    records = train.federated("logistic", data, parties=3, method="gradient", batch_size=60, **common)
    assert records.certificate is not None and records.certificate.unit == "row"
    found = audit_canaries(tmp_path / "parties", kind="dirac", canaries=60, confidence=0.999)
    assert found.comparison is not None and not found.comparison.contradiction
    for arguments, field in [
        ({"parties": 12, "unit": "record"}, "unit"),
        ({"parties": 1}, "split.parties"),
        ({"parties": 3, "by": "label", "skew": 2}, "split.skew"),
    ]:
        with pytest.raises(ReticentError) as error:
            train.federated("logistic", data, **arguments, **common)
        assert error.value.field == field
