"""The Python blocks of the documentation run, in order, in a folder like a reader's."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "docs/python.md",
    "docs/how-to/budgets.md",
    "docs/how-to/tune-with-its-cost.md",
    "python/README.md",
]


def blocks(page: str) -> list[str]:
    """The Python blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pyarrow")
    os.symlink(ROOT / "testdata", tmp_path / "testdata")
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found, f"{page} has no Python"
    names: dict[str, object] = {"__name__": "page"}
    for block in found:
        exec(compile(block, page, "exec"), names)
