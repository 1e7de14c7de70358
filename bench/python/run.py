"""Measures the Python package beside OpenDP, diffprivlib, dp_accounting, prv_accountant and Opacus, in one run.

    python3 bench/python/run.py [--wheel PATH] [--repeats 5] [--limit 120] [--fits 20] [--peer-fits 5]
    python3 bench/python/run.py --quick [--python PATH] [--peer-python PATH] [--parts calls,epsilon]

Builds the wheel unless one is named, makes an environment with the wheel and the peers and one for diffprivlib, which
needs an older scikit-learn, then measures calls, ε, fits and imports. Writes `bench/python/results.json` and the Python
section of `docs/benchmarks.md`. `--python` and `--peer-python` name environments that are used as they are. A peer that
is missing is left out, and the results say so.

Adult is read from RETICENT_DATA, else from the shared data beside the repository, else from `testdata`, which has no
test part. With `--quick` or some of the parts it is a trial: the results go to `target/bench-python-trial.json`, the
page stays as it is, and nothing is built or installed.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
sys.path.append(str(HERE.parent / "accounting"))
import harness  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402

ROOT, TARGET = harness.ROOT, harness.TARGET
PARTS = ["calls", "epsilon", "fits", "imports"]
EPSILONS = [0.1, 0.5, 1.0, 3.0]
TIMEOUT = 3600  # seconds for a process
MEMORY_GIB = 16  # the most data a process may hold
SLOW_CALL = 10  # seconds; arrays for which a call of a peer would take longer are left out
IMPORTS = 10  # fresh interpreters for a module
# Module, and whether it lives in the environment of diffprivlib.
MODULES = {
    "reticent": False,
    "numpy": False,
    "reticent.mechanisms": False,
    "reticent.accounting": False,
    "reticent.models": False,
    "dp_accounting.pld": False,
    "prv_accountant": False,
    "opendp.prelude": False,
    "opacus.accountants": False,
    "diffprivlib": True,
}
# What is named in the results beside the pinned peers.
OLDER = ["diffprivlib", "scikit-learn", "numpy"]


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_GIB << 30, MEMORY_GIB << 30))


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def lines(python, *words):
    """The lines of a measuring process, and why it failed, if it did."""
    command = [str(python), str(HERE / "measure.py"), *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return [], f"Timeout: no answer within {TIMEOUT} s"
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == -signal.SIGPROF:
        return found, "limit"
    return found, last_line(done.stderr) if done.returncode else None


def say(text):
    print(text, file=sys.stderr, flush=True)


# Environments


def build(python):
    """The wheel, built for release."""
    folder = TARGET / "bench-python-wheel"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    command = [python, "-m", "maturin", "build", "--release", "--out", folder]
    subprocess.run(command, cwd=ROOT / "python", check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def environment(name, requirements):
    """An environment with the peers; those that cannot be installed are left out."""
    try:
        return harness.environment(name, requirements)
    except subprocess.CalledProcessError:
        python = TARGET / f"bench-{name}-venv" / "bin" / "python"
        for line in requirements.read_text().split():
            say(f"{name}: {line} alone")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", line])
        return python


def environments(asked):
    """The Python with the wheel, that of diffprivlib (None where there is none), and the wheel."""
    if asked.trial:
        return asked.python or Path(sys.executable), asked.peer_python, asked.wheel
    python, wheel = asked.python, asked.wheel
    if python is None:
        python = environment("python", HERE / "requirements.txt")
        wheel = wheel or build(python)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*install, "--force-reinstall", wheel], check=True)
    peer_python = asked.peer_python or environment("erm", HERE.parent / "erm" / "requirements.txt")
    return python, peer_python, wheel


def versions(python, names):
    """The versions of packages in an environment; packages that are missing are left out."""
    code = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True)
    return {} if done.returncode else json.loads(done.stdout)


def machine(python, peer_python, load):
    """What the figures depend on; `load` is what else was running when the run began."""
    pinned = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text().split()]
    found = versions(python, [name for name in pinned if name != "maturin"])
    reticent = subprocess.run(
        [python, "-c", "import reticent; print(reticent.__version__)"], capture_output=True, text=True
    )
    try:
        rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except OSError:
        rustc = "rustc unknown"
    return {
        "cpu": harness.processor(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "rustc": rustc,
        "python": found.pop("python", "unknown"),
        "versions": {"reticent": reticent.stdout.strip() or "missing", **found},
        "peer_versions": versions(peer_python, OLDER) if peer_python else {},
        "date": datetime.date.today().isoformat(),
        "load": load,
    }


# Measurements


def measured_calls(python, peer_python, asked, skipped):
    """Every library in turn, round after round; the median over the rounds of the medians."""
    seconds, largest = (0.02, 1_000) if asked.quick else (0.25, 1_000_000)
    limit = 0.2 if asked.quick else SLOW_CALL
    runs = {"reticent": python, "opendp": python, "diffprivlib": peer_python}
    if peer_python is None:
        skipped["calls/diffprivlib"] = "no environment: give --peer-python"
        del runs["diffprivlib"]
    found = {}
    for number in range(asked.repeats):
        for library, own in runs.items():
            say(f"calls, round {number + 1} of {asked.repeats}: {library}")
            rows, failure = lines(own, "calls", library, seconds, largest, limit)
            if failure:
                skipped[f"calls/{library}"] = failure
            for row in rows:
                found.setdefault((row["case"], library), []).append(row)
    for (case, library), rows in found.items():
        line = {"part": "calls", "case": case, "library": library, "items": rows[0]["items"]}
        timed = [row for row in rows if "call_s" in row]
        if not timed:
            yield {**line, "skipped": rows[0]["skipped"]}
            continue
        line |= {"call_s": statistics.median(row["call_s"] for row in timed)}
        yield {**line, "best_s": min(row["best_s"] for row in timed), "rounds": [row["call_s"] for row in timed]}


def measured_epsilon(python, asked):
    """Every method on every setting, each in a fresh process."""
    settings = ["B", "F"] if asked.quick else list(peers.SETTINGS)
    for setting in settings:
        for method in page.METHODS:
            say(f"ε: {setting}, {method}")
            repeats = 20 if method == "reticent" else 2
            rows, failure = lines(python, "epsilon", method, setting, 2 if asked.quick else repeats, asked.limit)
            row = rows[-1] if rows else {"method": method, "setting": setting}
            if failure == "limit":
                row["more_than_s"] = asked.limit
            elif failure:
                row["error"] = f"Exit: {failure}"
            yield {"part": "epsilon", **row}


def adult():
    """The training and test part of Adult; the same file twice where there is no test part."""
    places = [os.environ.get("RETICENT_DATA"), ROOT.parent / "shared" / "data"]
    for place in filter(None, places):
        train, test = (Path(place) / "adult" / f"adult_{part}.parquet" for part in ("train", "test"))
        if train.exists() and test.exists():
            return train, test
    return (ROOT / "testdata" / "adult" / "adult.parquet",) * 2


def measured_fits(python, peer_python, asked, skipped):
    """Fits of all estimators; scores are means, times medians over the fits."""
    epsilons = ",".join(map(str, [1.0] if asked.quick else EPSILONS))
    train, test = adult()
    runs = {"reticent": (python, asked.fits), "diffprivlib": (peer_python, asked.peer_fits)}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        _, failure = lines(python, "features", train, test, folder)
        if failure:
            skipped["fits"] = failure
            return
        for library, (own, fits) in runs.items():
            if own is None:
                skipped["fits/diffprivlib"] = "no environment: give --peer-python"
                continue
            say(f"fits: {library}")
            rows, failure = lines(own, "fits", library, folder, fits, epsilons)
            if failure:
                skipped[f"fits/{library}"] = failure
            for row in rows:
                key = tuple(row.get(name) for name in ("library", "model", "data", "epsilon", "C"))
                found.setdefault(key, []).append(row)
    for (library, model, data, epsilon, c), rows in found.items():
        scores = [row["score"] for row in rows]
        line = {"part": "fits", "library": library, "model": model, "data": data, "epsilon": epsilon, "C": c}
        line |= {"fits": len(rows), "score": statistics.mean(scores), "sd": statistics.pstdev(scores)}
        line["median_score"] = statistics.median(scores)
        line |= {"seconds": statistics.median(row["seconds"] for row in rows)}
        line |= {"method": rows[0].get("method"), "warned": any(row.get("warned") for row in rows)}
        yield line


def measured_imports(python, peer_python, asked, skipped):
    """Seconds of an import in a fresh interpreter, everything that it imports included."""
    for module, is_older in MODULES.items():
        own = peer_python if is_older else python
        if own is None:
            skipped[f"imports/{module}"] = "no environment: give --peer-python"
            continue
        say(f"import {module}")
        code = f"import time\nstart = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - start)"
        seconds = []
        # The first import writes bytecode and fills the file cache.
        for _ in range(1 + (1 if asked.quick else IMPORTS)):
            done = subprocess.run([own, "-W", "ignore", "-c", code], capture_output=True, text=True)
            if done.returncode:
                skipped[f"imports/{module}"] = last_line(done.stderr)
                break
            seconds.append(float(done.stdout.splitlines()[-1]))
        else:
            runs = seconds[1:]
            yield {"part": "imports", "module": module, "seconds": statistics.median(runs), "runs": runs}


def references():
    """What other benches found: the exact ε, and the accuracy of the same fits from Rust."""
    exact, erm = {}, {}
    for row in json.loads((HERE.parent / "accounting" / "results.json").read_text())["measurements"]:
        if row["method"] == "exact" and "upper" in row:
            exact[row["setting"]] = row["upper"]
    for row in json.loads((HERE.parent / "erm" / "results.json").read_text())["measurements"]:
        way = tuple(row[name] for name in ("data", "method", "neighboring", "delta"))
        if way == ("adult", "objective", "replace-one", 0.0):
            erm[str(row["epsilon"])] = {name: row[name] for name in ("accuracy", "sd", "fits")}
    return {"exact": exact, "erm": erm}


def some_of(known):
    """A parser of names with commas between them."""

    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name}: give some of {','.join(known)}")
        return names

    return parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="the wheel to install and weigh, instead of building one")
    parser.add_argument("--python", type=Path, help="an environment that has reticent and the peers")
    parser.add_argument("--peer-python", type=Path, help="an environment that has diffprivlib")
    parser.add_argument("--repeats", type=int, help="rounds of the calls; 5 unless given, 1 with --quick")
    parser.add_argument("--limit", type=float, help="seconds for one ε of a peer; 120 unless given, 3 with --quick")
    parser.add_argument("--fits", type=int, help="fits of ours for each ε; 20 unless given, 2 with --quick")
    parser.add_argument("--peer-fits", type=int, help="fits of diffprivlib for each ε and C; 5 unless given")
    parser.add_argument("--parts", type=some_of(PARTS), default=PARTS, help="some of " + ",".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="few and small cases, to see that everything runs")
    asked = parser.parse_args()
    for path in (asked.wheel, asked.python, asked.peer_python):
        if path is not None and not path.exists():
            parser.error(f"{path}: no such file")
    # A link to an interpreter is not followed: the environment belongs to the link.
    asked.python = asked.python and Path(os.path.abspath(asked.python))
    asked.peer_python = asked.peer_python and Path(os.path.abspath(asked.peer_python))
    asked.wheel = asked.wheel and asked.wheel.resolve()
    small = {"repeats": (5, 1), "limit": (120.0, 3.0), "fits": (20, 2), "peer_fits": (5, 1)}
    for name, (full, quick) in small.items():
        if getattr(asked, name) is None:
            setattr(asked, name, quick if asked.quick else full)
    asked.trial = asked.quick or asked.parts != PARTS
    return asked


def main():
    asked = arguments()
    python, peer_python, wheel = environments(asked)
    load, skipped, measurements = round(os.getloadavg()[0], 2), {}, []
    if "calls" in asked.parts:
        measurements += measured_calls(python, peer_python, asked, skipped)
    if "epsilon" in asked.parts:
        measurements += measured_epsilon(python, asked)
    if "fits" in asked.parts:
        measurements += measured_fits(python, peer_python, asked, skipped)
    if "imports" in asked.parts:
        measurements += measured_imports(python, peer_python, asked, skipped)
    results = {
        "machine": machine(python, peer_python, load),
        "quick": asked.quick,
        "repeats": asked.repeats,
        "limit_s": asked.limit,
        "slow_call_s": SLOW_CALL,
        "memory_gib": MEMORY_GIB,
        "settings": peers.SETTINGS,
        "has_test_part": len(set(adult())) == 2,
        "references": references(),
        "skipped": skipped,
        "wheel_bytes": wheel.stat().st_size if wheel else None,
        "measurements": measurements,
    }
    results["targets"] = page.targets(results)
    path = TARGET / "bench-python-trial.json" if asked.trial else HERE / "results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    if not asked.trial:
        page.write(ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
