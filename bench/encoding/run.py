"""Compares Gaussian and Student-t noise, encoded gradients and denoising at equal (epsilon, delta).

    python3 bench/encoding/run.py --reticent PATH --data FOLDER --jobs 16 --out results.json

PATH is the `reticent` command and FOLDER holds `mnist`, `fashion_mnist` and `cifar10`. It needs Python 3 and nothing else. Every run is
one `reticent train` on one thread; accuracy is on the official test split. `--minutes N` starts no run after N minutes: the arms that
answer the question come first, one repetition of all after the other. Results are written after every run, and runs in the file are
not repeated, so a second call goes on.

    python3 bench/encoding/run.py --page    writes the section of docs/benchmarks.md from bench/encoding/results.json

Batch size, learning rate, clipping norm, momentum and activation are those of Tramer and Boneh (2021, table of end-to-end CNNs); gain
and degrees of freedom are those of Nasr, Shokri and Houmansadr (2020). Nothing was tuned. Epochs are fewer than published, for all arms
alike. `weighted` multiplies gradients by up to 5, so its learning rate is a fifth.
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
EPSILON, DELTA, CLIP = 3, 1e-5, 0.1
# What the command has where nothing else is given.
FREEDOM, GAIN = 9, 4
DATASETS = {
    "mnist": {"model": "cnn-mnist-tanh", "size": 60000, "epochs": 5, "batch": 512, "lr": 0.5},
    "fashion_mnist": {"model": "cnn-mnist-tanh", "size": 60000, "epochs": 5, "batch": 2048, "lr": 4},
    "cifar10": {"model": str(HERE / "cifar.toml"), "size": 50000, "epochs": 5, "batch": 1024, "lr": 1},
}
ENCODED = ["--clipping", "encoded"]
STUDENT = [*ENCODED, "--noise", "student-t"]
ARMS = {
    "Gaussian": [],
    "Gaussian, encoded": ENCODED,
    "Student-t, encoded": STUDENT,
    "Gaussian + james-stein": ["--denoise", "james-stein"],
    "Student-t, encoded + james-stein": [*STUDENT, "--denoise", "james-stein"],
    "Gaussian + weighted": ["--denoise", "weighted"],
    "Student-t, encoded + weighted": [*STUDENT, "--denoise", "weighted"],
    "Gaussian + wiener": ["--denoise", "wiener"],
    "Student-t, encoded + wiener": [*STUDENT, "--denoise", "wiener"],
}
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
QUANTILES = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
START, END = "<!-- encoding: written by bench/encoding/run.py -->", "<!-- encoding: end -->"


def command(reticent, data, dataset, arm, quick):
    """The training of one arm."""
    own = DATASETS[dataset]
    rate = own["lr"] / 5 if "weighted" in arm else own["lr"]
    words = [reticent, "train", str(Path(data) / dataset), "--model", own["model"], "--epsilon", EPSILON]
    words += ["--delta", DELTA, "--dataset-size", own["size"], "--epochs", 0.2 if quick else own["epochs"]]
    words += ["--batch-size", own["batch"], "--clip", CLIP, "--lr", rate, "--momentum", 0.9, "--threads", 1]
    return [str(word) for word in [*words, *ARMS[arm], "--json"]]


def run(task, asked):
    """One training: its accuracy, epsilon, noise and time."""
    dataset, arm, repetition = task
    words = command(asked.reticent, asked.data, dataset, arm, asked.quick)
    begun = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    row = {"dataset": dataset, "arm": arm, "repetition": repetition, "seconds": round(time.monotonic() - begun, 1)}
    if done.returncode != 0:
        return row | {"error": (done.stderr or done.stdout).strip()[-500:]}
    found = json.loads(done.stdout.strip().splitlines()[-1])
    certificate = found["certificate"]
    return row | {
        "accuracy": found["accuracy"],
        "epsilon": certificate["epsilon"],
        "noise_multiplier": found["noise_multiplier"],
        "weights": found["weights"],
        "steps": found["steps"],
    }


def summary(rows):
    """Mean accuracy of every arm, with half the width of its 95 % interval over repetitions."""
    table = {}
    for dataset in DATASETS:
        for arm in ARMS:
            own = [r for r in rows if (r["dataset"], r["arm"]) == (dataset, arm) and "accuracy" in r]
            if not own:
                continue
            values = [100 * row["accuracy"] for row in own]
            half = None
            if len(values) > 1:
                half = QUANTILES.get(len(values) - 1, 2.0) * statistics.stdev(values) / math.sqrt(len(values))
            table.setdefault(dataset, {})[arm] = {
                "mean": round(statistics.fmean(values), 2),
                "half": None if half is None else round(half, 2),
                "runs": len(values),
                "noise_multiplier": own[0]["noise_multiplier"],
                "epsilon": max(row["epsilon"] for row in own),
            }
    return table


def machine():
    """What the times depend on."""
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
    have = {(row["dataset"], row["arm"], row["repetition"]) for row in rows}
    names = asked.datasets or list(DATASETS)
    # The arms that answer the question come first.
    groups = [list(ARMS)[:5], list(ARMS)[5:]]
    tasks = [(d, arm, n) for arms in groups for n in range(asked.repetitions) for d in names for arm in arms]
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
    titles = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
    found, where = results["summary"], results["machine"]
    shown = [dataset for dataset in DATASETS if dataset in found]
    epochs = " or ".join(str(count) for count in sorted({DATASETS[dataset]["epochs"] for dataset in shown}))
    lines = [
        "## Encoded gradients, Student-t noise and denoising",
        "",
        f"Test accuracy in % at ε = {results['epsilon']}, δ = {results['delta']}: mean and 95 % interval over the runs in brackets, and",
        "the noise multiplier (σ or the scale of the t law over the clipping norm). Recipes are published ones, with fewer epochs; nothing was",
        f"tuned. All runs have {epochs} epochs and clipping norm {CLIP}, Student-t noise has {FREEDOM} degrees of freedom, encoded",
        f"gradients have gain {GAIN}, and rows with `weighted` have a fifth of the learning rate.",
        f"{where['cpu']}, {where['cores']} cores, {where['date']}; one thread a run. Script: `bench/encoding/run.py`.",
        "",
        "| noise | " + " | ".join(titles[dataset] for dataset in shown) + " |",
        "|---|" + "---|" * len(shown),
    ]
    for arm in ARMS:
        cells = []
        for dataset in shown:
            own = found[dataset].get(arm)
            interval = "" if own is None or own["half"] is None else f" ± {own['half']:.2f}"
            cells.append(
                "–"
                if own is None
                else f"{own['mean']:.2f}{interval} [{own['runs']}], {own['noise_multiplier']:.3f}"
            )
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reticent", default="reticent", help="the command")
    parser.add_argument("--data", help="the folder with the data sets")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at the same time")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    parser.add_argument("--minutes", type=float, help="start no run after so many minutes")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--datasets", nargs="*", choices=list(DATASETS))
    parser.add_argument("--quick", action="store_true", help="a fifth of an epoch, to try the script")
    parser.add_argument("--page", action="store_true", help="write the section of the page")
    asked = parser.parse_args()
    if asked.page:
        sys.path.append(str(HERE.parent))
        import harness

        text = section(json.loads(asked.out.read_text()))
        harness.write_section(harness.ROOT / "docs", (START, END), text)
        print(text)
    elif asked.data is None:
        parser.error("give --data, the folder with mnist, fashion_mnist and cifar10")
    else:
        measure(asked)


if __name__ == "__main__":
    main()
