"""The examples for PyTorch run, and the one that is killed goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "torch"


def ran(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize(
    ("name", "epochs"), [("image_cnn.py", "2"), ("char_lstm.py", "2"), ("transformer_lora.py", "2")]
)
def test_an_example_runs(name: str, epochs: str) -> None:
    done = ran(name, "--epochs", epochs)
    assert done.returncode == 0, done.stderr
    assert "held-out accuracy" in done.stdout and "ε ≤" in done.stdout


def test_several_processes_run() -> None:
    script = str(EXAMPLES / "several_processes.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script, "--epochs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("held-out accuracy") == 1 and "ε ≤" in done.stdout


def test_the_page_runs(tmp_path: Path) -> None:
    page = EXAMPLES.parents[1] / "docs" / "how-to" / "fine-tune-a-pytorch-model.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2 and all(len(line) <= 80 for block in blocks for line in block.splitlines())
    command = [sys.executable, "-c", "\n".join(blocks)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    first = ran("resume.py", str(tmp_path), "--die", "7")
    assert first.returncode == -9, first.stderr
    second = ran("resume.py", str(tmp_path))
    assert second.returncode == 0, second.stderr
    assert "goes on" in second.stdout and "done: 20 steps" in second.stdout and "ε ≤ 3" in second.stdout
