"""The section on accuracy of docs/benchmarks.md, made from results.json.

    python3 bench/frontier/page.py
"""

import json
import math
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
START, END = "<!-- frontier: written by bench/frontier/page.py -->", "<!-- frontier: end -->"

# Published test accuracy at epsilon = 3, delta = 1e-5: Tramèr and Boneh (2021), DPSUR (2024).
PUBLISHED = {"mnist": (98.7, 98.88), "fashion-mnist": (89.7, 89.71), "cifar10": (69.3, 70.83)}
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def place(run):
    """Where a run was made, in words."""
    found = run["where"]
    if found["device"] == "cuda":
        return found["gpu"].split(",")[0]
    return f"{found['cores']} CPU cores"


def rows(results):
    groups = {}
    for run in results["runs"]:
        groups.setdefault((run["data"], place(run)), []).append(run)
    for (name, machine), runs in groups.items():
        values = [run["accuracy"] for run in runs]
        mean, margin = statistics.mean(values), ""
        if len(values) > 1:
            half = QUANTILES[min(len(values) - 1, 9)] * statistics.stdev(values) / math.sqrt(len(values))
            margin = f" ± {half:.2f}"
        seconds = statistics.median(run["seconds"] for run in runs)
        time = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
        epsilon = max(run["epsilon"] for run in runs)
        first, second = PUBLISHED[name]
        yield (
            f"| {name} | {machine} | {len(values)} | **{mean:.2f}**{margin} | {min(values):.2f} to {max(values):.2f} "
            f"| {math.ceil(epsilon * 1e4) / 1e4:.4f} | {time} | {first} | {second} |"
        )


def main():
    results = json.loads((HERE / "results.json").read_text())
    dates = sorted({run["date"] for run in results["runs"]})
    section = f"""
## Accuracy at ε = 3

Test accuracy (%) of `reticent train mnist|fashion-mnist|cifar10 --epsilon 3 --delta 1e-5 --dataset-size N`, with no other
setting: ScatterNet features, then a linear model (MNIST, Fashion-MNIST) or a small convolutional network (CIFAR-10). The mean
has a 95 % interval over runs. Time is that of the whole command, with reading the images and computing the features.
Where a recipe trains on copies of each image, an image is scored by the mean over its copies, as the command does.

| data | machine | runs | mean | range | ε | time | Tramèr and Boneh | DPSUR |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows(results))}

The settings were chosen on a split of the training data, with a prototype in PyTorch, at the published architecture of Tramèr
and Boneh (2021): 59 trainings on MNIST, 65 on Fashion-MNIST and 62 on CIFAR-10. The test sets were not used for any choice.
Their cost is not part of ε: like all published figures beside them, these belong to settings chosen on the same data.
`reticent tune` chooses settings with a cost that is part of ε.

Made by `bench/frontier/run.py` on {' and '.join(dates)}.
"""
    harness.write_section(HERE.parent.parent / "docs", (START, END), section)


if __name__ == "__main__":
    main()
