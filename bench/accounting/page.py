"""The Accounting section of docs/benchmarks.md and its plot, made from results.json.

    python3 bench/accounting/page.py      writes both anew from the results that are there
"""

import json
import math
import statistics
from pathlib import Path

START, END = "<!-- accounting: written by bench/accounting/run.py -->", "<!-- accounting: end -->"
HEAD = "# Benchmarks\n\nMeasured, not promised: every table is written by the script that made it.\n"
PLOT = "accounting-bench.svg"

# Method, name, library, shape in the plot.
METHODS = [
    ("reticent", "Reticent", "reticent", "circle"),
    ("dpa_rdp", "dp_accounting RDP", "dp_accounting", "circle"),
    ("dpa_pld_1e-4", "dp_accounting PLD, 1e-4", "dp_accounting", "square"),
    ("dpa_pld_1e-5", "dp_accounting PLD, 1e-5", "dp_accounting", "diamond"),
    ("prv_0.1", "prv_accountant, 0.1", "prv_accountant", "circle"),
    ("prv_0.01", "prv_accountant, 0.01", "prv_accountant", "square"),
    ("opacus_rdp", "Opacus RDP", "opacus", "circle"),
    ("opacus_prv", "Opacus PRV", "opacus", "square"),
]
NAMES = {method: name for method, name, *_ in METHODS}
COLOURS = {"reticent": "#d55e00", "dp_accounting": "#0072b2", "prv_accountant": "#009e73", "opacus": "#a05195"}
EXTREMES = ["steps-1e7", "delta-1e-30"]
TIGHT = 1e-4  # how far above the exact value, relative to it, the upper bound may lie


class Figures:
    """The measurements by method and setting."""

    def __init__(self, results):
        self.by_key = {(m["method"], m["setting"]): m for m in results["measurements"]}
        self.settings = [name for name in results["settings"] if name not in EXTREMES]

    def get(self, method, setting, field="upper"):
        """A figure, or None where the method gave none."""
        return self.by_key.get((method, setting), {}).get(field)

    def seconds(self, method, setting):
        """Our wall time; of a peer, the smaller of wall and CPU time."""
        wall, cpu = (self.get(method, setting, field) for field in ("wall_s", "cpu_s"))
        return wall if method == "reticent" or wall is None else min(wall, cpu)

    def excess(self, method, setting, field="upper", exact="upper"):
        """How far above the exact value, relative to it."""
        value, exact = self.get(method, setting, field), self.get("exact", setting, exact)
        return None if value is None else value / exact - 1

    def ratio(self, method, setting):
        """How many times faster we are."""
        ours, theirs = self.seconds("reticent", setting), self.seconds(method, setting)
        return theirs / ours if ours and theirs else None

    def failure(self, method, setting):
        """What stands in a cell where there is no figure."""
        kind = (self.get(method, setting, "error") or "NotImplementedError").split(":")[0]
        return "–" if kind == "NotImplementedError" else kind


def power(value):
    """A number for reading: powers of ten as such."""
    exponent = round(math.log10(value))
    if abs(exponent) >= 4 and math.isclose(value, 10.0**exponent):
        return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def described(setting, sampled="sampled Gaussian"):
    """The events of a setting in words."""
    parts = []
    for kind, count, noise, *rate in setting["events"]:
        name = f"{sampled}(q = {power(rate[0])}, σ" if rate else "Laplace(b" if kind == "laplace" else "Gaussian(σ"
        parts.append(f"{power(count)} × {name} = {power(noise)})")
    return parts


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cells(figures, cell, head):
    """A table of methods against settings."""
    rows = []
    for method, name, *_ in METHODS:
        row = [f"**{name}**" if method == "reticent" else name]
        for setting in figures.settings:
            failed = figures.seconds(method, setting) is None
            row.append(figures.failure(method, setting) if failed else cell(figures, method, setting))
        rows.append(row)
    return table([head, *figures.settings], rows)


def bracket(figures, method, setting):
    found = [figures.get(method, setting, field) for field in ("lower", "estimate", "upper")]
    digits = 10 if method == "reticent" else 7
    return " / ".join(f"{value:.{digits}g}" for value in found if value is not None)


def error(figures, method, setting):
    found = f"{figures.excess(method, setting):+.1e}"
    below = figures.get(method, setting) < figures.get("exact", setting)
    missed = (figures.get(method, setting, "lower") or 0) > figures.get("exact", setting)
    return f"**{found}, below**" if below else f"**{found}, lower above**" if missed else found


def took(figures, method, setting):
    seconds, ratio = figures.seconds(method, setting), figures.ratio(method, setting)
    shown = f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:,.0f}"
    return f"**{shown}**" if method == "reticent" else f"{shown} ({times(ratio)})" if ratio else shown


def times(value):
    return "–" if value is None else f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def memory(figures, method, setting):
    peak, imported = (figures.get(method, setting, field) for field in ("peak_mb", "import_mb"))
    return f"**{peak:.1f}**" if method == "reticent" else f"{peak:,.0f} ({max(peak - imported, 0):,.0f})"


def extreme_table(figures, results):
    rows = []
    for name in EXTREMES:
        setting = results["settings"][name]
        row = [f"{' + '.join(described(setting))}, δ = {power(setting['delta'])}", f"{figures.get('exact', name):#.10g}"]
        if figures.seconds("reticent", name) is None:
            rows.append(row + [figures.failure("reticent", name)] + ["–"] * 3)
            continue
        row += [bracket(figures, "reticent", name), error(figures, "reticent", name)]
        rows.append(row + [took(figures, "reticent", name), memory(figures, "reticent", name)])
    return table(["setting", "exact ε", "Reticent: lower / upper", "upper against exact", "ms", "MB"], rows)


def calibration_table(figures):
    rows, exact = [], figures.get("exact", "calibration", "noise_multiplier")
    for method, name, *_ in METHODS:
        found = figures.get(method, "calibration", "noise_multiplier")
        if found is not None:
            short = f"**{found / exact - 1:+.1e}, below**" if found < exact else f"{found / exact - 1:+.1e}"
            cost = [cell(figures, method, "calibration") for cell in (took, memory)]
            rows.append([name, f"{found:.10g}", short, *cost])
    return table(["calibration", "σ", "against exact", "ms", "MB"], rows)


def targets(results):
    """What was aimed at, and what was measured; None where our command gave no answer."""
    figures, listed = Figures(results), []
    every = [*figures.settings, *EXTREMES]

    def add(what, target, found, text, met):
        known = bool(found) and None not in found
        measured, verdict = (text(found), bool(met(found))) if known else (None, None)
        listed.append({"what": what, "target": target, "measured": measured, "met": verdict})

    def values(field, names):
        return [figures.get("reticent", name, field) for name in names]

    def excesses(names):
        return [figures.excess("reticent", name) for name in names]

    def spread(found):
        return f"{min(found):+.1e}" + f" to {max(found):+.1e}" * (len(found) > 1)

    def ratios(found):
        return f"{times(min(found))} to {times(max(found))}, median {times(statistics.median(found))}"

    def below(found):
        return sum(upper < figures.get("exact", name) for name, upper in zip(every, found))

    def slowest(found):
        return f"{max(found) * 1e3:.3g}"

    def tight(found):
        return 0 <= min(found) and max(found) <= TIGHT

    add("`upper` above exact, relative, on the eight settings", "at most 1e-4", excesses(figures.settings), spread, tight)
    uppers, count = values("upper", every), lambda found: f"{below(found)} of {len(found)}"
    add("answers below exact, of the eight and the two extremes", "none", uppers, count, lambda found: not below(found))
    wall, peak = values("wall_s", every), values("peak_mb", every)
    add("one call with process start, slowest of the ten, ms", "at most 10", wall, slowest, lambda found: max(found) <= 0.01)
    most = lambda found: f"{max(found):.1f}"
    add("peak memory of one call, most of the ten, MB", "at most 20", peak, most, lambda found: max(found) <= 20)
    for method, least in (("dpa_pld_1e-4", 50), ("prv_0.01", 100)):
        found = [figures.ratio(method, name) for name in figures.settings if figures.seconds(method, name)]
        what = f"times faster than {NAMES[method]}, on every setting that it answers"
        add(what, f"at least {least}×", found, ratios, lambda found, least=least: min(found) >= least)
    wall, noise = values("wall_s", ["calibration"]), [figures.excess("reticent", "calibration", *["noise_multiplier"] * 2)]
    add("σ calibration, ms", "at most 50", wall, slowest, lambda found: found[0] <= 0.05)
    add("calibrated σ above exact, relative", "0 to 0.005", noise, spread, lambda found: 0 <= found[0] <= 0.005)
    add("`upper` above exact at δ = 10⁻³⁰, relative", "at most 1e-4", excesses(["delta-1e-30"]), spread, tight)
    return listed


def target_table(results):
    verdict = {True: "yes", False: "**no**", None: "not measured"}
    rows = [[e["what"], e["target"], e["measured"] or "–", verdict[e["met"]]] for e in results["targets"]]
    return table(["target", "aim", "measured", "met"], rows)


def errors(figures):
    """The messages behind the cells without a figure."""
    told = {}
    for m in figures.by_key.values():
        if "error" in m:
            told.setdefault(m["error"].rstrip("."), []).append(f"{NAMES[m['method']]} on {m['setting']}")
    lines = [f"- {'; '.join(where)}: {message}." for message, where in told.items()]
    return "Cells without a figure:\n\n" + "\n".join(lines) if lines else ""


def section(results):
    """The Markdown of the section."""
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    known = [(name, results["settings"][name]) for name in figures.settings]
    listed = [[name, " + ".join(described(s)), power(s["delta"]), f"{figures.get('exact', name):#.10g}"] for name, s in known]
    apart = max(abs(figures.excess("exact", name, "double")) for name in results["settings"])
    wanted = results["calibration"]
    kinds = ((bracket, "ε"), (error, "relative error of `upper`"), (took, "ms (ratio)"), (memory, "MB (above import)"))
    tables = [cells(figures, cell, head) for cell, head in kinds]
    return f"""## Accounting

{machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}, {machine["architecture"]}; {machine["rustc"]}, \
Python {machine["python"]}; {versions}; {machine["date"]}; load average {machine["load"]} when the run began.

{target_table(results)}

![Time for one ε, per setting and method]({PLOT})

### Settings

Every record's addition or removal is hidden; a sampled Gaussian sees a Poisson sample of rate q in every step. \
The exact ε is a contour integral in double precision, repeated with 34 digits on another contour; the two differ by \
{apart:.0e} at most, relative.

{table(["setting", "events", "δ", "exact ε"], listed)}

### ε

Lower bound, estimate and upper bound, as far as a method tells them; a single number is what it reports, an upper \
bound. The numbers behind the names are the discretisation of a PLD and the accepted error of ε of a PRV; Opacus \
PRV uses its default, 0.01.

{tables[0]}

How far the upper bound lies above the exact value; a bound on the wrong side is named.

{tables[1]}

{errors(figures)}

### Time

Milliseconds for one ε, and how many times faster Reticent is. Reticent is timed as a whole process, start included \
(wall time, median of {results["repeats"]}). A peer is timed over its first call in a fresh process, without start and \
imports, and the smaller of its CPU and wall time counts (median of {results["peer_repeats"]}); both choices favour the peers.

{tables[2]}

### Memory

Peak resident memory of the process, and for the peers how much of it came after the imports. Below 5 MB the figure of \
Reticent is that of the process that starts it.

{tables[3]}

### Extremes

{extreme_table(figures, results)}

### Calibration

The noise multiplier for ε = {power(wanted["epsilon"])} at δ = {power(wanted["delta"])}, q = {wanted["rate"]}, \
{power(wanted["steps"])} steps; exact: {figures.get("exact", "calibration", "noise_multiplier"):.10g}. Times and memory as above.

{calibration_table(figures)}

### How this is measured

`python3 bench/accounting/run.py` runs it all again: it builds the command for release, makes an environment with the \
peers pinned in `bench/accounting/requirements.txt`, and asks every method for every setting in fresh processes with \
at most {results["timeout_s"]} s and {results["memory_gib"]} GiB of data. Wall-clock figures want a quiet machine. Nothing in the \
gate depends on a time. All numbers: `bench/accounting/results.json`.
"""


def marker(shape, x, y, size, style):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {style}'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if shape == "diamond" else ""
    side = 1.75 * size
    return f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side}" height="{side}"{turn} {style}'


def plot(results):
    """The time of every method on every setting, as SVG."""
    figures, left, right, top, row = Figures(results), 330, 820, 104, 60
    bottom = top + row * len(figures.settings)
    across = lambda seconds: max(left, left + (right - left) * (math.log10(seconds) + 3) / 5)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 {bottom + 48}" '
        'font-family="sans-serif" font-size="13" fill="#222">',
        "<title>Time for one epsilon, per setting and method</title>",
        f'<rect width="940" height="{bottom + 48}" fill="#fff"/>',
        '<text x="20" y="28" font-size="17" font-weight="bold">Time for one ε<tspan dx="14" font-size="13" font-weight="normal" '
        'fill="#555">Reticent with process start; peers without start and imports; log scale</tspan></text>',
    ]
    for index, (method, name, library, shape) in enumerate(METHODS):
        x, y = 30 + 230 * (index // 2), 56 + 24 * (index % 2)
        out.append(marker(shape, x, y, 6, f'fill="{COLOURS[library]}"/>') + f'<text x="{x + 14}" y="{y + 4.5}">{name}</text>')
    for exponent, label in zip(range(-3, 3), ("1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s")):
        x, style = across(10.0**exponent), 'stroke="#888" stroke-dasharray="5 4"' if exponent == -2 else 'stroke="#ddd"'
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" {style}/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    out.append(f'<text x="{across(0.01):.1f}" y="{bottom + 38}" text-anchor="middle" fill="#555">target</text>')
    out.append(f'<text x="895" y="{bottom + 20}" text-anchor="middle">no answer</text>')
    for index, setting in enumerate(figures.settings):
        y, known = top + row * index, results["settings"][setting]
        if index % 2 == 0:
            out.append(f'<rect x="10" y="{y}" width="920" height="{row}" fill="#000" fill-opacity="0.04"/>')
        out.append(f'<text x="20" y="{y + row / 2 + 6}" font-size="16" font-weight="bold">{setting}</text>')
        lines = [*described(known, "sampled"), f"δ = {power(known['delta'])}"]
        for number, line in enumerate(lines):
            down = y + row / 2 + 4 + 14 * (number - (len(lines) - 1) / 2)
            out.append(f'<text x="46" y="{down:.1f}" font-size="12" fill="#444">{line}</text>')
        for method, name, library, shape in METHODS:
            seconds = figures.seconds(method, setting)
            if seconds is None and figures.failure(method, setting) == "–":
                continue
            lane = list(COLOURS).index(library)
            x = 895 + 16 * (shape == "square") - 8 if seconds is None else across(seconds)
            style = f'fill="{COLOURS[library]}"' if seconds else f'fill="none" stroke="{COLOURS[library]}" stroke-width="1.5"'
            told = f"{seconds * 1e3:.3g} ms" if seconds else figures.failure(method, setting)
            tag = "circle" if shape == "circle" else "rect"
            style += f"><title>{name}, {setting}: {told}</title></{tag}>"
            out.append(marker(shape, x, y + 12 + 12 * lane, 6 if library == "reticent" else 5, style))
    return "\n".join([*out, "</svg>"]) + "\n"


def write(docs, results):
    """Replaces the section in the page, or begins the page; draws the plot."""
    path = docs / "benchmarks.md"
    text = path.read_text() if path.exists() else f"{HEAD}\n{START}\n{END}\n"
    if START not in text:
        text = f"{text.rstrip()}\n\n{START}\n{END}\n"
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    docs.mkdir(exist_ok=True)
    path.write_text(f"{before}{START}\n{section(results)}{END}{after}")
    (docs / PLOT).write_text(plot(results))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs", json.loads((here / "results.json").read_text()))
