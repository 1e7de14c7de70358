"""Trains with the defaults of `reticent train mnist|fashion-mnist|cifar10`, several times each, and stores test accuracy and time.

    python3 bench/frontier/run.py --reticent target/release/reticent --data DATA --out bench/frontier/results.json
        [--runs 5] [--device cuda] [--only mnist,cifar10] [--minutes 10]

DATA is the folder that RETICENT_DATA names. Runs are added to what `--out` already has, so a benchmark may be made in
pieces and on several machines: every run says where it was made. No setting is chosen here. Then

    python3 bench/frontier/page.py

writes the section of `docs/benchmarks.md`.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

SIZES = {"mnist": 60000, "fashion-mnist": 60000, "cifar10": 50000}
EPSILON, DELTA = 3, 1e-5


def where(device):
    """The machine and what computes."""
    found = {"cpu": harness.processor(), "cores": os.cpu_count(), "os": platform.system(), "device": device}
    if device == "cuda":
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        found["gpu"] = subprocess.run(query, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return found


def one(asked, name, environment, folder):
    """One training with the defaults, and its accuracy on the test set."""
    out = Path(folder) / "run"
    command = [asked.reticent, "train", name, "--epsilon", str(EPSILON), "--delta", str(DELTA)]
    command += ["--dataset-size", str(SIZES[name]), "--device", asked.device, "--out", str(out), "--json"]
    begun = time.monotonic()
    trained = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = time.monotonic() - begun
    if trained.returncode:
        raise SystemExit(f"{' '.join(command)}\n{trained.stderr}")
    command = [asked.reticent, "evaluate", str(out), name, "--device", asked.device, "--json"]
    tested = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    certificate = json.loads((out / "certificate.json").read_text())
    return {
        "data": name,
        "accuracy": 100 * json.loads(tested.stdout)["accuracy"],
        "epsilon": certificate["epsilon"],
        "delta": certificate["delta"],
        "seconds": round(seconds, 1),
        "run": (out / "run.toml").read_text(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default=",".join(SIZES))
    parser.add_argument("--minutes", type=float, default=1e9)
    asked = parser.parse_args()
    out, begun = Path(asked.out), time.monotonic()
    results = json.loads(out.read_text()) if out.exists() else {"runs": []}
    environment = {**os.environ, "RETICENT_DATA": asked.data, "RETICENT_QUIET": "1"}
    for name in asked.only.split(","):
        for number in range(asked.runs):
            if time.monotonic() - begun > 60 * asked.minutes:
                print(f"{name}: {number} runs, out of time", file=sys.stderr)
                break
            with tempfile.TemporaryDirectory() as folder:
                found = one(asked, name, environment, folder)
            found |= {"where": where(asked.device), "date": datetime.date.today().isoformat()}
            results["runs"].append(found)
            out.write_text(json.dumps(results, indent=1) + "\n")
            print(f"{name}: {found['accuracy']:.2f} % in {found['seconds']} s", file=sys.stderr)


if __name__ == "__main__":
    main()
