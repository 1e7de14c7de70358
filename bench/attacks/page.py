"""The Attacks section of docs/benchmarks.md, made from results.json and gpu.json.

    python3 bench/attacks/page.py      writes it anew from the results that are there
"""

import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import harness  # noqa: E402

START, END = "<!-- attacks: written by bench/attacks/run.py -->", "<!-- attacks: end -->"
FASTER = 5.0
# Two-sided 95 % quantiles of Student's t by degrees of freedom.
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def percent(share):
    return f"{100 * share:.1f} %"


def mean(values, shown="{:.3f}"):
    """The mean with half the width of its 95 % interval over targets."""
    centre = statistics.fmean(values)
    if float(shown.format(centre)) == 0:
        centre = 0.0
    if len(values) < 2:
        return shown.format(centre)
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return f"{shown.format(centre)} ± {shown.format(half)}"


def machine_line(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['os']}; {machine['rustc']}, Python {machine['python']}; {versions}; "
        f"{machine['date']}; load average {machine['load']} when the part began.\n\n"
    )


def features(part):
    rows = []
    for network, found in part["found"].items():
        times = [f"{1e6 * found[mode]:.1f}" if found.get(mode) else "does not run" for mode in ("ours", "loop", "func")]
        ratios = [f"{found[mode] / found['ours']:.1f}×" if found.get(mode) else "–" for mode in ("loop", "func")]
        rows.append((network, *times, *ratios))
    text = "### White-box signals\n\n" + machine_line(part["machine"])
    text += (
        "Microseconds per example for its loss, the norm of its gradient layer by layer and, for images and tables, the norm of the "
        f"gradient of its input; two threads. Aim: {FASTER:g} times a loop over examples in PyTorch.\n\n"
    )
    return text + table(["network", "**Reticent**", "loop", "`torch.func`", "loop ÷ ours", "`torch.func` ÷ ours"], rows)


def attack_rows(found):
    """Attack: its figures on every target."""
    rows = {}
    for target in found["targets"]:
        for attack in target["attacks"]:
            own = rows.setdefault(attack["name"], {"access": attack["access"], "auc": [], "accuracy": [], "tpr": []})
            own["auc"].append(attack["auc"]["value"])
            own["accuracy"].append(attack["accuracy"]["value"])
            rate = next((rate for rate in attack["rates"] if rate["fpr"] == 0.01), None)
            if rate and rate["tpr"]:
                own["tpr"].append(rate["tpr"]["value"])
    return rows


def by_access(found):
    """Access: name of the attack that was chosen on references most often, and its figures on every target."""
    chosen = {}
    for target in found["targets"]:
        for row in target.get("by_access", []):
            chosen.setdefault(row["access"], []).append(row["attack"])
    return chosen


def background(ours):
    """The records that are in every model."""
    return f" and on {ours['background']:,} others" if ours.get("background") else ""


def recipe_table(recipe, found, where):
    ours, art = found["ours"], found.get("art")
    text = (
        f"**{recipe}**, {ours['records']:,} records that are attacked, every model on half of them"
        f"{background(ours)}; {ours['models']} models, {len(ours['targets'])} targets ({where}); training accuracy {percent(statistics.fmean(ours['train_accuracy']))}, test accuracy "
        f"{percent(statistics.fmean(ours['test_accuracy']))}.\n\n"
    )
    rows = []
    for name, own in attack_rows(ours).items():
        tpr = mean([100 * rate for rate in own["tpr"]], "{:.1f}") if len(own["tpr"]) == len(own["auc"]) else "–"
        accuracy = mean([100 * share for share in own["accuracy"]], "{:.1f}")
        rows.append((name, own["access"], accuracy, mean(own["auc"]), tpr))
    for kind in ("rf", "gb", "nn") if art else ():
        own = [row for row in art["rows"] if row["attack"] == kind]
        accuracy = mean([100 * row["accuracy"] for row in own], "{:.1f}")
        rows.append((f"ART black-box ({kind})", "probabilities; half of the members known", accuracy, mean([row["auc"] for row in own]), "–"))
    return text + table(["attack", "what the attacker sees", "accuracy, %", "AUC", "TPR at 1 % FPR, %"], rows) + "\n"


def summary(tables):
    """The table of the courses: what predictions give away, what gradients do, and the difference."""
    rows = []
    for recipe, ours in tables.items():
        figures = attack_rows(ours)
        best = [max((own for own in figures.values() if access in own["access"]), key=lambda own: statistics.fmean(own["auc"])) for access in ("probabilities", "gradient")]
        gains = [gradients - outputs for outputs, gradients in zip(best[0]["auc"], best[1]["auc"])]
        gap = f"{100 * statistics.fmean(ours['train_accuracy']):.0f} / {100 * statistics.fmean(ours['test_accuracy']):.0f}"
        cells = [f"{mean([100 * share for share in own['accuracy']], '{:.1f}')}; {mean(own['auc'])}" for own in best]
        rows.append((recipe, gap, *cells, mean(gains)))
    head = ["network", "training / test accuracy, %", "predictions: accuracy, %; AUC", "gradients: accuracy, %; AUC", "gain in AUC"]
    return (
        "The strongest attack by predictions and the strongest by gradients of every network (strongest in the mean over targets, "
        "so both columns are optimistic), and the difference target by target:\n\n" + table(head, rows) + "\n"
    )


def tables(part, where):
    text = "".join(recipe_table(recipe, found, where) for recipe, found in part["found"].items())
    return machine_line(part["machine"]) + text


def federated(part):
    found = part["found"]
    passive = [row for row in found["rows"] if "observer" in row]
    active = [row for row in found["rows"] if "attacker" in row]
    runs = len({row["run"] for row in found["rows"]})
    text = "### Federations\n\n" + machine_line(part["machine"])
    text += (
        f"Location-30, {found['parties']} parties with a quarter of 2 505 records each, FedAvg with one local epoch, {found['rounds']} "
        f"rounds; {runs} federations with other members and parties. The learned attack knows the membership of half of the records "
        "and is judged by the others. The server asks about one party's records and sees its models; a party asks about all others' "
        "records and sees the server's weights.\n\n"
    )
    rows = []
    for rounds in dict.fromkeys(tuple(row["rounds"]) for row in passive):
        cells = [", ".join(map(str, rounds))]
        for observer in ("server", "party"):
            own = [row for row in passive if row["observer"] == observer and tuple(row["rounds"]) == rounds]
            cells += [mean([100 * row["accuracy"] for row in own], "{:.1f}"), mean([row["auc"] for row in own])]
        rows.append(cells)
    text += table(["observed rounds", "server: accuracy, %", "server: AUC", "party: accuracy, %", "party: AUC"], rows)
    text += (
        "\nAn active attacker raises the loss of groups of records in rounds 81 to 100 and scores what training brings down again; "
        "beside it the same score of an attacker who only watches the same rounds (AUC):\n\n"
    )
    rows = []
    for attacker in dict.fromkeys(row["attacker"] for row in active):
        own = [row for row in active if row["attacker"] == attacker]
        rows.append((attacker, mean([row["auc"] for row in own]), mean([row["watching"] for row in own])))
    return text + table(["attacker", "raising", "watching"], rows)


def estimate(row):
    return f"{row['value']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"


def measures(disclosures):
    """Every figure of disclosures with its baseline."""
    rows = []
    for own in disclosures:
        for row in own["measures"]:
            others = [estimate(row[name]) if row.get(name) else "–" for name in ("baseline", "difference")]
            rows.append((own["name"], row["what"], row["condition"], estimate(row["attack"]), *others))
    return table(["attack", "what", "condition", "attack", "without the model", "difference"], rows)


def informed(part):
    found = part["found"]
    text = "### One record of a linear model, from all others\n\n" + machine_line(part["machine"])
    text += (
        f"Exact logistic regression on the census data, 26 194 rows and 125 features; {found['records']} records, one at a time, "
        f"{1e3 * found['record_s']:.1f} ms each with reading the data:\n\n"
    )
    text += measures(found["ours"])
    errors = found["art"]["largest_error"]
    return text + (
        f"\nART's `DatabaseReconstruction` on the five numeric columns of 1 000 rows: {found['art']['record_s']:.1f} s a record; of "
        f"{len(errors)} records {sum(error < 0.01 for error in errors)} recovered with all features within 0.01 of their range (median of the "
        f"largest error {statistics.median(errors):.2g}).\n"
    )


def inversion(part):
    text = "### Images from gradients\n\n" + machine_line(part["machine"])
    text += (
        "MNIST, two convolutions with tanh and a linear layer after one epoch without privacy; the exact gradient of a batch at the "
        "final weights, 600 steps. PyTorch: the algorithm of Geiping et al. (2020), written for this benchmark, with true labels given; "
        "ours recovers them. Images differ: ours are drawn by a key, PyTorch's are the first ones.\n\n"
    )
    rows = []
    for batch, found in part["found"].items():
        own = [row for one in found["ours"] if one["name"] == "gradient-inversion" for row in one["measures"]]
        psnr = next(row for row in own if "PSNR" in row["what"] or "signal-to-noise" in row["what"])
        times = (f"{found['image_s']:.2f}", f"{found['torch']['image_s']:.2f}")
        rows.append((batch, estimate(psnr["attack"]), estimate(psnr["baseline"]), f"{statistics.median(found['torch']['psnr']):.1f}", *times))
    head = ["batch", "ours: median PSNR, dB", "mean image: PSNR, dB", "PyTorch: median PSNR, dB", "ours: s an image", "PyTorch: s an image"]
    return text + table(head, rows)


def attribute(part):
    found = part["found"]
    text = "### An attribute\n\n" + machine_line(part["machine"])
    text += f"`sex` in the census data, from the exact logistic model; {found['seconds']:.1f} s.\n\n" + measures(found["ours"])
    art = found["art"]
    return text + (
        f"\nART's black-box attribute inference on a logistic model of the numeric columns: {percent(art['attack'])} with the model, "
        f"{percent(art['baseline'])} by its baseline, which does not see the label; {art['seconds']:.1f} s.\n"
    )


PARTS = {"federated": federated, "informed": informed, "inversion": inversion, "attribute": attribute}


def section(results):
    text = "## Attacks with the weights\n\n"
    text += (
        "Means over targets with 95 % intervals (Student's t over targets). Accuracy is the best mean of true-positive and "
        "true-negative rate. Attacks that learn from known members are judged by the other records. Recipes and attacks were settled "
        "with the key `tuning`, which shares no model with the key `judged` of these tables.\n\n"
    )
    if "features" in results:
        text += features(results["features"]) + "\n"
    if "tables" in results:
        text += "### By what the attacker sees, two cores\n\n" + summary({name: found["ours"] for name, found in results["tables"]["found"].items()})
        text += tables(results["tables"], "two cores")
    gpu = HERE / "gpu.json"
    if gpu.exists():
        part = json.loads(gpu.read_text())
        text += "### By what the attacker sees, networks of full size on a GPU\n\n" + summary(part["found"])
        text += "".join(recipe_table(recipe, {"ours": found}, part["where"]) for recipe, found in part["found"].items())
    for name, words in PARTS.items():
        if name in results:
            text += words(results[name]) + "\n"
    missing = [name for name in ("features", "tables", *PARTS) if name not in results]
    if missing:
        text += f"Parts of `bench/attacks/run.py` without results: {', '.join(missing)}.\n\n"
    text += (
        "### Not run\n\n`leakpro` 0.0.1 in the package index is empty, and its repository is not installable by name; `breaching` 0.1.2 (2022) was "
        "not tried with this PyTorch; ML Privacy Meter 1, which had white-box and federated attacks, needs TensorFlow 1.\n"
    )
    return text


def write(docs, results):
    """Replaces the section in the page, or adds it."""
    harness.write_section(docs, (START, END), section(results))


if __name__ == "__main__":
    stored = HERE / "results.json"
    write(HERE.parent.parent / "docs", json.loads(stored.read_text()) if stored.exists() else {})
