"""The tour, in its quick variant."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import reticent
from reticent import errors


def test_the_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    began = time.monotonic()
    found = reticent.demo(folder, quick=True)
    assert time.monotonic() - began < 30
    told = capsys.readouterr().out
    for part in ("1  A private", "2  A private model", "3  What it costs", "4  Who was", "5  The report"):
        assert part in told
    assert max(map(len, told.splitlines())) <= 110
    assert 17 <= found.statistic["value"] <= 90 and found.statistic["epsilon"] == 0.1
    assert found.logistic["certificate"]["epsilon"] == 1 and found.logistic["accuracy"] > 0.7
    assert 5 < found.accountants["pld"] <= found.accountants["rdp"] < found.accountants["basic"]
    overfitted = found.audits["overfitted"]
    assert overfitted["auc"] > 0.75 and overfitted["epsilon_lower"]["value"] > 0.5
    page = Path(found.report).read_text(encoding="utf-8")
    assert overfitted["headline"] in page and "overfitted" in page
    assert "demo" in repr(found).lower() and json.loads((folder / "demo.json").read_text())["finished"]
    # It starts over in its own folder, and leaves what others put there.
    (folder / "notes.txt").write_text("mine")
    assert reticent._demo._taken(folder) == folder  # type: ignore[attr-defined]
    assert {path.name for path in folder.iterdir()} == {"demo.json", "data", "notes.txt"}


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path, tmp_path / "file", 3):
        with pytest.raises(errors.DataError) as caught:
            reticent.demo(folder, quick=True)  # type: ignore[arg-type]
        assert caught.value.field == "folder" and caught.value.code == "R304"
    assert (tmp_path / "file").read_text() == "mine"
