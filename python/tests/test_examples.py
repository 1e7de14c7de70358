"""The examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
TABLE = ROOT / "testdata" / "adult" / "adult.parquet"


@pytest.mark.parametrize(
    ("name", "argument", "printed"),
    [
        ("plan_a_training.py", None, "noise multiplier"),
        ("questions_within_a_budget.py", str(TABLE), "spent"),
        ("audit_scores.py", "out", "AUC"),
    ],
)
def test_an_example_runs(name: str, argument: str | None, printed: str, tmp_path: Path) -> None:
    words = [sys.executable, str(EXAMPLES / name), *([argument] if argument else [])]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout
