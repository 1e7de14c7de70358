"""The section of docs/benchmarks.md about pages of statistics, made from results.json.

    python3 bench/release/page.py      writes the section anew from the results that are there
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARKS = ("<!-- release: written by bench/release/run.py -->", "<!-- release: end -->")


def shown(value):
    return "–" if value is None else f"{value:.3g}"


def ratio(theirs, ours):
    return "–" if theirs is None or not ours else f"{theirs / ours:.2f}"


def section(results):
    machine, runs = results["machine"], results["runs"]
    lines = [
        "\n## Pages of statistics\n",
        f"Each page was released {runs} times ({machine['cpu']}, {machine['date']}). The tables are bounded beforehand, so the answers",
        f"without noise are plain aggregates. In all, {results['figures']} figures at 95 % intervals; one error budget of "
        f"{results['alarm']:g}",
        f"covers them together (smallest p-value of a figure: {results['least_p_value']:.2g}).\n",
        "| page | rows | figures | intervals that held | least of a figure | s a page |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for case in results["cases"]:
        lines.append(
            f"| {case['name']} | {case['rows']:,} | {case['figures']} | {100 * case['held']:.2f} % "
            f"| {100 * case['least_held']:.1f} % | {case['seconds']:.2f} |"
        )
    versions = machine["versions"]
    lines += [
        f"\nMedian absolute error at the same total budget, and theirs over ours. OpenDP {versions['opendp']} is asked through Polars, one",
        "query a statistic, split evenly; the plain recipe releases count and sum separately, split equally (as Tumult Analytics does).",
        "A dash: not offered there by one query.\n",
        "| page | statistic | ours | plain recipe | OpenDP | plain / ours | OpenDP / ours |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for case in results["cases"]:
        for name, ours in case["error"].items():
            plain, opendp = case["plain"].get(name), case["opendp"].get(name)
            lines.append(
                f"| {case['name']} | {name} | {shown(ours)} | {shown(plain)} | {shown(opendp)} "
                f"| {ratio(plain, ours)} | {ratio(opendp, ours)} |"
            )
    return "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    import harness

    found = json.loads((HERE / "results.json").read_text())
    harness.write_section(harness.ROOT / "docs", MARKS, section(found))
