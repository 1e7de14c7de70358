"""Times one pass of `reticent release` over Parquet and CSV beside DuckDB's exact aggregate, in one run.

    python3 bench/release/scan.py [--rows 10000000 50000000] [--repeats 5] [--threads 1] [--binary PATH] [--csv]

Builds the command unless a binary is named, makes an environment with DuckDB, and lets DuckDB write tables of a double, an
integer and a category, which are kept in `target/bench-scan`. Every statistic is then asked `--repeats` times in turn, each
time in a fresh process. For us the time is that of the whole process: start, reading, noise and output; for DuckDB it is that
of the query alone, without the start of Python and the import. Both run on `--threads` threads, and the file is in the page
cache. Writes `bench/release/scan.json`: the best times, their ratio, and the peak memory of either process.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import harness  # noqa: E402

REQUIREMENTS = HERE / "scan-requirements.txt"
REGIONS = ["north", "south", "east", "west", "abroad"]
EDGES = list(range(0, 101, 10))

# What DuckDB writes: a double, an integer and a category, the same in every run.
MAKE = """
import duckdb, sys
duckdb.sql("set enable_progress_bar = false")
rows, parquet, csv = int(sys.argv[1]), sys.argv[2], sys.argv[3]
table = f'''select 100 * (hash(i) % 1000003) / 1000003.0::double + (hash(3 * i) % 997) / 1e6 as income,
    (hash(5 * i) % 91)::integer as age, [{regions}][1 + (hash(7 * i) % 5)::integer] as region from range({{rows}}) t(i)'''
duckdb.sql(f"copy ({{table}}) to '{{parquet}}' (format parquet)")
if csv:
    duckdb.sql(f"copy ({{table}}) to '{{csv}}' (format csv, header)")
""".format(regions=", ".join(f"'{name}'" for name in REGIONS))

# Times one query of DuckDB.
ASK = """
import duckdb, json, resource, sys, time
connection = duckdb.connect()
connection.execute(f"set threads = {sys.argv[1]}")
connection.execute("set enable_progress_bar = false")
start = time.perf_counter()
connection.execute(sys.argv[2]).fetchall()
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""

# Name of the case; our flags; DuckDB's query, of which {table} is the file.
CASES = [
    ("count", ["count"], "select count(*) from {table}"),
    ("mean of a double", ["mean", "--column", "income", "--bounds", "0,101"], "select avg(income) from {table}"),
    ("sum of a double", ["sum", "--column", "income", "--bounds", "0,101"], "select sum(income) from {table}"),
    ("mean of an integer", ["mean", "--column", "age", "--bounds", "0,100"], "select avg(age) from {table}"),
    (
        "histogram of a double, 10 bins",
        ["histogram", "--column", "income", "--bins", ",".join(map(str, EDGES))],
        "select floor(income / 10), count(*) from {table} group by 1",
    ),
    (
        "histogram of 5 categories",
        ["histogram", "--column", "region", "--categories", ",".join(REGIONS)],
        "select region, count(*) from {table} group by 1",
    ),
    (
        "median of a double",
        ["quantile", "--column", "income", "--bounds", "0,101"],
        "select approx_quantile(income, 0.5) from {table}",
    ),
    (
        "mean of a double where region=north",
        ["mean", "--column", "income", "--bounds", "0,101", "--where", "region=north"],
        "select avg(income) from {table} where region = 'north'",
    ),
]


def build():
    """The path of the command, built for release."""
    subprocess.run(["cargo", "build", "--release", "-p", "reticent-cli"], cwd=harness.ROOT, check=True)
    return harness.TARGET / "release" / "reticent"


def table(python, rows, with_csv):
    """The files of a table, made if they are not there."""
    folder = harness.TARGET / "bench-scan"
    folder.mkdir(parents=True, exist_ok=True)
    parquet, csv = folder / f"people-{rows}.parquet", folder / f"people-{rows}.csv"
    if not parquet.exists() or (with_csv and not csv.exists()):
        subprocess.run([python, "-c", MAKE, str(rows), parquet, csv if with_csv else ""], check=True)
    return [parquet, csv] if with_csv else [parquet]


def ours(binary, flags, file, threads):
    """The time and the peak memory of a whole process."""
    command = [binary, "release", flags[0], file, *flags[1:], "--epsilon", "1", "--json", "--threads", str(threads)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(errors.decode())
    return {"seconds": seconds, "peak_bytes": 1024 * usage.ru_maxrss}


def theirs(python, query, file, threads):
    """The time of a query, and the peak memory of its process."""
    source = f"read_csv('{file}')" if file.suffix == ".csv" else f"'{file}'"
    command = [python, "-c", ASK, str(threads), query.format(table=source)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def measured(binary, python, file, rows, arguments):
    """All cases of one file."""
    for case, flags, query in CASES:
        runs = {"reticent": [], "duckdb": []}
        for _ in range(arguments.repeats):
            runs["reticent"].append(ours(binary, flags, file, arguments.threads))
            runs["duckdb"].append(theirs(python, query, file, arguments.threads))
        best = {name: min(run["seconds"] for run in list_) for name, list_ in runs.items()}
        peak = {name: max(run["peak_bytes"] for run in list_) for name, list_ in runs.items()}
        found = {
            "case": case,
            "rows": rows,
            "format": file.suffix[1:],
            "threads": arguments.threads,
            "seconds": {name: round(value, 4) for name, value in best.items()},
            "ratio": round(best["reticent"] / best["duckdb"], 2),
            "peak_mb": {name: round(value / 1e6, 1) for name, value in peak.items()},
        }
        print(
            f"{rows:>11,} rows, {found['format']:7} {case:36} {best['reticent']:7.3f} s"
            f" {best['duckdb']:7.3f} s  ratio {found['ratio']:5.2f}  {found['peak_mb']['reticent']:6.1f} MB"
            f" {found['peak_mb']['duckdb']:6.1f} MB",
            file=sys.stderr,
        )
        yield found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 50_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--binary", type=Path)
    parser.add_argument("--csv", action="store_true", help="CSV too")
    parser.add_argument("--out", type=Path, default=HERE / "scan.json")
    arguments = parser.parse_args()
    python = harness.environment("scan", REQUIREMENTS)
    binary = arguments.binary or build()
    machine = harness.machine(python, REQUIREMENTS)
    results = []
    for rows in arguments.rows:
        for file in table(python, rows, arguments.csv):
            results += measured(binary, python, file, rows, arguments)
    arguments.out.write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
