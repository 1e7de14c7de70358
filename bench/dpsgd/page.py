"""The Private training section of docs/benchmarks.md and its plot, made from results.json.

    python3 bench/dpsgd/page.py      writes both anew from the results that are there
"""

import json
import math
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

START, END = "<!-- dpsgd: written by bench/dpsgd/run.py -->", "<!-- dpsgd: end -->"
PLOT = "dpsgd-bench.svg"

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
COLOURS = {"private": "#d55e00", "plain": "#e69f00", "hooks": "#a05195", "ghost": "#0072b2"}
OWN_TIME, OWN_MEMORY, GOAL = 1.25, 1.2, 1.0
DISTURBED = 0.2  # share of the machine used by others above which a time says little


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
    """What was aimed at for every network, and whether it was met; a missing figure meets nothing. Against PyTorch the
    harder of its two settings counts, and of Opacus the fastest mode."""
    figures, listed = Figures(results), []
    for model in figures.models:
        bar, against = MODELS[model][1], hardest(figures, model, ("torch", "torch_kept"))
        aims = [
            ("private ÷ own plain, time", "≤", OWN_TIME, figures.ratio(model, "private", "plain")),
            ("private ÷ own plain, memory", "≤", OWN_MEMORY, figures.ratio(model, "private", "plain", "peak_mb")),
            ("private ÷ plain PyTorch, time", "<", bar, against),
            ("the same, the goal", "≤", GOAL, against),
            ("private ÷ fastest Opacus, time", "<", 1.0, hardest(figures, model, PEERS)),
        ]
        for what, sign, aim, ratio in aims:
            met = ratio is not None and (ratio["median"] < aim or (sign == "≤" and ratio["median"] == aim))
            row = {"model": model, "what": what, "target": f"{sign} {aim:g}"}
            listed.append({**row, "measured": spread(ratio) if ratio else "no figure", "met": met})
    return listed


def hardest(figures, model, bases):
    """Our private step over the base that makes the ratio largest."""
    found = [figures.ratio(model, "private", base) for base in bases]
    return max((ratio for ratio in found if ratio), key=lambda ratio: ratio["median"], default=None)


def target_table(results):
    """Targets against networks."""
    listed = results["targets"]
    models = list(dict.fromkeys(target["model"] for target in listed))
    rows = []
    for what in dict.fromkeys(target["what"] for target in listed):
        row = [what]
        for target in (next(t for t in listed if (t["model"], t["what"]) == (model, what)) for model in models):
            row.append(f"{target['measured']}; {target['target']}: {'yes' if target['met'] else '**no**'}")
        rows.append(row)
    return table(["target", *(MODELS[model][0] for model in models)], rows)


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


def utility():
    """What a network learns, from a run that was recorded by hand."""
    run = json.loads((Path(__file__).resolve().parent / "utility.json").read_text())
    times = "once" if run["runs"] == 1 else f"{run['runs']} times"
    return (
        f"**It learns.** {run['data']}: {100 * run['test_accuracy']:.2f} % with `{run['model']}` at ε = {run['epsilon']:.4f}, "
        f"δ = {run['delta']:g} ({run['neighboring']}), {run['steps']} steps with noise multiplier {run['noise_multiplier']:.3f}; "
        f"recipe `{run['recipe']}`, run {times}, {run['seconds']} s on a machine that was busy with other work."
    )


def section(results):
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    busy = [row["other_cpu"] for row in results["measurements"] if "other_cpu" in row]
    others = f"{100 * min(busy):.0f} to {100 * max(busy):.0f} % of the machine" if busy else "an unknown share"
    many = sum(share > DISTURBED for share in busy)
    batches = {row["model"]: row["batch"] for row in results["measurements"] if "batch" in row}
    sizes = ", ".join(f"{batches[model]} ({MODELS[model][0]})" for model in figures.models if model in batches)
    return f"""## Private training

{machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}; {machine["rustc"]}, Python {machine["python"]}; {versions}; {machine["date"]}; \
load average {machine["load"]} when the run began; other processes used {others} while the clock ran, more than {100 * DISTURBED:.0f} % in {many} of {len(busy)} measurements.

{target_table(results)}

The median over {results["rounds"]} rounds of the ratio within a round, with the least and the most, then what was aimed at and whether \
it is met. Against PyTorch the harder of its two settings counts, and of Opacus the fastest mode.

![Time of a step against plain PyTorch]({PLOT})

{speed_table(figures)}

{slowdown_table(figures)}

{memory_table(figures)}{failures(figures)}

{utility()}

### How this is measured

`python3 bench/dpsgd/run.py` runs it all again. A fresh process for every network and mode, one at a time, all modes of a network back \
to back, {results["threads"]} threads, single precision. A fixed synthetic batch, no data loader; examples in it: {sizes}. Noise of \
deviation 1 on the sum, flat clipping to 1 (ours to 0.001, because our trainer refuses plans without a finite ε; a step computes the \
same), SGD without momentum. Ours is the trainer's own step with every example in it, its noise drawn by the same threads when they \
have done their share. 3 steps to warm up, then at least 2.5 s and 8 steps; a mode's time is its median step. \
Opacus has its own LSTM and attention layers where it needs them; plain PyTorch has its own. "Pages kept": glibc is told to hold on to \
freed memory (`MALLOC_MMAP_MAX_=0`, a huge `MALLOC_TRIM_THRESHOLD_`), which spares large steps the page faults. Memory is the most that \
the process ever held, in brackets what of that came after the moment before the first step; PyTorch's start includes its libraries. All \
numbers: `bench/dpsgd/results.json`.
"""


def plot(results):
    """Times over plain PyTorch of the same round, a row for each network, as SVG."""
    figures, row, top = Figures(results), 56, 84
    bottom = top + row * len(figures.models)
    across = lambda ratio: 190 + 650 * (math.log10(min(max(ratio, 0.1), 200)) + 1) / (math.log10(200) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {bottom + 44}" font-family="sans-serif" font-size="13" fill="#222">',
        "<title>Time of a step against plain PyTorch</title>",
        f'<rect width="880" height="{bottom + 44}" fill="#fff"/>',
        '<text x="20" y="28" font-size="17" font-weight="bold">Time of a training step ÷ plain PyTorch</text>',
    ]
    for index, mode in enumerate(COLOURS):
        x = 30 + 200 * index
        out.append(f'<circle cx="{x}" cy="54" r="6" fill="{COLOURS[mode]}"/><text x="{x + 12}" y="58">{MODES[mode].strip("*")}</text>')
    for ratio in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        x, style = across(ratio), 'stroke="#555" stroke-dasharray="5 4"' if ratio == 1 else 'stroke="#ddd"'
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" {style}/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{ratio:g}</text>')
    for index, model in enumerate(figures.models):
        y = top + row * index
        if index % 2 == 0:
            out.append(f'<rect x="10" y="{y}" width="860" height="{row}" fill="#000" fill-opacity="0.04"/>')
        out.append(f'<text x="20" y="{y + row / 2 + 4}">{MODELS[model][0]}</text>')
        for lane, mode in enumerate(COLOURS):
            for shown, base in ((mode, "torch"), (f"{mode}_kept", "torch_kept")):
                ratio = figures.ratio(model, shown, base)
                if ratio:
                    filled = f'fill="{COLOURS[mode]}"' if base == "torch" else f'fill="none" stroke="{COLOURS[mode]}" stroke-width="1.5"'
                    told = f"{MODES[shown].strip('*')}, {MODELS[model][0]}: {ratio['median']:.2f}"
                    place = f'cx="{across(ratio["median"]):.1f}" cy="{y + 10 + 12 * lane}"'
                    out.append(f'<circle {place} r="5" {filled}><title>{told}</title></circle>')
    out.append(f'<text x="515" y="{bottom + 36}" text-anchor="middle" fill="#555">log scale; rings: pages kept, both sides</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def write(docs, results):
    """Replaces the section in the page, or adds it; draws the plot."""
    harness.write_section(docs, (START, END), section(results))
    (docs / PLOT).write_text(plot(results))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs", json.loads((here / "results.json").read_text()))
