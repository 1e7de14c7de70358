"""Compares independent and correlated noise without sampling, at equal (epsilon, delta), with Poisson sampling beside them.

    python3 bench/cyclic/run.py --reticent PATH --data FOLDER --jobs 2 --out results.json

PATH is the `reticent` command and FOLDER holds `mnist`. It needs Python 3 and nothing else. Every run is one `reticent train` of a linear
model on ScatterNet features, on one thread; accuracy is on the official test split. `--minutes N` starts no run after N minutes. Results
are written after every run, and runs in the file are not repeated, so a second call goes on.

    python3 bench/cyclic/run.py --page    writes the section of docs/benchmarks.md from bench/cyclic/results.json

All arms have the same model, clipping norm, batch size, epochs and momentum, and are run at the same two learning rates: the recipe's for
MNIST (0.8 / clipping norm), and a quarter of it. No choice is made between them: the page shows both. Nothing was tuned for it.
"""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EPSILON, DELTA, SIZE, BATCH, EPOCHS, CLIP = 3, 1e-5, 60000, 1000, 5, 0.1
RATES = [8, 2]
CYCLIC = ["--batching", "cyclic", "--bands"]
ARMS = {
    "cyclic, independent noise (1 band)": [*CYCLIC, 1],
    "cyclic, 4 bands": [*CYCLIC, 4],
    "cyclic, default bands (32)": CYCLIC[:2],
    "Poisson sampling": [],
}
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
QUANTILES = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571}
START, END = "<!-- cyclic: written by bench/cyclic/run.py -->", "<!-- cyclic: end -->"


def command(asked, arm, rate):
    """The training of one arm."""
    words = [asked.reticent, "train", Path(asked.data) / "mnist", "--model", "scatter-linear", "--augment", "none"]
    words += ["--epsilon", EPSILON, "--delta", DELTA, "--dataset-size", SIZE, "--epochs", EPOCHS]
    words += ["--batch-size", BATCH, "--clip", CLIP, "--lr", rate, "--momentum", 0.9, "--threads", 1]
    return [str(word) for word in [*words, *ARMS[arm], "--json"]]


def run(task, asked):
    """One training: its accuracy, epsilon, noise and time."""
    arm, rate, repetition = task
    begun = time.monotonic()
    done = subprocess.run(command(asked, arm, rate), capture_output=True, text=True, check=False)
    row = {"arm": arm, "rate": rate, "repetition": repetition, "seconds": round(time.monotonic() - begun, 1)}
    if done.returncode != 0:
        return row | {"error": (done.stderr or done.stdout).strip()[-500:]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return row | {
        "accuracy": found["accuracy"],
        "epsilon": found["certificate"]["epsilon"],
        "noise_multiplier": found["noise_multiplier"],
        "weights": found["weights"],
        "steps": found["steps"],
        "public": [fact for fact in found["certificate"]["public"] if "band" in fact],
    }


def summary(rows):
    """Mean accuracy of every arm at every rate, with half the width of its 95 % interval over repetitions."""
    table = {}
    for arm in ARMS:
        for rate in RATES:
            own = [row for row in rows if (row["arm"], row["rate"]) == (arm, rate) and "accuracy" in row]
            if not own:
                continue
            values = [100 * row["accuracy"] for row in own]
            half = None
            if len(values) > 1:
                half = QUANTILES.get(len(values) - 1, 2.0) * statistics.stdev(values) / math.sqrt(len(values))
            table.setdefault(arm, {})[str(rate)] = {
                "mean": round(statistics.fmean(values), 2),
                "half": None if half is None else round(half, 2),
                "runs": len(values),
                "noise_multiplier": own[0]["noise_multiplier"],
                "epsilon": max(row["epsilon"] for row in own),
            }
    return table


def machine():
    """Where it ran."""
    names = {
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    }
    return {
        "cpu": ", ".join(sorted(names)),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "date": datetime.date.today().isoformat(),
    }


def measure(asked):
    """Runs what is missing in the file of results."""
    known = json.loads(asked.out.read_text())["runs"] if asked.out.exists() else []
    rows = [row for row in known if "error" not in row]
    have = {(row["arm"], row["rate"], row["repetition"]) for row in rows}
    tasks = [(arm, rate, n) for n in range(asked.repetitions) for rate in RATES for arm in ARMS]
    tasks = [task for task in tasks if task not in have]
    deadline = time.monotonic() + 60 * asked.minutes if asked.minutes else math.inf
    lock = threading.Lock()

    def work(task):
        if time.monotonic() > deadline:
            return
        row = run(task, asked)
        with lock:
            rows.append(row)
            found = {"epsilon": EPSILON, "delta": DELTA, "machine": machine(), "summary": summary(rows)}
            asked.out.write_text(json.dumps(found | {"runs": rows}, indent=1) + "\n")
            print(json.dumps(row), flush=True)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(work, tasks))
    print(json.dumps(summary(rows), indent=1))


def section(results):
    """The section of the page."""
    found, where = results["summary"], results["machine"]
    lines = [
        "## Correlated noise without sampling",
        "",
        f"Test accuracy on MNIST in % at ε = {results['epsilon']}, δ = {results['delta']}: mean and 95 % interval over the runs in",
        f"brackets, at two learning rates. A linear model on ScatterNet features, {EPOCHS} epochs, batches of {BATCH}, clipping norm {CLIP},",
        "momentum 0.9, the same for all arms. 8 is the learning rate of the recipe for MNIST; nothing was tuned for this table. The noise",
        "multiplier is that of the noise before it is correlated.",
        f"{where['cpu']}, {where['cores']} cores, {where['date']}. Script: `bench/cyclic/run.py`.",
        "",
        "| batches and noise | noise multiplier | " + " | ".join(f"learning rate {rate}" for rate in RATES) + " |",
        "|---|---|" + "---|" * len(RATES),
    ]
    for arm, cells in found.items():
        shown = []
        for rate in RATES:
            own = cells.get(str(rate))
            interval = "" if own is None or own["half"] is None else f" ± {own['half']:.2f}"
            shown.append("–" if own is None else f"{own['mean']:.2f}{interval} [{own['runs']}]")
        multiplier = next(iter(cells.values()))["noise_multiplier"]
        lines.append(f"| {arm} | {multiplier:.3f} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="reticent", help="the command")
    parser.add_argument("--data", help="the folder with mnist")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    parser.add_argument("--minutes", type=float, help="start no run after so many minutes")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="write the section of the page")
    asked = parser.parse_args()
    if asked.page:
        sys.path.append(str(HERE.parent))
        import harness

        text = section(json.loads(asked.out.read_text()))
        harness.write_section(harness.ROOT / "docs", (START, END), text)
        print(text)
    elif asked.data is None:
        parser.error("give --data, the folder with mnist")
    else:
        measure(asked)


if __name__ == "__main__":
    main()
