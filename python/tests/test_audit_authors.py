"""Audits of language models by author, and planted secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reticent import _native
from reticent.audit import audit_model, plant_secrets
from reticent.errors import ReticentError


def texts(path: Path, first: int) -> Path:
    """Lines of six writers."""
    rows = [
        f"writer {first + writer},{chr(97 + (writer * 7 + sample + first) % 20) * 3} and so on"
        for writer in range(6)
        for sample in range(2)
    ]
    path.write_text("who,say\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authors")
    schema = folder / "schema.toml"
    schema.write_text('unit = { column = "who" }\n[columns]\n', encoding="utf-8")
    run = folder / "run"
    _native.train(
        json.dumps(
            {
                "data": str(texts(folder / "own.csv", 0)),
                "schema": str(schema),
                "text-column": "say",
                "tokens": "characters",
                "length": 16,
                "model": "lstm-lm",
                "non-private": True,
                "steps": 3,
                "out": str(run),
            }
        )
    )
    return run


def test_authors_are_the_rows_of_the_audit(model: Path, tmp_path: Path) -> None:
    others = texts(tmp_path / "others.csv", 40)
    found = audit_model(model, unit="who", non_members=others, references=4, out=tmp_path / "audit")
    assert found.authors is not None
    assert found.authors.authors == 12 and found.authors.samples == "trained-on"
    assert {attack.name for attack in found.attacks} >= {"author-loss", "author-lira-online"}
    assert found.epsilon_lower is None
    assert "writer" not in (tmp_path / "audit" / "audit.json").read_text(encoding="utf-8")
    with pytest.raises(ReticentError, match="unit"):
        audit_model(model, unit="speaker", non_members=others, references=0, out=tmp_path / "other")
    with pytest.raises(ReticentError, match="unit"):
        audit_model(model, unit=3, non_members=others)  # type: ignore[arg-type]


def test_secrets_are_ranked(model: Path, tmp_path: Path) -> None:
    found = plant_secrets(model, "pin {digits:2}", repetitions=[2], secrets=1, continuations=5, out=tmp_path / "a")
    own = found["secret-exposure"]
    assert own.records == 1 and own.measures[0].attack.value >= 0
    for format in ("no place", "pin {äö:2}"):
        with pytest.raises(ReticentError, match="format"):
            plant_secrets(model, format, out=tmp_path / "b")
    with pytest.raises(ReticentError, match="repetitions"):
        plant_secrets(model, repetitions="1,4", out=tmp_path / "b")  # type: ignore[arg-type]
