"""Measures defences against membership inference, and writes the page of the results.

    RETICENT_DATA=FOLDER python3 bench/defences/run.py [--threads N] [--quick]

FOLDER holds `location30`, `fashion_mnist` and `adult`. λ of adversarial training is chosen with models of the key `tuning`; every
figure is of models of the key `judged`. The binary needs nothing else, so it can run on another machine:

    bench-defences FOLDER --out results.json --threads 16

and `run.py --results FILE` makes the page of what it wrote. With `--quick` everything is small, and the results go to
`target/bench-defences-trial.json`.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import harness  # noqa: E402
import page  # noqa: E402


def machine():
    """What the figures depend on."""
    rustc = subprocess.run(["rustc", "--version"], cwd=harness.ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return {
        "cpu": harness.processor(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "rustc": rustc.stdout.strip(),
        "date": datetime.date.today().isoformat(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, help="results of a run elsewhere")
    parser.add_argument("--where", help="the machine of these results, in words")
    asked = parser.parse_args()
    path = harness.TARGET / "bench-defences-trial.json" if asked.quick else HERE / "results.json"
    if asked.results:
        results = json.loads(asked.results.read_text()) | {"machine": {"where": asked.where or "another machine"}}
    else:
        if "RETICENT_DATA" not in os.environ:
            parser.error("set RETICENT_DATA to the folder that holds the data")
        subprocess.run(["cargo", "build", "--release", "-p", "reticent-bench-defences"], cwd=harness.ROOT, check=True)
        command = [harness.TARGET / "release" / "bench-defences", os.environ["RETICENT_DATA"], "--out", path]
        command += ["--threads", asked.threads, *(["--quick", "--targets", "2"] if asked.quick else [])]
        subprocess.run([str(word) for word in command], check=True)
        results = json.loads(path.read_text()) | {"machine": machine()}
    path.write_text(json.dumps(results, indent=1) + "\n")
    if not asked.quick:
        page.write(harness.ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
