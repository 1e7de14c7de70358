"""The section on PyTorch modules of docs/benchmarks.md and the table in docs/comparison.md, made from the files in bench/torch/results.

    python3 bench/torch/page.py
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
MARKS = ("<!-- torch: written by bench/torch/page.py -->", "<!-- torch: end -->")

# Model: name in the page, then at most so many times the plain step's time on a CPU and on a GPU, and its memory.
MODELS = {
    "mlp": ("MLP 784-512-256-10", 1.5, 1.5, 1.3),
    "mnist_cnn": ("MNIST CNN", 2.0, 1.5, 2.0),
    "cifar_cnn": ("CIFAR CNN, tanh", 2.0, 1.2, 2.0),
    "resnet18_groupnorm": ("ResNet-18, group norm", 2.0, 1.2, 2.0),
    "transformer": ("transformer 2 × 128", 1.5, 1.25, 1.3),
    "encoder_lora": ("encoder 6 × 768, LoRA", 1.5, 1.25, 1.3),
    "lstm": ("LSTM 64-128", 4.0, 4.0, None),
}
WAYS = {
    "plain": "plain PyTorch",
    "reticent": "**`reticent.torch`**",
    "opacus_hooks": "Opacus hooks",
    "opacus_ghost": "Opacus ghost",
    "opacus_functorch": "Opacus functorch",
    "fastdp": "FastDP",
    "fastdp_origin": "FastDP, origin parameters",
}
PEERS = [way for way in WAYS if way not in ("plain", "reticent")]


def shown(number):
    return "–" if number is None else f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def verdict(value, limit):
    return f"{shown(value)}; ≤ {limit:g}: {'yes' if value <= limit else '**no**'}"


def fastest(model):
    """The fastest peer's name and its milliseconds; None if none ran."""
    found = [(model[way]["milliseconds"], way) for way in PEERS if "milliseconds" in model.get(way, {})]
    return min(found, default=None)


def limits(result, name):
    """At most so many times the plain step's time and memory."""
    _, cpu, gpu, memory = MODELS[name]
    return (cpu if result["kind"] == "cpu" else gpu), memory


def counted(result):
    """Targets, and those that are met."""
    met = []
    for name, model in result["models"].items():
        own, (time, memory) = model["reticent"], limits(result, name)
        met.append(own["ratio"] <= time)
        if memory and "memory_ratio" in own:
            met.append(own["memory_ratio"] <= memory)
        peer = fastest(model)
        if peer:
            met.append(peer[0] > own["milliseconds"])
    return sum(met), len(met)


def ran(result):
    """The ways with a figure, in order."""
    return [way for way in WAYS if any("milliseconds" in model.get(way, {}) for model in result["models"].values())]


def table(result):
    """Ratios to the plain step, milliseconds and memory, model by model."""
    ways = ran(result)
    lines = [
        "| model; batch | plain, ms | " + " | ".join(f"{WAYS[way]}, × plain" for way in ways if way != "plain") + " |",
        "|---" * (1 + len(ways)) + "|",
    ]
    for name, model in result["models"].items():
        title, (limit, _) = MODELS[name][0], limits(result, name)
        cells = [f"{title}; {model['batch']:,}", shown(model["plain"]["milliseconds"])]
        for way in ways[1:]:
            ratio = model.get(way, {}).get("ratio")
            cells.append(verdict(ratio, limit) if way == "reticent" and ratio else shown(ratio))
        lines.append("| " + " | ".join(cells) + " |")
    memory = [name for name, model in result["models"].items() if "peak_mib" in model["plain"]]
    if memory:
        lines += [
            "",
            "| memory of a step; batch | plain, MiB | "
            + " | ".join(f"{WAYS[way]}, × plain" for way in ways if way != "plain")
            + " |",
            "|---" * (1 + len(ways)) + "|",
        ]
    for name in memory:
        model, title = result["models"][name], MODELS[name][0]
        _, limit = limits(result, name)
        cells = [f"{title}; {model['batch']:,}", shown(model["plain"]["peak_mib"])]
        for way in ways[1:]:
            ratio = model.get(way, {}).get("memory_ratio")
            cells.append(verdict(ratio, limit) if way == "reticent" and ratio and limit else shown(ratio))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def counted_threads(result):
    return "one thread" if result["threads"] == 1 else f"{result['threads']} threads"


def machine(result):
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items() if number)
    threads = f", {counted_threads(result)}" if result["kind"] == "cpu" else ""
    load = f"; load average {result['load']} when the run began" if result["kind"] == "cpu" else ""
    shared = " Preliminary: the machine was shared, so times are those of the processor." if result["clock"] == "processor" else ""
    return f"{result['device']}{threads}; Python {result['python']}; {versions}; {result['date'][:10]}{load}.{shared}"


def skipped(result):
    found = [
        f"{MODELS[name][0]} by {WAYS[way]} ({model[way]['skipped']})"
        for name, model in result["models"].items()
        for way in ran(result)
        if "skipped" in model.get(way, {})
    ]
    return ["", "Left out: " + "; ".join(found) + "."] if found else []


def section(results):
    lines = ["## PyTorch modules", ""]
    lines.append("A private training step of `reticent.torch` against the plain step of the same module, and against Opacus and FastDP.")
    for result in results:
        met, count = counted(result)
        lines += ["", f"{machine(result)} {met} of {count} targets are met; being faster than every peer is one of them."]
        lines += ["", *table(result), *skipped(result)]
    lines += [
        "",
        "`bench/torch/run.py` runs it all again; its first lines say what it needs. Single precision without TF32, one batch that stays "
        "in memory, SGD, flat clipping to 1, noise multiplier 1. A step is forward pass, backward pass, noise and update; ours draws "
        "the next sample as well. All ways take turns in one process; times are the best of the rounds. Ratios differ by up to 10 % from run to run, those of memory on a CPU as well. On the H200 the three "
        "smallest networks and the transformer wait for the CPU that launches, and differ by up to 15 % from machine to machine. Memory on a CPU is what ten "
        "steps add to the resident memory of a process of its own, the median of three processes; on a GPU it is the most that tensors hold in a step more than "
        "before it, without 4 bytes a weight that the library keeps for noise. Opacus uses its own LSTM where the model has one. FastDP is "
        "not in the package index: measured was 2.0.0 from its repository, without its accounting, with its default and, where they are "
        "known, with origin parameters; it leaves LSTMs out. Its noise and that of Opacus are PyTorch's, ours is that of the library. Nothing "
        "in the gate depends on a time. All numbers: `bench/torch/results`.",
        "",
    ]
    return "\n".join(lines)


def comparison(results):
    """The table of docs/comparison.md."""
    lines = ["| private step ÷ plain PyTorch step | `reticent.torch` | fastest of Opacus and FastDP | memory | theirs, least memory |"]
    lines.append("|---|---|---|---|---|")
    for result in results:
        place = f"CPU, {counted_threads(result)}" if result["kind"] == "cpu" else result["device"]
        for name, model in result["models"].items():
            own, base = model["reticent"], model["plain"]["milliseconds"]
            peer = fastest(model)
            best = f"{peer[0] / base:.3g} ({WAYS[peer[1]]})" if peer else "–"
            memory = min((model[way]["memory_ratio"] for way in PEERS if "memory_ratio" in model.get(way, {})), default=None)
            cells = [f"{place}: {MODELS[name][0]}", shown(own["ratio"]), best, shown(own.get("memory_ratio")), shown(memory)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    results = []
    for path in sorted((HERE / "results").glob("*.json")):
        result = json.loads(path.read_text())
        results.append(result | {"kind": "cpu" if path.stem == "cpu" else "cuda"})
    docs = harness.ROOT / "docs"
    harness.write_section(docs, MARKS, section(results))
    path, (start, end) = docs / "comparison.md", MARKS
    before, rest = path.read_text().split(start, 1)
    path.write_text(f"{before}{start}\n{comparison(results)}{end}{rest.split(end, 1)[1]}")


if __name__ == "__main__":
    main()
