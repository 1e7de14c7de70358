"""Runs the same audit here and in PyTorch, in one go, tells the story of one model, and writes the results down.

    RETICENT_DATA=FOLDER python3 bench/audit/run.py [--rounds 3] [--quick]

FOLDER holds `location30`. Builds the bench, makes an environment with the peer, then runs ours and both ways of the peer
in turn, round after round. Writes `bench/audit/results.json`, the Audit section of `docs/benchmarks.md` and
`docs/audit-bench.svg`. With `--quick` it is a trial with few models: the results go to `target/bench-audit-trial.json`.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import harness  # noqa: E402
import page  # noqa: E402


def said(command):
    """The one line of JSON that a command prints."""
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def build():
    """The path of our binary, built for release."""
    subprocess.run(["cargo", "build", "--release", "-p", "reticent-bench-audit"], cwd=harness.ROOT, check=True)
    return harness.TARGET / "release" / "bench-audit"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="few models and passes, to see that everything runs")
    asked = parser.parse_args()
    if "RETICENT_DATA" not in os.environ:
        parser.error("set RETICENT_DATA to the folder that holds location30")
    folder = Path(os.environ["RETICENT_DATA"]) / "location30"
    requirements = HERE / "requirements.txt"
    python, binary = harness.environment("audit", requirements), build()
    results = {"machine": harness.machine(python, requirements), "rounds": [], "quick": asked.quick}
    size = ["--models", 12, "--epochs", 5] if asked.quick else []
    for number in range(1 if asked.quick else asked.rounds):
        row = {"ours": said([binary, "audit", folder, *size])}
        for mode in ("usual", "fused"):
            row[mode] = said([python, HERE / "peer.py", folder, mode, *size])
        results["rounds"].append(row)
        shown = {mode: round(found["seconds"], 2) for mode, found in row.items()}
        print(f"round {number + 1}: {shown}", file=sys.stderr, flush=True)
    results["rmia"] = said([binary, "rmia"])
    results["overfitting"] = said([binary, "overfitting", folder])
    results["story"] = said([binary, "story", folder, *(["--references", 10] if asked.quick else [])])
    path = harness.TARGET / "bench-audit-trial.json" if asked.quick else HERE / "results.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    if not asked.quick:
        page.write(harness.ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
