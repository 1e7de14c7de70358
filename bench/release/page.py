"""The section of docs/benchmarks.md about pages of statistics, made from results.json and scan.json.

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
    scanned = HERE / "scan.json"
    if scanned.exists():
        lines += scans(json.loads(scanned.read_text()))
    return "\n".join(lines) + "\n\n"


def scans(found):
    """One pass over a large table beside DuckDB."""
    machine, results = found["machine"], found["results"]
    threads = ", ".join(str(count) for count in sorted({row["threads"] for row in results}))
    lines = [
        "\n### One pass over a large table\n",
        f"One statistic of a table of {results[0]['rows']:,} rows, threads: {threads} ({machine['cpu']}, {machine['date']}), beside DuckDB",
        f"{machine['versions']['duckdb']}, which answers without noise. Ours is the whole process, DuckDB's the query alone; best of the",
        "repetitions. The target is a ratio of at most 1.5.\n",
        "| statistic | file | ours, s | DuckDB, s | ratio | ours, MB | DuckDB, MB |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in results:
        seconds, peak = row["seconds"], row["peak_mb"]
        lines.append(
            f"| {row['case']} | {row['format']} | {seconds['reticent']:.3f} | {seconds['duckdb']:.3f} | {row['ratio']:.2f} "
            f"| {peak['reticent']:.0f} | {peak['duckdb']:.0f} |"
        )
    return lines


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    import harness

    found = json.loads((HERE / "results.json").read_text())
    harness.write_section(harness.ROOT / "docs", MARKS, section(found))
