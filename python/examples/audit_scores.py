"""Audits scores that a membership attack gave to records, and writes the report.

    python3 audit_scores.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from reticent.audit import audit, coins


def main(folder: Path) -> None:
    """Tosses who is a member, makes up scores that leak a little, and audits them."""
    member = coins(4000)
    scores = np.random.default_rng(0).normal(size=4000) + 0.7 * member
    found = audit(scores, member, drawn=0.5)
    print(found)
    folder.mkdir(parents=True, exist_ok=True)
    found.report(folder / "report.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
