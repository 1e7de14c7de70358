"""Pages of statistics beside the exact answers and beside peers.

    python3 bench/release/run.py --data FOLDER [--runs 300] [--peer-runs 100]

Builds the command, makes an environment with the peers, bounds the tables of FOLDER (nycflights13, adult), releases every page `--runs`
times, and counts how often the intervals hold the exact answers: one error budget covers all figures together. Then it asks peers for the
same figures at the same total budget and compares errors. Writes `bench/release/results.json` and the section of `docs/benchmarks.md`.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

#: The probability that a correct program fails this run, over all figures together.
ALARM = 1e-6
CARRIERS = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
EDUCATION = ["HS-grad", "Some-college", "Bachelors", "Masters", "Assoc-voc", "11th", "Assoc-acdm", "10th"]
DELAY = [-60.0, 300.0]

CASES = [
    {
        "name": "flights by carrier, planes protected, ε = 1",
        "table": "flights",
        "by": "carrier",
        "keys": CARRIERS,
        "unit": "tailnum",
        "rows": 20,
        "groups": 1,
        "epsilon": 1.0,
        "delta": None,
        "questions": [
            {"kind": "count", "name": "count"},
            {"kind": "mean", "name": "mean of arr_delay", "column": "arr_delay", "bounds": DELAY},
            {"kind": "variance", "name": "variance of arr_delay", "column": "arr_delay", "bounds": DELAY},
        ],
    },
    {
        "name": "flights by origin, planes in up to 3 groups, ε = 1",
        "table": "flights",
        "by": "origin",
        "keys": ["EWR", "JFK", "LGA"],
        "unit": "tailnum",
        "rows": 10,
        "groups": 3,
        "epsilon": 1.0,
        "delta": None,
        "questions": [
            {"kind": "count", "name": "count"},
            {"kind": "mean", "name": "mean of arr_delay", "column": "arr_delay", "bounds": DELAY},
            {"kind": "sum", "name": "sum of arr_delay", "column": "arr_delay", "bounds": DELAY},
        ],
    },
    {
        "name": "census by sex, rows protected, ε = 0.1",
        "table": "adult",
        "by": "sex",
        "keys": ["Female", "Male"],
        "unit": None,
        "rows": 1,
        "groups": 1,
        "epsilon": 0.1,
        "delta": None,
        "questions": [
            {"kind": "count", "name": "count"},
            {"kind": "mean", "name": "mean of age", "column": "age", "bounds": [17.0, 90.0]},
            {"kind": "variance", "name": "variance of age", "column": "age", "bounds": [17.0, 90.0]},
            {"kind": "histogram", "name": "histogram of education", "column": "education", "categories": EDUCATION},
            {
                "kind": "quantiles",
                "name": "quantiles of hours_per_week",
                "column": "hours_per_week",
                "bounds": [0.0, 100.0],
                "quantiles": [0.25, 0.5, 0.75],
                "candidates": 101,
            },
        ],
    },
]


def binary():
    """The command, built for release."""
    subprocess.run(["cargo", "build", "--release", "--bin", "reticent"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "reticent"


def report(case, folder):
    """The page as a report.toml."""
    lines = [f"epsilon = {case['epsilon']}", 'split = "equally"']
    if case["delta"] is not None:
        lines.append(f"delta = {case['delta']}")
    if case["unit"]:
        lines.append(f'unit = {{ column = "{case["unit"]}", rows = {case["rows"]}, groups = {case["groups"]} }}')
    keys = json.dumps(case["keys"])
    lines.append(f'group_by = {{ columns = ["{case["by"]}"], keys = {{ lists = {{ {case["by"]} = {keys} }} }} }}')
    for question in case["questions"]:
        lines.append("\n[[questions]]")
        fields = {name: value for name, value in question.items() if name != "mean_of"}
        lines += [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    path = folder / "report.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def released(command, table, toml):
    """One release: (group, question, cell) to (estimate, interval); and the seconds it took."""
    start = time.perf_counter()
    line = subprocess.run(
        [command, "release", "page", table, toml, "--json", "--quiet"], check=True, capture_output=True, text=True
    ).stdout
    seconds, outcome = time.perf_counter() - start, json.loads(line)
    found = {}
    for row in outcome["rows"]:
        found[(row["group"][0], row["question"], row.get("cell"))] = (row["estimate"], row["interval"])
    return found, outcome, seconds


def matched(cell):
    """The cell of a released figure as the exact answers name it."""
    if cell is None:
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def tail(runs, misses, probability):
    """The probability of so many misses or more."""
    below = 0.0
    for count in range(misses):
        log = (
            math.lgamma(runs + 1)
            - math.lgamma(count + 1)
            - math.lgamma(runs - count + 1)
            + count * math.log(probability)
            + (runs - count) * math.log1p(-probability)
        )
        below += math.exp(log)
    return max(1.0 - below, 0.0)


def covered(case, runs, command, table, toml, truth):
    """How often each interval held, the errors, and the time."""
    held, errors, times, wide = {}, {}, [], {}
    outcome = None
    for _ in range(runs):
        found, outcome, seconds = released(command, table, toml)
        times.append(seconds)
        named = {(group, name, matched(cell)): value for (group, name, cell), value in found.items()}
        for key, value in truth.items():
            estimate, (low, high) = named[key]
            low, high = -math.inf if low is None else low, math.inf if high is None else high
            held[key] = held.get(key, 0) + (low <= value <= high)
            errors.setdefault(key, []).append(math.inf if estimate is None else abs(estimate - value))
            wide.setdefault(key, []).append((high - low) / 2)
    return held, errors, wide, times, outcome


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def by_question(errors):
    """The median over runs and groups of the error of each question."""
    found = {}
    for (_, name, _), values in errors.items():
        found.setdefault(name, []).extend(values)
    return {name: median(values) for name, values in found.items()}


def peer_errors(peer, runs, truth, sizes):
    errors = {}
    for _ in range(runs):
        for key, value in peer.run(truth, sizes).items():
            if value is not None and key in truth:
                errors.setdefault(key, []).append(abs(value - truth[key]))
    return by_question(errors)


def measured(arguments):
    import peers
    import tables

    command, data = arguments.binary or binary(), Path(arguments.data)
    results = {"runs": arguments.runs, "alarm": ALARM, "cases": []}
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in CASES:
            print(case["name"], file=sys.stderr)
            table = (
                tables.adult(data)
                if case["table"] == "adult"
                else tables.flights(data, case["rows"], case["groups"], case["by"])
            )
            path = folder / "table.parquet"
            table.write_parquet(path)
            truth = tables.exact(table, case["by"], case)
            sizes = {key[0]: value for key, value in truth.items() if key[1] == "count"}
            for question in case["questions"]:
                if question["kind"] == "variance":
                    means = [truth[(key, f"mean of {question['column']}", None)] for key in case["keys"]]
                    question["mean_of"] = median(means)
            held, errors, wide, times, outcome = covered(
                case, arguments.runs, command, path, report(case, folder), truth
            )
            figures += [(case["name"], key, count) for key, count in held.items()]
            ours = by_question(errors)
            plain = peer_errors(peers.Plain(case), 20 * arguments.peer_runs, truth, sizes)
            opendp = peer_errors(peers.OpenDp(case, table), arguments.peer_runs, truth, sizes)
            results["cases"].append(
                {
                    "name": case["name"],
                    "rows": table.height,
                    "figures": len(truth),
                    "held": sum(held.values()) / (len(held) * arguments.runs),
                    "least_held": min(held.values()) / arguments.runs,
                    "epsilon": outcome["certificate"]["epsilon"],
                    "delta": outcome["certificate"]["delta"],
                    "seconds": median(times),
                    "error": ours,
                    "half_width": by_question(wide),
                    "plain": plain,
                    "opendp": opendp,
                }
            )
    worst = min(tail(arguments.runs, arguments.runs - count, 0.05) for _, _, count in figures)
    results["figures"] = len(figures)
    results["least_p_value"] = worst
    results["passed"] = worst * len(figures) >= ALARM
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="the folder of nycflights13 and adult")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--peer-runs", type=int, default=100)
    parser.add_argument("--binary", help="a command that is built already")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    import harness

    requirements = HERE / "requirements.txt"
    if not arguments.inside:
        python = harness.environment("release", requirements)
        os.execv(python, [str(python), *sys.argv, "--inside"])
    results = {"machine": harness.machine(sys.executable, requirements), **measured(arguments)}
    (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    import page

    harness.write_section(ROOT / "docs", page.MARKS, page.section(results))
    print(page.section(results))
    sys.exit(0 if results["passed"] else "intervals held too rarely")


if __name__ == "__main__":
    main()
