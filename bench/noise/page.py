"""The Noise section of docs/benchmarks.md, made from results.json.

    python3 bench/noise/page.py      writes the section anew from the results that are there
"""

import json
from pathlib import Path

START, END = "<!-- noise: written by bench/noise/run.py -->", "<!-- noise: end -->"
HEAD = "# Benchmarks\n\nMeasured, not promised: every table is written by the script that made it.\n"

SAMPLERS = [
    ("discrete Laplace, scale 1", "discrete_laplace/1"),
    ("discrete Laplace, scale 100", "discrete_laplace/100"),
    ("discrete Laplace, scale 2⁴⁰", "discrete_laplace/2^40"),
    ("discrete Gaussian, σ = 1", "discrete_gaussian/1"),
    ("discrete Gaussian, σ = 100", "discrete_gaussian/100"),
    ("discrete Gaussian, σ = 4096", "discrete_gaussian/4096"),
    ("real Laplace (f64)", "real_laplace/1"),
    ("real Gaussian (f64)", "real_gaussian/1"),
]
BULK = [("10⁶ floats", "bulk_gaussian/1e6"), ("10⁷ floats", "bulk_gaussian/1e7")]
RULES = [
    ("exponential mechanism", "exponential"),
    ("permute-and-flip", "permute_and_flip"),
    ("report noisy max", "noisy_max"),
]
SCORES = [("100 spread", "spread/100"), ("10,000 spread", "spread/10000"), ("10,000, one far ahead", "peak/10000")]
LATENCIES = [
    ("integer, discrete Laplace", "latency/discrete_laplace"),
    ("real, Laplace", "latency/real_laplace"),
    ("real, Gaussian", "latency/real_gaussian"),
]


class Figures:
    """The measurements by case and library."""

    def __init__(self, results):
        self.by_key = {(m["case"], m["library"]): m for m in results["measurements"]}

    def get(self, case, library, field, which="median"):
        """A figure, or None where the library has no such case."""
        found = self.by_key.get((case, library))
        return found and found[field][which]

    def ratio(self, case, library, field="per_cpu_second", which="median"):
        """How many times faster we are."""
        ours, theirs = self.get(case, "reticent", field, which), self.get(case, library, field, which)
        return ours / theirs if ours and theirs else None


def rate(value):
    """A rate in three significant digits."""
    if value is None:
        return "–"
    for unit, size in (("M", 1e6), ("k", 1e3), ("", 1.0)):
        if value >= size:
            break
    scaled = value / size
    return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.3g}{unit}"


def times(value):
    if value is None:
        return "–"
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def micros(value):
    return "–" if value is None else f"{value * 1e6:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def sampler_table(figures):
    rows = []
    for title, case in SAMPLERS:
        ours, best = (figures.get(case, "reticent", "per_cpu_second", which) for which in ("median", "best"))
        opendp, diffprivlib = (figures.get(case, peer, "per_cpu_second") for peer in ("opendp", "diffprivlib"))
        ratios = times(figures.ratio(case, "opendp")), times(figures.ratio(case, "diffprivlib"))
        rows.append([title, f"**{rate(ours)}** ({rate(best)})", rate(opendp), ratios[0], rate(diffprivlib), ratios[1]])
    return table(["draws per CPU-second", "Reticent (best)", "OpenDP", "ratio", "diffprivlib", "ratio"], rows)


def bulk_table(figures):
    rows = []
    for title, case in BULK:
        for threads in (1, 2):
            name = f"{case}/{threads}"
            ours, best = (figures.get(name, "reticent", "per_second", which) for which in ("median", "best"))
            call = figures.get(name, "reticent", "call_s"), figures.get(name, "reticent", "call_s", "best")
            opendp = figures.get("bulk_gaussian/1e6/1", "opendp", "per_second")
            references = [figures.get(name, peer, "per_second") for peer in ("numpy", "torch")]
            row = [f"{title}, {threads} thread{'s' * (threads > 1)}", f"**{rate(ours)}** ({rate(best)})"]
            row += [f"{call[0] * 1e3:.2f} ({call[1] * 1e3:.2f})", rate(opendp), times(ours / opendp if opendp else None)]
            rows.append(row + [rate(value) for value in references])
    head = ["f32 per second", "Reticent (best)", "ms a call (best)", "OpenDP f32", "ratio", "numpy, insecure", "torch, insecure"]
    return table(head, rows)


def selection_table(figures):
    rows = []
    for title, rule in RULES:
        for label, scores in SCORES:
            case = f"{rule}/{scores}"
            row = [f"{title}, {label}", f"**{rate(figures.get(case, 'reticent', 'per_cpu_second'))}**"]
            for peer in ("opendp", "diffprivlib"):
                row += [rate(figures.get(case, peer, "per_cpu_second")), times(figures.ratio(case, peer))]
            rows.append(row)
    return table(["choices per CPU-second", "Reticent", "OpenDP", "ratio", "diffprivlib", "ratio"], rows)


def latency_table(figures):
    rows = []
    for title, case in LATENCIES:
        row = [title, f"**{micros(figures.get(case, 'reticent', 'call_s'))}**"]
        for peer in ("opendp", "diffprivlib"):
            row += [micros(figures.get(case, peer, "call_s")), times(figures.ratio(case, peer, "per_second"))]
        rows.append(row)
    return table(["µs for one number", "Reticent", "OpenDP", "ratio", "diffprivlib", "ratio"], rows)


def targets(results):
    """What was aimed at, and what was measured (medians)."""
    figures = Figures(results)
    discrete = [figures.ratio(case, "opendp") for _, case in SAMPLERS if case.startswith("discrete")]
    bulk = [figures.get(f"{case}/2", "reticent", "per_second") / 1e6 for _, case in BULK]
    call = figures.get("bulk_gaussian/1e6/2", "reticent", "call_s") * 1e3
    real = figures.ratio("real_gaussian/1", "opendp")
    listed = [
        ("exact discrete samplers against OpenDP, one thread, slowest row", "at least 50×", min(discrete), min(discrete) >= 50),
        ("real Gaussian against OpenDP", "at least 100×", real, real >= 100),
        ("bulk Gaussian on two threads, million f32 per second, slower row", "at least 300", min(bulk), min(bulk) >= 300),
        ("noise for 10⁶ parameters on two threads, ms", "below 4", call, call < 4),
    ]
    keys = ("what", "target", "measured", "met")
    return [dict(zip(keys, entry)) for entry in listed]


def target_table(results):
    rows = []
    for entry in results["targets"]:
        measured = f"{entry['measured']:,.0f}" if entry["measured"] >= 10 else f"{entry['measured']:.2f}"
        rows.append([entry["what"], entry["target"], measured, "yes" if entry["met"] else "**no**"])
    return table(["target", "aim", "measured", "met"], rows)


def section(results):
    """The Markdown of the section."""
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    skipped = "; ".join(f"{name}: {why}" for name, why in results["skipped"].items())
    return f"""## Noise

{machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}, {machine["architecture"]}; {machine["rustc"]}, \
Python {machine["python"]}; {versions}; {machine["date"]}; \
load average {machine["load"]} when the run began. {f"Left out: {skipped}." if skipped else ""}

{target_table(results)}

### Samplers

One thread, whole mechanisms on vectors of 10⁵ numbers, drawing from the real generator.

{sampler_table(figures)}

### Bulk Gaussian noise

Adding noise to a vector in place, by the wall clock. OpenDP is timed on vectors of 10⁵ f32; its cost per \
number does not depend on the length. The insecure references only fill a vector with normals from a \
generator that is not cryptographic, in floating point.

{bulk_table(figures)}

### Choosing a candidate

ε = 1, sensitivity 1. Spread scores lie evenly over 0 to 100; the hard case is one candidate 1000 above \
10,000 equal ones. OpenDP's noisy max stands beside the rule with the same distribution (Gumbel noise: \
exponential mechanism; exponential noise: permute-and-flip). diffprivlib is given its scores when it is \
built, which is not timed: its exponential mechanism has its table ready.

{selection_table(figures)}

### One release

A mechanism that is already built releases one number, by the wall clock. Reticent draws 256 times and \
uses one draw, so that the time tells next to nothing about the noise; the peers draw once. The peers are called from \
Python, Reticent from Rust.

{latency_table(figures)}

### How this is measured

`python3 bench/noise/run.py` runs it all again: it builds `bench/noise` for release, makes an environment with \
the peers pinned in `bench/noise/requirements.txt`, and runs every library in turn, {results["repeats"]} times \
over. Wall-clock figures want a quiet machine. Each case warms up, then repeats for a quarter of a second (one call where a call takes longer). Figures are \
medians of the {results["repeats"]} repeats, best in brackets; rates are per CPU-second of the whole process \
except where the wall clock is named. Ratios say how many times faster Reticent is. Nothing in the gate \
depends on a time. All repeats: `bench/noise/results.json`.
"""


def write(path, results):
    """Replaces the section in the page, or begins the page."""
    text = path.read_text() if path.exists() else f"{HEAD}\n{START}\n{END}\n"
    if START not in text:
        text = f"{text.rstrip()}\n\n{START}\n{END}\n"
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{before}{START}\n{section(results)}{END}{after}")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs" / "benchmarks.md", json.loads((here / "results.json").read_text()))
