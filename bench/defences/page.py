"""The Defences section of docs/benchmarks.md, made from results.json.

    python3 bench/defences/page.py      writes it anew from the results that are there
"""

import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import harness  # noqa: E402

START, END = "<!-- defences: written by bench/defences/run.py -->", "<!-- defences: end -->"
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
ORIGINAL = "nasr-supervised-outputs"
ATTACKS = {
    ORIGINAL: "original-style",
    "yeom-loss": "threshold",
    "label-only": "label-only",
    "lira-label-only": "LiRA, classes only",
    "lira-online": "LiRA",
    "rmia-online": "RMIA",
    "lira-online-gradient": "LiRA, gradients",
    "nasr-supervised": "original-style, gradients",
}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def mean(values, scale=100.0, digits=1):
    """The mean with half the width of its 95 % interval over targets."""
    values = [scale * value for value in values if value is not None]
    if not values:
        return "–"
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return f"{text} ± {half:.{digits}f}"


def figures(row, attack, figure):
    return [own[figure] for target in row["attacks"] for own in target if own["attack"] == attack]


def find(results, dataset, defence, strength=None):
    rows = [row for row in results["judged"] if row["dataset"] == dataset and row["defence"] == defence]
    return next((row for row in rows if strength is None or row["strength"] == strength), None)


def courses(results):
    """The table of the courses: train, test, attack, without and with the defence."""
    rows = []
    for dataset, strength in results["chosen"].items():
        cells = [f"{dataset} (λ = {strength:g})"]
        for row in (find(results, dataset, "none"), find(results, dataset, "adversarial", strength)):
            if row is None:
                cells += ["–"] * 3
                continue
            cells += [mean(row["train"]), mean(row["test"]), mean(figures(row, ORIGINAL, "accuracy"))]
        rows.append(cells)
    head = ["data", "without: train", "test", "attack", "with: train", "test", "attack"]
    return table(head, rows)


def adaptive(results):
    """What attackers who adapt find of the same models."""
    text = ""
    for figure, title, scale, digits in (("accuracy", "Accuracy of attacks, %", 100, 1), ("auc", "AUC", 1, 3), ("tpr", "TPR at 1 % FPR, %", 100, 1)):
        rows = []
        for dataset, strength in results["chosen"].items():
            for name, row in (("none", find(results, dataset, "none")), (f"λ = {strength:g}", find(results, dataset, "adversarial", strength))):
                if row:
                    rows.append([dataset, name, *(mean(figures(row, attack, figure), scale, digits) for attack in ATTACKS)])
        text += f"{title}:\n\n" + table(["data", "defence", *ATTACKS.values()], rows) + "\n"
    return text


def strengths(results):
    rows = []
    for row in sorted(results["judged"], key=lambda row: (row["defence"] != "none", row["defence"], row["strength"])):
        if row["dataset"] == "location-30":
            aucs = [mean(figures(row, attack, "auc"), 1, 3) for attack in ("yeom-loss", "lira-label-only", "lira-online", "rmia-online", "lira-online-gradient")]
            tpr = mean(figures(row, "lira-online", "tpr"))
            rows.append([row["defence"], f"{row['strength']:g}", mean(row["train"]), mean(row["test"]), mean(figures(row, ORIGINAL, "accuracy")), *aucs, tpr])
    head = ["defence", "strength", "train, %", "test, %", "original-style, accuracy %", "threshold, AUC", "LiRA classes only, AUC", "LiRA, AUC", "RMIA, AUC", "LiRA gradients, AUC", "LiRA, TPR at 1 % FPR, %"]
    return table(head, rows)


def overlaps(results):
    rows = []
    for pair in results["curves"].get("lira-online auc", {}).get("compared", []):
        if pair["utilities"]:
            low, high = (f"{100 * end:.1f} %" for end in pair["utilities"])
            least, most = pair["range"]
            rows.append([pair["defence"], pair["beside"], f"{low} to {high}", f"{pair['difference']:+.3f}", f"{least:+.3f} to {most:+.3f}"])
        else:
            rows.append([pair["defence"], pair["beside"], "none", "–", "–"])
    return table(["defence", "beside", "test accuracies that both reach", "LiRA's AUC, mean difference", "least to largest"], rows)


def section(results):
    about = results["about"]
    machine = ", ".join(str(value) for value in results.get("machine", {}).values())
    sizes = "; ".join(f"{own['name']} {own['training']:,} training, {own['references']:,} reference records, {own['epochs']} epochs" for own in about["datasets"])
    text = "## Defences against membership inference\n\n"
    text += (
        f"{machine}; {results['seconds']:.0f} s on {about['threads']} threads. One hidden layer of 128 units, Adam; {sizes}. Means over "
        f"{about['targets']} targets with other members and seeds, with 95 % intervals (Student's t). All models of a defence, those of the "
        f"attacker included, have the same defence. λ was chosen on the key `tuning`, which shares no model with these, from {about['tries']} "
        f"tries a data set: the least accuracy of the original-style attack among those that cost at most {100 * about['cost']:.0f} points of test accuracy, "
        "else the least cost. A first grid with λ up to 30, on the same key, was given up because such models predict one class. The original-style attack is a network that learned from the outputs on known members and non-members, judged on others.\n\n"
    )
    text += "### Adversarial regularisation, in the form of the courses (%)\n\n" + courses(results) + "\n"
    text += "### The same models against attackers who adapt\n\n" + adaptive(results)
    text += "### Utility against leakage, Location-30\n\n" + strengths(results) + "\n"
    text += "Defences beside each other where their test accuracies overlap; below 0, the first leaks less:\n\n" + overlaps(results)
    text += (
        "\nOnly DP-SGD has a guarantee (δ = 1e-5); its strength is ε. Figures of the others are of these attacks, and another attack may find "
        "more.\n"
    )
    return text


def write(docs, results):
    """Replaces the section in the page, or adds it."""
    harness.write_section(docs, (START, END), section(results))


if __name__ == "__main__":
    stored = HERE / "results.json"
    if stored.exists():
        write(HERE.parent.parent / "docs", json.loads(stored.read_text()))
