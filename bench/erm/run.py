"""Measures private linear models beside diffprivlib and scikit-learn, in one run, and writes the results down.

    RETICENT_DATA=FOLDER python3 bench/erm/run.py [--seeds 20] [--kdd-seeds 5] [--peer-seeds 20] [--kdd-peer-seeds 2] \\
        [--tail-fits 100]
    RETICENT_DATA=FOLDER python3 bench/erm/run.py --only-tails [--tail-fits 100]

FOLDER holds `adult` (official parts) and `kddcup99_10pct`. Builds the bench, makes an environment with the peers, fits
everything on the same features, and writes `bench/erm/results.json`, the Linear models section of `docs/benchmarks.md`
and `docs/erm-bench.svg`.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import page  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
GRIDS = {"adult": "0.001,0.01,0.1,1,10", "kdd": "0.01,1"}


def lines(command):
    """The JSON lines that a command prints."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def summarised(fits):
    """Mean, spread and median time of the fits of every setting."""
    groups = {}
    for fit in fits:
        key = tuple(fit.get(name) for name in ("data", "method", "neighboring", "epsilon", "delta", "C"))
        groups.setdefault(key, []).append(fit)
    rows = []
    for (data, method, neighboring, epsilon, delta, c), found in groups.items():
        accuracy = [fit["accuracy"] for fit in found]
        row = {"data": data, "method": method, "neighboring": neighboring, "epsilon": epsilon, "delta": delta, "C": c}
        row |= {"fits": len(found), "accuracy": statistics.mean(accuracy), "sd": statistics.pstdev(accuracy)}
        row |= {"worst": min(accuracy)}
        row |= {"seconds": statistics.median(fit["seconds"] for fit in found)}
        row |= {"majority": found[0].get("majority"), "warned": any(fit.get("warned") for fit in found)}
        rows.append(row)
    return rows


# Data and method of the fits that are made often at one epsilon, to see the worst of them.
TAILS = [(data, method) for data in ("adult", "kdd") for method in ("objective", "output", "gradient")]
TAIL_EPSILON = "1"


def tails(binary, fits):
    """Mean, spread and worst of many fits; a descent on KDDCup99 takes seconds, so a tenth of them is made."""
    rows = []
    for data, method in TAILS:
        count = max(fits // 10, 1) if (data, method) == ("kdd", "gradient") else fits
        print(f"{data}: worst of {count}, {method}", file=sys.stderr, flush=True)
        rows += summarised(lines([binary, "tail", data, method, TAIL_EPSILON, str(count)]))
    return rows


def versions(python):
    names = ["diffprivlib", "scikit-learn", "numpy", "scipy"]
    code = f"import importlib.metadata as m; print(*[m.version(n) for n in {names!r}])"
    found = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return dict(zip(names, found))


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kdd-seeds", type=int, default=5)
    parser.add_argument("--peer-seeds", type=int, default=20)
    parser.add_argument("--kdd-peer-seeds", type=int, default=2)
    parser.add_argument("--tail-fits", type=int, default=100)
    parser.add_argument("--only-tails", action="store_true")
    asked = parser.parse_args()
    if not os.environ.get("RETICENT_DATA"):
        sys.exit("set RETICENT_DATA to the folder that holds adult and kddcup99_10pct")
    subprocess.run(["cargo", "build", "--release", "-p", "reticent-bench-erm"], cwd=ROOT, check=True)
    binary = TARGET / "release" / "reticent-bench-erm"
    if asked.only_tails:
        results = json.loads((HERE / "results.json").read_text()) | {"tails": tails(binary, asked.tail_fits)}
        return keep(results)
    python = harness.environment("erm", HERE / "requirements.txt")
    load, fits = f"{os.getloadavg()[0]:.2f}", []
    for name, seeds, peer_seeds in (
        ("adult", asked.seeds, asked.peer_seeds),
        ("kdd", asked.kdd_seeds, asked.kdd_peer_seeds),
    ):
        print(f"{name}: ours", file=sys.stderr, flush=True)
        fits += lines([binary, "fits", name, str(seeds)])
        with tempfile.TemporaryDirectory(dir=TARGET) as folder:
            subprocess.run([binary, "features", name, folder], check=True)
            print(f"{name}: peers", file=sys.stderr, flush=True)
            fits += lines([python, HERE / "peers.py", folder, name, str(peer_seeds), GRIDS[name]])
    rustc = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    results = {
        "machine": {
            "cpu": processor(),
            "cores": os.cpu_count(),
            "os": f"{platform.system()} {platform.release()}",
            "rustc": rustc,
            "python": platform.python_version(),
            "versions": versions(python),
            "date": datetime.date.today().isoformat(),
            "load": load,
        },
        "measurements": summarised(fits),
        "tails": tails(binary, asked.tail_fits),
    }
    keep(results)


def keep(results):
    """Writes the results and the page."""
    results["targets"] = page.targets(results)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    page.write(ROOT / "docs", results)


if __name__ == "__main__":
    main()
