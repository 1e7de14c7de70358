"""The Private training section of docs/benchmarks.md, made from results.json.

    python3 bench/dpsgd/page.py      writes it anew from the results that are there
"""

import json
import statistics
from pathlib import Path

START, END = "<!-- dpsgd: written by bench/dpsgd/run.py -->", "<!-- dpsgd: end -->"

# Network: name in the page, and the slowdown against plain PyTorch that every peer measured so far exceeds.
MODELS = {
    "logreg": ("logistic 784-10", 2.1),
    "mlp": ("MLP 784-512-256-10", 2.2),
    "mnist_cnn": ("MNIST CNN", 1.7),
    "cifar_cnn": ("CIFAR CNN, tanh", 1.8),
    "transformer": ("transformer 2 × 128", 1.8),
    "lstm": ("LSTM 64-128", 5.0),
}
OURS = ("private", "plain")
PEERS = ("hooks", "hooks_kept", "ghost", "ghost_kept")
MODES = {
    "private": "**Reticent, private**",
    "plain": "**Reticent, not private**",
    "torch": "PyTorch, not private",
    "torch_kept": "PyTorch, not private, pages kept",
    "hooks": "Opacus hooks",
    "hooks_kept": "Opacus hooks, pages kept",
    "ghost": "Opacus ghost",
    "ghost_kept": "Opacus ghost, pages kept",
}
OWN_TIME, OWN_MEMORY, GOAL = 1.25, 1.2, 1.0


class Figures:
    """The measurements by network, mode and round."""

    def __init__(self, results):
        rows = results["measurements"]
        self.by_key = {(row["model"], row["mode"], row["round"]): row for row in rows}
        self.rounds = range(results["rounds"])
        self.models = [model for model in MODELS if any(row["model"] == model for row in rows)]
        self.modes = [mode for mode in MODES if any(row["mode"] == mode for row in rows)]

    def values(self, model, mode, field):
        """A field in every round; None where the round has no figure."""
        return [self.by_key.get((model, mode, number), {}).get(field) for number in self.rounds]

    def median(self, model, mode, field):
        found = [value for value in self.values(model, mode, field) if value is not None]
        return statistics.median(found) if found else None

    def ratio(self, model, mode, base, field="step_s"):
        """A mode over another within each round: median, least and most; None without a round that has both."""
        pairs = zip(self.values(model, mode, field), self.values(model, base, field))
        found = [over / under for over, under in pairs if over is not None and under]
        return {"median": statistics.median(found), "least": min(found), "most": max(found)} if found else None

    def error(self, model, mode):
        return next((error for error in self.values(model, mode, "error") if error), None)


def ratios(results):
    """Times of every mode over plain PyTorch of the same round and the same setting of glibc; memory likewise; and
    our private step over our own plain one and over both settings of plain PyTorch."""
    figures, found = Figures(results), []
    pairs = [("private", base) for base in MODES if base != "private"] + [("plain", "torch"), ("plain", "torch_kept")]
    pairs += [(mode, "torch_kept" if mode.endswith("_kept") else "torch") for mode in PEERS]
    for model in figures.models:
        for mode, base in pairs:
            for field in ("step_s", "peak_mb"):
                ratio = figures.ratio(model, mode, base, field)
                if ratio:
                    found.append({"model": model, "mode": mode, "base": base, "field": field, **ratio})
    return found


def targets(results):
    """What was aimed at for every network, and whether it was met. Against PyTorch the harder of both settings counts."""
    figures, listed = Figures(results), []

    def add(model, what, aim, measured, met):
        listed.append({"what": f"{MODELS[model][0]}: {what}", "target": aim, "measured": measured, "met": bool(met)})

    for model in figures.models:
        own = figures.ratio(model, "private", "plain")
        memory = figures.ratio(model, "private", "plain", "peak_mb")
        if own:
            add(model, "private ÷ own plain time", f"≤ {OWN_TIME}", spread(own), own["median"] <= OWN_TIME)
            add(model, "private ÷ own plain memory", f"≤ {OWN_MEMORY}", spread(memory), memory["median"] <= OWN_MEMORY)
        against = [figures.ratio(model, "private", base) for base in ("torch", "torch_kept")]
        against = [ratio for ratio in against if ratio]
        if against:
            worst, bar = max(against, key=lambda ratio: ratio["median"]), MODELS[model][1]
            add(model, "private ÷ plain PyTorch time", f"< {bar}", spread(worst), worst["median"] < bar)
            add(model, "the same, the goal", f"≤ {GOAL}", spread(worst), worst["median"] <= GOAL)
        peers = {mode: figures.ratio(model, "private", mode) for mode in PEERS}
        peers = {mode: ratio for mode, ratio in peers.items() if ratio}
        if peers:
            closest = max(peers, key=lambda mode: peers[mode]["median"])
            text = f"{spread(peers[closest])} of {MODES[closest]}"
            add(model, "private ÷ the fastest Opacus time", "< 1", text, peers[closest]["median"] < 1)
    return listed


def spread(ratio):
    return f"{ratio['median']:.2f} ({ratio['least']:.2f} to {ratio['most']:.2f})"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cells(figures, head, cell):
    """A table of modes against networks; `cell` gives None where there is no figure."""

    def shown(model, mode):
        return cell(model, mode) or ("failed" if figures.error(model, mode) else "–")

    rows = [[MODES[mode], *(shown(model, mode) for model in figures.models)] for mode in figures.modes]
    return table([head, *(MODELS[model][0] for model in figures.models)], rows)


def speed_table(figures):
    def cell(model, mode):
        speed = figures.median(model, mode, "examples_per_s")
        return speed and (f"{speed:,.0f}" if speed >= 100 else f"{speed:.1f}")

    return cells(figures, "examples/s", cell)


def slowdown_table(figures):
    def cell(model, mode):
        both = [figures.ratio(model, mode, base) for base in ("torch", "torch_kept")]
        return " / ".join(f"{ratio['median']:.2f}" for ratio in both if ratio) or None

    return cells(figures, "time ÷ PyTorch / with pages kept", cell)


def memory_table(figures):
    def cell(model, mode):
        peak, base = (figures.median(model, mode, field) for field in ("peak_mb", "base_mb"))
        return peak and f"{peak:,.0f} ({peak - base:,.0f})"

    return cells(figures, "peak MB (above the start)", cell)


def failures(figures):
    found = [(model, mode, figures.error(model, mode)) for model in figures.models for mode in figures.modes]
    lines = [f"- {MODELS[model][0]}, {MODES[mode]}: {error}" for model, mode, error in found if error]
    return "\n\nWithout a figure:\n\n" + "\n".join(lines) if lines else ""


def section(results):
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    verdicts = [[t["what"], t["target"], t["measured"], "yes" if t["met"] else "**no**"] for t in results["targets"]]
    busy = [row["other_cpu"] for row in results["measurements"] if "other_cpu" in row]
    others = f"{100 * min(busy):.0f} to {100 * max(busy):.0f} % of the machine" if busy else "not known"
    batches = {row["model"]: row["batch"] for row in results["measurements"] if "batch" in row}
    sizes = ", ".join(f"{MODELS[model][0]} {batches[model]}" for model in figures.models if model in batches)
    return f"""## Private training

{machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}; {machine["rustc"]}, Python {machine["python"]}; {versions}; {machine["date"]}; \
load average {machine["load"]} when the run began; other processes used {others} while the clock ran.

{table(["target", "aim", "measured", "met"], verdicts)}

Measured: the median over {results["rounds"]} round(s) of the ratio within a round, with the least and the most. Against PyTorch, the \
harder of its two settings counts.

{speed_table(figures)}

{slowdown_table(figures)}

{memory_table(figures)}{failures(figures)}

### How this is measured

`python3 bench/dpsgd/run.py` runs it all again. A fresh process for every network and mode, one at a time, all modes of a network back \
to back, {results["threads"]} threads, single precision. A fixed synthetic batch, no data loader: {sizes} examples. Noise multiplier 1, \
clip norm 1 (flat), SGD without momentum; 3 steps to warm up, then at least 2.5 s and 8 steps; a mode's time is its median step. \
Opacus has its own LSTM and attention layers where it needs them; plain PyTorch has its own. "Pages kept": glibc is told to hold on to \
freed memory (`MALLOC_MMAP_MAX_=0`, a huge `MALLOC_TRIM_THRESHOLD_`), which spares large steps the page faults. Memory is the most that \
the process ever held, in brackets what of that came after the moment before the first step; PyTorch's start includes its libraries. All \
numbers: `bench/dpsgd/results.json`.
"""


def write(docs, results):
    """Replaces the section in the page, or adds it."""
    path = docs / "benchmarks.md"
    text = path.read_text()
    if START not in text:
        text = f"{text.rstrip()}\n\n{START}\n{END}\n"
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    path.write_text(f"{before}{START}\n{section(results)}{END}{after}")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs", json.loads((here / "results.json").read_text()))
