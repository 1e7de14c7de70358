"""Times our samplers beside the peers, in one run, and writes the results down.

    python3 bench/noise/run.py [--repeats 5]

Builds the Rust binary, makes an environment with the peers if this Python lacks them, then runs
every library in turn, `--repeats` times over. Writes `bench/noise/results.json` and the Noise
section of `docs/benchmarks.md`.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path

import page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = ROOT / "target" / "bench-venv"
PEERS = ["opendp", "diffprivlib", "numpy", "torch"]


def ensure_peers():
    """Starts again in an environment of its own when a pinned peer is missing here."""
    pinned = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text().split()]
    if all(installed(name) for name in pinned):
        return
    python = ENVIRONMENT / "bin" / "python"
    if Path(sys.executable) == python:
        sys.exit("the environment in target/bench-venv is incomplete: delete it and run again")
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    requirements = HERE / "requirements.txt"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", requirements], check=True)
    os.execv(python, [str(python), *sys.argv])


def installed(name):
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


def build():
    """The path of the binary, built for release."""
    command = ["cargo", "build", "--release", "-p", "reticent-bench-noise"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "reticent-bench-noise"


def commands(binary):
    """How to run each library, and why some cannot run."""
    runs, skipped = {"reticent": [binary]}, {}
    for peer in PEERS:
        if importlib.util.find_spec(peer) is None:
            skipped[peer] = "not installed"
        else:
            runs[peer] = [sys.executable, HERE / "peers.py", peer]
    return runs, skipped


def measurements(runs, repeats):
    """Every library in turn, `repeats` times: case and library to the list of what was measured."""
    found = {}
    for repeat in range(repeats):
        for library, command in runs.items():
            print(f"repeat {repeat + 1} of {repeats}: {library}", file=sys.stderr)
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for line in map(json.loads, output.splitlines()):
                found.setdefault((line["case"], line["library"]), []).append(line)
    return found


def summary(case, library, lines):
    """Median and best of the repeats."""

    def both(values, best):
        return {"median": statistics.median(values), "best": best(values)}

    items = lines[0]["items_per_call"]
    done = [line["calls"] * items for line in lines]
    return {
        "case": case,
        "library": library,
        "items_per_call": items,
        "per_cpu_second": both([n / line["cpu_s"] for n, line in zip(done, lines)], max),
        "per_second": both([n / line["wall_s"] for n, line in zip(done, lines)], max),
        "call_s": {
            "median": statistics.median(line["wall_s"] / line["calls"] for line in lines),
            "best": min(line["best_call_s"] for line in lines),
        },
        "repeats": [{key: line[key] for key in ("calls", "wall_s", "cpu_s", "best_call_s")} for line in lines],
    }


def machine(load):
    """What the figures depend on; `load` is what else was running when the run began."""
    peers = ["opendp", "diffprivlib", "scikit-learn", "numpy", "scipy", "torch"]
    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "rustc": rustc.stdout.strip(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in peers if installed(name)},
        "date": datetime.date.today().isoformat(),
        "load": load,
    }


def cpu_model():
    """The model, and the widest vector instructions where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    fields = dict(line.split("\t", 1) for line in lines if "\t" in line)
    fields = {key: value.strip("\t: ") for key, value in fields.items()}
    flags = fields.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2") if flag in flags), "no avx2")
    return f"{fields.get('model name', platform.processor())}, family {fields.get('cpu family')}, {widest}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    ensure_peers()
    runs, skipped = commands(build())
    load = round(os.getloadavg()[0], 2)
    found = measurements(runs, arguments.repeats)
    results = {
        "machine": machine(load),
        "repeats": arguments.repeats,
        "skipped": skipped,
        "measurements": [summary(case, library, lines) for (case, library), lines in found.items()],
    }
    results["targets"] = page.targets(results)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    page.write(ROOT / "docs" / "benchmarks.md", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
