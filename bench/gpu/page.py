"""The GPU section of docs/benchmarks.md, made from results.json.

    python3 bench/gpu/page.py [RESULTS]      writes it anew from the results that are there, or from these
"""

import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

START, END = "<!-- gpu: written by bench/gpu/page.py -->", "<!-- gpu: end -->"

# Network: name in the page, then the targets: private ÷ own plain and private ÷ plain eager PyTorch at most, fastest
# Opacus ÷ private at least.
MODELS = {
    "logreg": ("logistic 784-10", 1.6, 0.3, 8.0),
    "mlp": ("MLP 784-512-256-10", 1.15, 0.3, 8.0),
    "mnist_cnn": ("MNIST CNN", 1.15, 0.7, 1.0),
    "cifar_cnn": ("CIFAR CNN, tanh", 1.15, 1.1, 1.0),
    "transformer": ("transformer 2 × 128", 1.15, 1.1, 1.0),
    "lstm": ("LSTM 64-128", 1.15, 1.1, 1.0),
}
LARGE = 1024  # batch from which the target against eager PyTorch holds, except for the logistic network and the MLP
SMALL = ("logreg", "mlp")
FIRST_START, NEXT_START = 5.0, 1.0  # seconds at most
OURS = ("private", "plain")
EAGER = ("eager", "eager_searched")
COMPILED = ("compiled", "compiled_graphs")
OPACUS = ("hooks", "ghost", "functorch", "ew")
MODES = {
    "private": "**Reticent, private**",
    "plain": "**Reticent, not private**",
    "eager": "PyTorch eager",
    "eager_searched": "PyTorch eager, cuDNN search",
    "eager_default": "PyTorch eager, TF32 in cuDNN",
    "compiled": "PyTorch compiled",
    "compiled_graphs": "PyTorch compiled, CUDA graphs",
    "hooks": "Opacus hooks",
    "ghost": "Opacus ghost",
    "functorch": "Opacus functorch",
    "ew": "Opacus expanded weights",
    "vmap": "PyTorch `vmap`, private",
}


class Figures:
    """The measurements by network, batch size and mode, all rounds together."""

    def __init__(self, results):
        self.rows = results["measurements"]
        found = {(row["model"], row["batch"]) for row in self.rows if "batch" in row}
        order = list(MODELS)
        self.columns = sorted(found, key=lambda column: (order.index(column[0]), column[1]))
        self.modes = [mode for mode in MODES if any(row.get("mode") == mode for row in self.rows)]

    def of(self, column, mode):
        model, batch = column
        return [row for row in self.rows if (row["model"], row.get("batch"), row.get("mode")) == (model, batch, mode)]

    def blocks(self, column, mode):
        """Seconds a step, block by block."""
        return [step for row in self.of(column, mode) for step in row.get("block_step_s", [])]

    def median(self, column, mode):
        found = self.blocks(column, mode)
        return statistics.median(found) if found else None

    def best(self, column, mode):
        return min(self.blocks(column, mode), default=None)

    def fastest(self, column, modes):
        """The mode with the least median; None without a figure."""
        found = [mode for mode in modes if self.blocks(column, mode)]
        return min(found, key=lambda mode: self.median(column, mode), default=None)

    def ratio(self, column, over, under):
        """A mode's time over another's: of the medians and of the best blocks; None without both."""
        if not (over and under and self.blocks(column, over) and self.blocks(column, under)):
            return None
        median = self.median(column, over) / self.median(column, under)
        return {"median": median, "best": self.best(column, over) / self.best(column, under)}

    def error(self, column, mode):
        return next((row["error"] for row in self.of(column, mode) if row.get("error")), None)

    def drift(self):
        """The most that the medians of two rounds of ours differ, relative; None with one round."""
        found = []
        for column in self.columns:
            for mode in OURS:
                rounds = [row["step_s"] for row in self.of(column, mode) if row.get("step_s")]
                if len(rounds) > 1:
                    found.append(max(rounds) / min(rounds) - 1.0)
        return max(found, default=None)


def ratios(results):
    """Our private step over everything else, and everything else over eager PyTorch."""
    figures, found = Figures(results), []
    pairs = [("private", base) for base in MODES if base != "private"]
    pairs += [(mode, "eager") for mode in MODES if mode not in ("private", "eager")]
    for column in figures.columns:
        for mode, base in pairs:
            ratio = figures.ratio(column, mode, base)
            if ratio:
                found.append({"model": column[0], "batch": column[1], "mode": mode, "base": base, **ratio})
    return found


def compared(figures, column):
    """What is compared at one network and batch size: name, sign and number of the target if there is one, ratio."""
    model, batch = column
    _, own, eager, opacus = MODELS[model]
    has_aim = model in SMALL or batch >= LARGE
    ratio = lambda over, under: figures.ratio(column, over, under)  # noqa: E731
    return [
        ("private ÷ own plain", "≤", own, ratio("private", "plain")),
        ("private ÷ eager PyTorch", "≤", eager if has_aim else None, ratio("private", figures.fastest(column, EAGER))),
        ("fastest Opacus ÷ private", "≥" if opacus > 1 else ">", opacus, ratio(figures.fastest(column, OPACUS), "private")),
        ("private ÷ eager PyTorch, TF32 in cuDNN", "", None, ratio("private", "eager_default")),
        ("private ÷ compiled PyTorch", "", None, ratio("private", figures.fastest(column, COMPILED))),
        ("`vmap` ÷ private", "", None, ratio("vmap", "private")),
    ]


def is_met(sign, aim, value):
    return {"≤": value <= aim, "≥": value >= aim, ">": value > aim}[sign]


def targets(results):
    """What was aimed at, and whether it was met; a missing figure meets nothing."""
    figures, listed = Figures(results), []
    for column in figures.columns:
        for what, sign, aim, ratio in compared(figures, column):
            if aim is None:
                continue
            met = ratio is not None and is_met(sign, aim, ratio["median"])
            row = {"model": column[0], "batch": column[1], "what": what, "target": f"{sign} {aim:g}"}
            listed.append({**row, "measured": shown(ratio), "met": met})
    for state, what, aim in (("empty", "start, no kernels cached", FIRST_START), ("cached", "start, kernels cached", NEXT_START)):
        found = [row["start_s"] for row in results["starts"] if row["state"] == state and "start_s" in row]
        measured = f"{min(found):.2f} to {max(found):.2f} s" if found else "no figure"
        met = bool(found) and len(found) == sum(row["state"] == state for row in results["starts"]) and max(found) <= aim
        listed.append({"what": what, "target": f"≤ {aim:g} s", "measured": measured, "met": met})
    return listed


def shown(ratio):
    return f"{short(ratio['median'])} ({short(ratio['best'])})" if ratio else "no figure"


def short(value):
    """Three digits, or more before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def heads(figures):
    return [f"{MODELS[model][0]}; batch {batch:,}" for model, batch in figures.columns]


def ratio_table(figures):
    """Ratios against networks, with targets where there are any."""
    rows = {}
    for column in figures.columns:
        for what, sign, aim, ratio in compared(figures, column):
            cell = shown(ratio) if ratio else "–"
            if aim is not None:
                met = ratio is not None and is_met(sign, aim, ratio["median"])
                cell = f"{shown(ratio)}; {sign} {aim:g}: {'yes' if met else '**no**'}"
            rows.setdefault(what, [what]).append(cell)
    return table(["ratio", *heads(figures)], list(rows.values()))


def cells(figures, head, cell):
    """A table of modes against networks; `cell` gives None where there is no figure."""

    def filled(column, mode):
        error = figures.error(column, mode)
        return cell(column, mode) or ("out of memory" if error == "out of memory" else "failed" if error else "–")

    rows = [[MODES[mode], *(filled(column, mode) for column in figures.columns)] for mode in figures.modes]
    return table([head, *heads(figures)], rows)


def time_table(figures):
    def cell(column, mode):
        found = figures.median(column, mode)
        return found and f"{short(1e3 * found)} ({short(1e3 * figures.best(column, mode))})"

    return cells(figures, "ms a step", cell)


def memory_table(figures, idle):
    def cell(column, mode):
        held = [row["card_mb"] - idle for row in figures.of(column, mode) if row.get("card_mb") is not None]
        held += [row["peak_mb"] for row in figures.of(column, mode) if row.get("peak_mb") and row.get("block_step_s")]
        return f"{max(held):,.0f}" if held else None

    return cells(figures, "MB on the device", cell)


def start_table(results):
    """Seconds until the weights after the first step are there, in brackets until the engine is."""
    rows = []
    for model, (name, *_) in MODELS.items():
        row = [name]
        for state in ("empty", "cached"):
            found = [start for start in results["starts"] if (start["model"], start["state"]) == (model, state)]
            timed = [start for start in found if "start_s" in start]
            if timed:
                whole, engine = (statistics.median(start[field] for start in timed) for field in ("start_s", "engine_s"))
                row.append(f"{whole:.2f} ({engine:.2f})")
            else:
                row.append("failed" if found else "–")
        rows.append(row)
    return table(["start, s", "no kernels cached", "kernels cached"], [row for row in rows if row[1:] != ["–", "–"]])


def start_targets(results):
    listed = [target for target in results["targets"] if "model" not in target]
    rows = [[row["what"], row["target"], row["measured"], "yes" if row["met"] else "**no**"] for row in listed]
    return table(["target", "aim", "measured", "met"], rows)


def failures(results, figures):
    lines = []
    for column, head in zip(figures.columns, heads(figures)):
        found = [(mode, figures.error(column, mode)) for mode in figures.modes]
        lines += [f"- {head}, {MODES[mode]}: {error}" for mode, error in found if error]
    lines += [f"- {MODELS[row['model']][0]}: {row['error']}" for row in results["measurements"] if "mode" not in row]
    lines += [f"- {MODELS[row['model']][0]}, start: {row['error']}" for row in results["starts"] if row.get("error")]
    return "\n\nWithout a figure:\n\n" + "\n".join(lines) if lines else ""


def recipes():
    """Whole trainings by the command, if they are stored."""
    stored = Path(__file__).resolve().parent / "recipes.json"
    if not stored.exists():
        return ""
    found = json.loads(stored.read_text())
    lines = [
        "### Whole trainings",
        "",
        "| data | network | ε, δ | batch, epochs | test accuracy | time |",
        "|---|---|---|---|---:|---:|",
    ]
    for run in found["runs"]:
        lines.append(
            f"| {run['data']} | {run['model']} | {run['epsilon']}, {run['delta']:.0e} | {run['batch']:,}, {run['epochs']} "
            f"| {100 * run['accuracy']:.2f} % | {run['seconds']} s |"
        )
    note = (
        f"The whole command on the same device ({found['date']}), from reading the images to the certificate, with an evaluation after "
        f"every epoch; the first compiled its kernels. One run each, settings not tuned here: `bench/gpu/recipes.json`."
    )
    return "\n".join([*lines, "", note, "", ""])


def section(results):
    figures, machine = Figures(results), results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    met = sum(target["met"] for target in results["targets"])
    cold = next((row for row in results["starts"] if row["state"] == "cold" and "start_s" in row), None)
    first = f" The very first start on the machine, with the libraries still to be read from disk, took {cold['start_s']:.1f} s." if cold else ""
    drift = figures.drift()
    drifted = f" Our two rounds, before and after the peers, differ by at most {100 * drift:.1f} %." if drift is not None else ""
    return f"""## Private training on a GPU

{machine["gpu"]}, driver {machine["driver"]}; {machine["cpu"]}, {machine["cores"]} cores, {machine["os"]}; Python {machine["python"]}; \
{versions}; {machine["date"]}. {met} of {len(results["targets"])} targets are met.

{ratio_table(figures)}

Ratios of the median block, in brackets of the best block; then the target and whether the median meets it. "Eager PyTorch" is the faster of its settings in single precision, "compiled" the faster of its two modes.

{time_table(figures)}

Median block, in brackets the best.{drifted}

{memory_table(figures, machine["idle_mb"])}{failures(results, figures)}

### Start

{start_targets(results)}

{start_table(results)}

From asking for the device to the weights after the first private step, in a fresh process; in brackets until the engine is ready.{first}

{recipes()}### How this is measured

`python3 bench/gpu/run.py` runs it all again on a machine with a GPU; its first lines say what to bring. Single precision: products and \
convolutions without TF32 in every row but the one that names it. A fixed synthetic batch, on the device from the start; it is the batch of \
`bench/dpsgd`, repeated up to the size. Noise of deviation 1 on the sum, flat clipping to 1 (ours to 0.001, because our trainer refuses \
plans without a finite ε; a step computes the same), SGD without momentum. Ours is the trainer's own step: sampling by the secure generator, \
clipping, noise, update. A step of the peers is forward pass, loss, backward pass, optimizer step and `zero_grad(set_to_none=True)`; Opacus \
keeps its accountant. Steps are issued back to back in {results["blocks"]} blocks of at least {results["seconds"]:g} s, after warming up; a block \
ends when the device has done its work, ours when the weights have been read. Ours has a process for every network, batch size and mode, and \
is measured before and after the peers; PyTorch has a process for every network. Opacus has its own LSTM and attention layers where it needs \
them, and `vmap` its LSTM. Memory: ours is what the card holds more than before, context and libraries included; PyTorch's is the most that \
its tensors held. All numbers: `bench/gpu/results.json`.
"""


def write(docs, results):
    """Replaces the section in the page, or adds it."""
    if results["trial"]:
        raise SystemExit("these results are of a trial: run bench/gpu/run.py without --quick, --ours and --models")
    harness.write_section(docs, (START, END), section(results))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else here / "results.json"
    write(here.parent.parent / "docs", json.loads(path.read_text()))
