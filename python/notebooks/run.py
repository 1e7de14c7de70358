"""Runs the notebooks of this folder from top to bottom, each in an empty folder below the repository's target folder.

    python3 run.py [NOTEBOOK ...]

With RETICENT_QUICK=1 they run at small sizes.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Runs all notebooks, or those named."""
    named = [Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb"))
    for path in named:
        place = HERE.parents[1] / "target" / "notebooks" / path.stem
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        start = time.monotonic()
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(place)}})
        client.execute()
        nbformat.write(notebook, place / path.name)
        print(f"ran {path.name} in {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
