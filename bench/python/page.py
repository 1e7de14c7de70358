"""The Python section of docs/benchmarks.md, made from results.json.

    python3 bench/python/page.py      writes the section anew from the results that are there
"""

import json
import math
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

START, END = "<!-- python: written by bench/python/run.py -->", "<!-- python: end -->"

# Method, name.
METHODS = {
    "reticent": "Reticent",
    "dpa_rdp": "dp_accounting RDP",
    "dpa_pld_1e-4": "dp_accounting PLD, 1e-4 (default)",
    "dpa_pld_1e-5": "dp_accounting PLD, 1e-5",
    "prv_0.1": "prv_accountant, 0.1",
    "prv_0.01": "prv_accountant, 0.01",
    "opacus_rdp": "Opacus RDP",
    "opacus_prv_0.1": "Opacus PRV, 0.1",
    "opacus_prv_0.01": "Opacus PRV, 0.01 (default)",
}
# How many times faster we want to be.
FASTER = {
    "dpa_pld_1e-5": 50,
    "prv_0.01": 100,
    "opacus_prv_0.01": 100,
    "dpa_pld_1e-4": 10,
    "prv_0.1": 10,
    "opacus_prv_0.1": 10,
}
MECHANISMS = {
    "laplace": "Laplace",
    "gaussian": "Gaussian, σ given",
    "gaussian_calibrated": "Gaussian, ε and δ given",
    "discrete_laplace": "discrete Laplace",
}
SIZES = {"1e3": "10³", "1e5": "10⁵", "1e6": "10⁶"}
MODELS = {"logistic": "LogisticRegression", "svm": "LinearSVC", "ridge": "Ridge"}
PEER_MODELS = {"logistic": "LogisticRegression, best C", "ridge": "LinearRegression"}
SCALAR, ELEMENT = 20e-6, 1e-6  # seconds
FIT, IMPORT, WHEEL = 5, 0.1, 12e6  # times, seconds, bytes


class Figures:
    """The measurements of a part by what they are of."""

    def __init__(self, results):
        rows = results["measurements"]
        self.calls = {(r["case"], r["library"]): r for r in rows if r["part"] == "calls"}
        self.answers = {(r["method"], r["setting"]): r for r in rows if r["part"] == "epsilon"}
        self.fits = [r for r in rows if r["part"] == "fits"]
        self.imports = {r["module"]: r["seconds"] for r in rows if r["part"] == "imports"}
        self.settings = [name for name in results["settings"] if any(s == name for _, s in self.answers)]
        self.epsilons = sorted({r["epsilon"] for r in self.fits})

    def call(self, case, library):
        """Seconds of a call."""
        return self.calls.get((case, library), {}).get("call_s")

    def seconds(self, method, setting):
        """Our wall time; of a peer, the smaller of wall and CPU time, or the limit that it went beyond."""
        row = self.answers.get((method, setting), {})
        if "more_than_s" in row:
            return row["more_than_s"]
        if "wall_s" not in row:
            return None
        return row["wall_s"] if method == "reticent" else min(row["wall_s"], row["cpu_s"])

    def is_beyond(self, method, setting):
        """Whether a method was stopped at the limit."""
        return "more_than_s" in self.answers.get((method, setting), {})

    def ratio(self, method, setting):
        """How many times faster we are, at least."""
        if self.is_beyond("reticent", setting):
            return None
        return quotient(self.seconds(method, setting), self.seconds("reticent", setting))

    def ours(self, model, epsilon, data="pandas"):
        wanted = ("reticent", model, epsilon, data)
        return next((r for r in self.fits if (r["library"], r["model"], r["epsilon"], r["data"]) == wanted), None)

    def peer(self, model, epsilon):
        """diffprivlib, at the C that does best on the test part."""
        wanted = ("diffprivlib", model, epsilon)
        found = [r for r in self.fits if (r["library"], r["model"], r["epsilon"]) == wanted]
        return max(found, key=lambda row: row["score"]) if found else None


def quotient(above, below):
    return above / below if above is not None and below else None


def times(value):
    if value is None:
        return "–"
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def figure(value, scale):
    """A number in three significant digits, without an exponent."""
    if value is None:
        return "–"
    scaled = value * scale
    return f"{scaled:,.0f}" if scaled >= 100 else f"{scaled:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def spread(found):
    """Least and most of some ratios, and their median."""
    if len(found) == 1:
        return times(found[0])
    return f"{times(min(found))} to {times(max(found))}, median {times(statistics.median(found))}"


def targets(results):
    """What was aimed at, and what was measured; None where it was not."""
    figures, listed = Figures(results), []

    def add(what, target, found, text, met):
        known = bool(found) and None not in found
        measured, verdict = (text(found), bool(met(found))) if known else (None, None)
        listed.append({"what": what, "target": target, "measured": measured, "met": verdict})

    for kind, name in MECHANISMS.items():
        found = [figures.call(f"{kind}/1", "reticent")]
        text = lambda found: figure(found[0], 1e6)
        add(f"one number, {name}, µs", "at most 20", found, text, lambda found: found[0] <= SCALAR)
    arrays = [(row["call_s"] / row["items"]) for (_, library), row in figures.calls.items()
              if library == "reticent" and row["items"] > 1 and "call_s" in row]
    text = lambda found: figure(max(found), 1e6)
    add("arrays of 10³ and more, slowest case, µs per element", "at most 1", arrays, text,
        lambda found: max(found) <= ELEMENT)
    exact = results["references"]["exact"]
    uppers = [figures.answers.get(("reticent", s), {}).get("upper") for s in figures.settings]
    below = lambda found: sum(upper < exact[s] for s, upper in zip(figures.settings, found))
    add("upper bounds on ε below the exact value", "none", uppers,
        lambda found: f"{below(found)} of {len(found)}", lambda found: not below(found))
    for method, least in FASTER.items():
        found = [figures.ratio(method, s) for s in figures.settings if figures.seconds(method, s) is not None]
        what = f"ε: times faster than {METHODS[method]}, on every setting that it answers"
        add(what, f"at least {least}×", found, spread, lambda found, least=least: min(found) >= least)
    for model, peer in PEER_MODELS.items():
        pairs = [(figures.peer(model, e), figures.ours(model, e)) for e in figures.epsilons]
        found = [theirs["seconds"] / ours["seconds"] for theirs, ours in pairs if theirs and ours]
        what = f"{MODELS[model]}, pandas: times faster than diffprivlib's {peer.split(',')[0]}"
        add(what, f"at least {FIT}×", found, spread, lambda found: min(found) >= FIT)
    gaps = accuracy_gaps(figures, results)
    text = lambda found: f"{round(min(gap for gap, _ in found), 2) + 0.0:+.2f} points at the worst ε"
    add("LogisticRegression: accuracy against `bench/erm`", "no more than 3 standard errors below", gaps, text,
        lambda found: all(gap >= -3 * error for gap, error in found))
    seconds = [figures.imports.get("reticent")]
    text = lambda found: figure(found[0], 1e3)
    add("`import reticent`, ms", "at most 100", seconds, text, lambda found: found[0] <= IMPORT)
    text = lambda found: figure(found[0], 1e-6)
    add("wheel, MB", "at most 12", [results["wheel_bytes"]], text, lambda found: found[0] <= WHEEL)
    return listed


def accuracy_gaps(figures, results):
    """Points between our accuracy and that of the same fits from Rust, with the standard error of the difference."""
    gaps = []
    for epsilon in figures.epsilons:
        ours, known = figures.ours("logistic", epsilon), results["references"]["erm"].get(str(epsilon))
        if ours and known and results["has_test_part"]:
            # The deviation from Rust stands in where there are only few fits.
            deviation = max(ours["sd"], known["sd"])
            error = math.hypot(deviation / math.sqrt(ours["fits"]), known["sd"] / math.sqrt(known["fits"]))
            gaps.append((100 * (ours["score"] - known["accuracy"]), 100 * error))
    return gaps


def target_table(results):
    verdict = {True: "yes", False: "**no**", None: "not measured"}
    rows = [[e["what"], e["target"], e["measured"] or "–", verdict[e["met"]]] for e in results["targets"]]
    return table(["target", "aim", "measured", "met"], rows)


def scalar_table(figures):
    rows = []
    for kind, name in MECHANISMS.items():
        ours = figures.call(f"{kind}/1", "reticent")
        row = [name, f"**{figure(ours, 1e6)}**"]
        for peer in ("opendp", "diffprivlib"):
            made, built = (figures.call(f"{kind}/1{end}", peer) for end in ("", "/built"))
            both = "–" if made is None else f"{figure(made, 1e6)} ({figure(built, 1e6)})"
            row += [both, times(quotient(made, ours))]
        rows.append(row)
    head = ["µs for one number", "Reticent", "OpenDP (built)", "ratio", "diffprivlib (built)", "ratio"]
    return table(head, rows)


def array_table(figures):
    rows = []
    for kind in ("laplace", "gaussian", "discrete_laplace"):
        for label, shown in SIZES.items():
            case, row = f"{kind}/{label}", []
            per = {name: figures.calls.get((case, name), {}) for name in ("reticent", "opendp", "diffprivlib")}
            per = {name: r["call_s"] / r["items"] if "call_s" in r else None for name, r in per.items()}
            for peer in ("opendp", "diffprivlib"):
                row += [figure(per[peer], 1e9), times(quotient(per[peer], per["reticent"]))]
            rows.append([f"{MECHANISMS[kind]}, {shown}", f"**{figure(per['reticent'], 1e9)}**", *row])
    return table(["ns per element", "Reticent", "OpenDP", "ratio", "diffprivlib", "ratio"], rows)


def failure(row):
    """What stands in a cell where there is no figure."""
    kind = row.get("error", "NotImplementedError").split(":")[0]
    return "–" if kind == "NotImplementedError" else kind


def epsilon_table(figures):
    rows = []
    for method, name in METHODS.items():
        row = [f"**{name}**" if method == "reticent" else name]
        for setting in figures.settings:
            seconds = figures.seconds(method, setting)
            shown = figure(seconds, 1e3)
            more = "> " if figures.is_beyond(method, setting) else ""
            if seconds is None:
                row.append(failure(figures.answers.get((method, setting), {})))
            elif method == "reticent":
                row.append(f"**{more}{shown}**")
            else:
                row.append(f"{more}{shown} ({more}{times(figures.ratio(method, setting))})")
        rows.append(row)
    return table(["ms (ratio)", *figures.settings], rows)


def reasons(figures, results):
    """The messages behind the cells without a figure."""
    said = {}
    for (method, setting), row in figures.answers.items():
        if "error" in row:
            said.setdefault(row["error"].rstrip("."), []).append(f"{METHODS[method]} on {setting}")
    for name, why in results["skipped"].items():
        said.setdefault(why.rstrip("."), []).append(name)
    lines = [f"- {'; '.join(where)}: {message}." for message, where in said.items()]
    return "\nNot measured:\n\n" + "\n".join(lines) + "\n" if lines else ""


def score(row, model):
    if row is None:
        return "–"
    if model == "ridge":
        middle = row["median_score"]
        return "below −1,000" if middle < -1000 else f"{middle:.3f}".replace("-", "−")
    warned = ", warned" if row["warned"] else ""
    return f"{100 * row['score']:.1f} ± {100 * row['sd']:.1f}{warned}"


def fit_table(figures, model):
    ways = [(f"**{MODELS[model]}**, {data}", [figures.ours(model, e, data) for e in figures.epsilons])
            for data in ("pandas", "pyarrow")]
    if model in PEER_MODELS:
        found = [figures.peer(model, e) for e in figures.epsilons]
        ways.append((f"diffprivlib {PEER_MODELS[model]}", found))
    rows = []
    for name, found in ways:
        if any(found):
            shown = [f"{score(r, model)}; {figure(r['seconds'], 1e3)}" if r else "–" for r in found]
            rows.append([name, *shown])
    unit = "R²; ms" if model == "ridge" else "accuracy in %; ms"
    return table([unit, *(f"ε = {e:g}" for e in figures.epsilons)], rows) if rows else ""


def import_table(figures):
    rows = [[f"`{module}`", f"**{figure(s, 1e3)}**" if module == "reticent" else figure(s, 1e3)]
            for module, s in figures.imports.items()]
    return table(["import of", "ms"], rows)


def fit_counts(figures):
    """How many fits a cell rests on."""
    ours = next((row for row in figures.fits if row["library"] == "reticent"), None)
    peer = next((row for row in figures.fits if row["library"] == "diffprivlib"), None)
    said = [f"Fits of ours a cell: {ours['fits']}"] if ours else []
    said += [f"of diffprivlib, for each C: {peer['fits']}"] if peer else []
    return "; ".join(said) + "." if said else ""


def section(results):
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    older = {name: version for name, version in machine["peer_versions"].items() if name != "python"}
    beside = ", ".join(f"{name} {version}" for name, version in older.items())
    beside = f" In an environment of their own: {beside}." if beside else ""
    split = "its official training part and tested on its test part" if results["has_test_part"] else \
        "the first four fifths of the bundled rows and tested on the rest"
    wheel = results["wheel_bytes"]
    size = f"The wheel has {figure(wheel, 1e-6)} MB." if wheel else "The size of the wheel was not measured."
    fits = "\n\n".join(filter(None, (fit_table(figures, model) for model in MODELS)))
    return f"""## Python

{machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}; {machine["rustc"]}, Python {machine["python"]}; {versions}; \
{machine["date"]}; load average {machine["load"]} when the run began.{beside}

{target_table(results)}

### One number

A Python call that adds noise to one number, wall clock. A call of Reticent checks its arguments, computes the cost and \
draws 128 times to hide the noise from a clock. The peers build a mechanism and call it; in brackets, a call of a \
mechanism that is already built. Ratios compare with both steps.

{scalar_table(figures)}

### Arrays

`numpy` arrays, wall clock. diffprivlib takes one number at a time, in a loop, with a mechanism that is already built. \
Sizes for which one call would take more than {results["slow_call_s"]} s are left out.

{array_table(figures)}

### ε in a Python process

Milliseconds for one ε, from the description of the events to the number, and how many times faster Reticent is. The \
settings are those of the Accounting section, where the answers are compared with the exact value. A fresh process for \
every cell; imports and the first call come before the clock starts, except that a first call of more than 5 s is the \
one that counts. Wall time, median of the calls; of a peer, the smaller of wall and CPU time. "> " marks a peer that was \
stopped after {results["limit_s"]:g} s: the ratio is a lower bound. Numbers behind the names are the discretization of \
a PLD and the accepted error of ε of a PRV.

{epsilon_table(figures)}

### Estimators

UCI Adult: income for the classifiers, hours worked per week for the regressions, trained on {split}. Pure ε, \
replace-one (diffprivlib's relation). Reticent takes a data frame with the public schema and default settings: its time \
includes reading the frame, encoding the rows and storing the model with its certificate. diffprivlib takes the encoded \
features, which are not part of its time, and its logistic regression is shown with the C that does best *on the test \
part*, which no user can know without spending privacy. Its linear regression adds noise to every product of two \
features, of which there are many here. Accuracy is the mean ± standard deviation on the test part, R² the median; then \
the median time of a fit. "Warned": the fit itself says that the noise may drown the model. {fit_counts(figures)}

{fits}

### Import and size

An import in a fresh interpreter, with everything that it imports, median. {size}

{import_table(figures)}
{reasons(figures, results)}
### How this is measured

`python3 bench/python/run.py` runs it all again: it builds the wheel, installs it beside the peers pinned in \
`bench/python/requirements.txt`, and measures every library in processes of its own on the same machine, with at most \
{results["memory_gib"]} GiB of data. diffprivlib does not import with the scikit-learn that Reticent is measured with, so it \
has an environment of its own (`bench/erm/requirements.txt`). Calls are repeated for a quarter of a second, in \
{results["repeats"]} rounds over the libraries; figures are medians. Wall-clock figures want a quiet machine. Nothing in the \
gate depends on a time. All numbers: `bench/python/results.json`.
"""


def write(docs, results):
    """Replaces the section in the page, or adds it."""
    harness.write_section(docs, (START, END), section(results))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs", json.loads((here / "results.json").read_text()))
