"""Measures our accountant beside the peers, in one run, and writes the results down.

    python3 bench/accounting/run.py [--repeats 15] [--peer-repeats 3] [--binary PATH]

Builds the command unless a binary is named, makes an environment with the peers, computes the exact
values, then asks every method for every setting. Writes `bench/accounting/results.json`, the
Accounting section of `docs/benchmarks.md` and `docs/accounting-bench.svg`.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import page  # noqa: E402
import peers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TIMEOUT = 180  # seconds for a measurement, start and imports of a peer included
MEMORY_GIB = 16  # the most data a peer may hold

# Runs a command again and again from a process that is small itself, because the system counts what the
# starting process holds as memory of the one that it starts. A line per run: wall s, CPU s, MB, status.
SPAWN = """
import os, sys, time
repeats, output, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
for _ in range(repeats):
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.execv(command[0], command)
    _, status, used = os.wait4(child, 0)
    print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status)
"""


def build():
    """The path of the command, built for release."""
    subprocess.run(["cargo", "build", "--release", "-p", "reticent-cli"], cwd=ROOT, check=True)
    return TARGET / "release" / "reticent"


def ask_peer(python, method, setting):
    """What one fresh process says of one method on one setting."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_GIB << 30, MEMORY_GIB << 30))

    command = [python, HERE / "peers.py", method, setting]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"Timeout: no answer within {TIMEOUT} s"}
    if done.returncode:
        return {"error": f"Exit: status {done.returncode}, {last_line(done.stderr)}"}
    return json.loads(done.stdout)


def peer(python, method, setting, repeats):
    """The answer of a peer, with the median of the times and the most memory of its runs."""
    runs = [ask_peer(python, method, setting)]
    while "error" not in runs[-1] and len(runs) < repeats:
        runs.append(ask_peer(python, method, setting))
    return {"method": method, "setting": setting, **summary(runs)}


def summary(runs):
    line = dict(runs[-1])
    if "error" not in line:
        line.update({key: statistics.median(run[key] for run in runs) for key in ("wall_s", "cpu_s")})
        line["peak_mb"] = max(run["peak_mb"] for run in runs)
        line["runs"] = [{key: run[key] for key in ("wall_s", "cpu_s", "peak_mb")} for run in runs]
    return line


def ours(binary, setting, repeats, folder):
    """The answer of our command, as a whole process."""
    arguments = [*question(setting, folder), "--json"]
    shown = " ".join(["reticent", *arguments]).replace(f"{folder}/", "")
    output = folder / "answer.json"
    spawn = [sys.executable, "-I", "-S", "-c", SPAWN, str(repeats), output, binary, *arguments]
    line = {"method": "reticent", "setting": setting, "command": shown}
    try:
        done = subprocess.run(spawn, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return {**line, "error": f"Timeout: {repeats} runs took more than {TIMEOUT} s"}
    rows = [[float(field) for field in row.split()] for row in done.stdout.splitlines()]
    if done.returncode or any(status for *_, status in rows):
        return {**line, "error": f"Exit: {last_line(done.stderr)}"}
    runs = [dict(zip(("wall_s", "cpu_s", "peak_mb"), row)) for row in rows]
    return {**line, **json.loads(output.read_text()), **summary(runs)}


def question(setting, folder):
    """The words after `reticent` that ask for a setting: the shorthand where there is one, else a file of events."""
    if setting == "calibration":
        wanted = peers.CALIBRATION
        flags = {"--epsilon": wanted["epsilon"], "--sampling-rate": wanted["rate"], "--steps": wanted["steps"]}
        return ["account", "noise", *words({**flags, "--delta": wanted["delta"]})]
    events, delta = peers.known_setting(setting)
    if len(events) == 1:
        [(_, steps, noise, rate)] = events
        flags = {"--noise-multiplier": noise, "--sampling-rate": rate, "--steps": steps}
    else:
        path = folder / f"{setting}.json"
        path.write_text(json.dumps({"neighboring": "add-remove", "events": [wire(*event) for event in events]}))
        flags = {"--events": path}
    return ["account", "epsilon", *words({**flags, "--delta": delta})]


def wire(kind, count, noise, *rate):
    """An event in the JSON form of docs/reference/events.md."""
    event = {"laplace" if kind == "laplace" else "gaussian": {"noise_multiplier": noise}}
    if rate:
        event = {"poisson_sampled": {"rate": rate[0], "event": event}}
    return {"repeated": {"count": count, "event": event}}


def words(flags):
    return [word for flag, value in flags.items() for word in (flag, str(value))]


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def machine(python, load):
    """What the figures depend on; `load` is what else was running when the run began."""
    listing = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    installed = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in json.loads(listing.stdout)}
    pinned = [line.split("==")[0] for line in (HERE / "requirements.txt").read_text().split()]
    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "rustc": rustc.stdout.strip(),
        "python": platform.python_version(),
        "versions": {name: installed[name.lower().replace("_", "-")] for name in pinned},
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


def measurements(python, binary, arguments):
    """Every method on every setting; the exact values come first, our command last."""
    asked = [(name, "exact") for name in (*peers.SETTINGS, *peers.EXTREMES, "calibration")]
    asked += [(name, method) for name in peers.SETTINGS for method in peers.METHODS if method != "exact"]
    asked += [("calibration", method) for method in peers.CALIBRATING]
    for setting, method in asked:
        print(f"{method}: {setting}", file=sys.stderr)
        yield peer(python, method, setting, 1 if method == "exact" else arguments.peer_repeats)
    with tempfile.TemporaryDirectory() as folder:
        for setting in (*peers.SETTINGS, *peers.EXTREMES, "calibration"):
            print(f"reticent: {setting}", file=sys.stderr)
            yield ours(binary, setting, arguments.repeats, Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="runs of our command for a setting")
    parser.add_argument("--peer-repeats", type=int, default=3, help="fresh processes for a peer and a setting")
    parser.add_argument("--binary", type=Path, help="the reticent to measure, instead of building it")
    arguments = parser.parse_args()
    python = harness.environment("accounting", HERE / "requirements.txt")
    binary = arguments.binary.resolve() if arguments.binary else build()
    load = round(os.getloadavg()[0], 2)
    results = {
        "machine": machine(python, load),
        "repeats": arguments.repeats,
        "peer_repeats": arguments.peer_repeats,
        "timeout_s": TIMEOUT,
        "memory_gib": MEMORY_GIB,
        "settings": {**peers.SETTINGS, **peers.EXTREMES},
        "calibration": peers.CALIBRATION,
        "measurements": list(measurements(python, binary, arguments)),
    }
    results["targets"] = page.targets(results)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    page.write(ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
