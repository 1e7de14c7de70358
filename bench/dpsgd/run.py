"""Times private training steps beside plain ones, PyTorch and Opacus, in one go, and writes the results down.

    python3 bench/dpsgd/run.py [--rounds 3] [--models mlp,lstm] [--modes private,plain,torch] [--quick]

Builds the bench, makes an environment with the peers, then runs every mode of every network, each in a fresh process,
one at a time, back to back, round after round. Writes `bench/dpsgd/results.json`, the Private training section of
`docs/benchmarks.md` and `docs/dpsgd-bench.svg`. With `--quick` or a part of the networks or modes it is a trial: the
results go to `target/bench-dpsgd-trial.json`, and the page stays as it is.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import page  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
THREADS = 2
TIMEOUT = 900  # seconds for one process
# Makes glibc hold on to freed memory instead of giving it back to the system.
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1000000000000"}


def build():
    """The path of our binary, built for release."""
    subprocess.run(["cargo", "build", "--release", "-p", "reticent-bench-dpsgd"], cwd=ROOT, check=True)
    return TARGET / "release" / "bench-dpsgd"


def measured(command, model, mode, limits):
    """What one fresh process says of one network in one mode; `mode` may end in `_kept`."""
    ask = mode.removesuffix("_kept")
    settings = {name: value for name, value in os.environ.items() if name not in KEPT}
    settings |= {"OMP_NUM_THREADS": str(THREADS), "PYTHONWARNINGS": "ignore"}
    settings |= KEPT if ask != mode else {}
    asked = [*command, model, ask, "--threads", THREADS, *limits]
    try:
        done = subprocess.run(
            [str(word) for word in asked], capture_output=True, text=True, timeout=TIMEOUT, env=settings
        )
    except subprocess.TimeoutExpired:
        return {"model": model, "mode": mode, "error": f"no answer within {TIMEOUT} s"}
    if done.returncode:
        message = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"model": model, "mode": mode, "error": f"status {done.returncode}: {message}"}
    return {**json.loads(done.stdout), "mode": mode}


def measurements(binary, python, asked):
    """Every mode of a network back to back, all networks, round after round."""
    limits = ["--seconds", 0.3, "--least-steps", 2] if asked.quick else ["--seconds", 2.5, "--least-steps", 8]
    for number in range(asked.rounds):
        for model in asked.models:
            for mode in asked.modes:
                command = [binary] if mode in page.OURS else [python, HERE / "peers.py"]
                row = {"round": number, **measured(command, model, mode, limits)}
                shown = row.get("error") or f"{row['examples_per_s']:,.0f} examples/s, {row['peak_mb']:,.0f} MB"
                print(f"round {number + 1} of {asked.rounds}: {model} {mode}: {shown}", file=sys.stderr, flush=True)
                yield row


def machine(python, load):
    """What the figures depend on; `load` is what else was running when the run began."""
    pinned = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text().split()]
    code = f"import importlib.metadata as m; print(*[m.version(n) for n in {pinned!r}])"
    found = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return {
        "cpu": harness.processor(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "rustc": rustc.stdout.strip(),
        "python": platform.python_version(),
        "versions": dict(zip(pinned, found)),
        "date": datetime.date.today().isoformat(),
        "load": load,
    }


def listed(known):
    """A parser of names with commas between them."""

    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name}: give some of {','.join(known)}")
        return names

    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="3 unless given; 1 with --quick")
    parser.add_argument("--models", type=listed(page.MODELS), default=list(page.MODELS))
    parser.add_argument("--modes", type=listed(page.MODES), default=list(page.MODES))
    parser.add_argument("--quick", action="store_true", help="a few steps each, to see that everything runs")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (1 if asked.quick else 3)
    python = harness.environment("dpsgd", HERE / "requirements.txt")
    binary = build() if set(asked.modes) & set(page.OURS) else None
    load = round(os.getloadavg()[0], 2)
    results = {"machine": machine(python, load), "rounds": asked.rounds, "threads": THREADS}
    results["measurements"] = list(measurements(binary, python, asked))
    results["ratios"] = page.ratios(results)
    results["targets"] = page.targets(results)
    trial = asked.quick or len(asked.models) < len(page.MODELS) or len(asked.modes) < len(page.MODES)
    path = TARGET / "bench-dpsgd-trial.json" if trial else HERE / "results.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    if not trial:
        page.write(ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
