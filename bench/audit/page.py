"""The Audit section of docs/benchmarks.md and its plot, made from results.json.

    python3 bench/audit/page.py      writes both anew from the results that are there
"""

import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

START, END = "<!-- audit: written by bench/audit/run.py -->", "<!-- audit: end -->"
PLOT = "audit-bench.svg"
# Attack and with what: least AUC and least TPR at 0.1 % false alarms.
AIMS = {
    ("lira-online", "32 references, variance per record"): (0.955, 0.25),
    ("rmia-offline", "two references, one without each record"): (0.92, None),
}
FASTER, RMIA_MS = 3.0, 10.0


def percent(share):
    return f"{100 * share:.1f} %"


def ratios(results, mode):
    """How many times as long a way of the peer takes, round by round."""
    return [row[mode]["seconds"] / row["ours"]["seconds"] for row in results["rounds"]]


def strengths(results):
    """Attack and with what: the figures, equal in every round since references are repeatable."""
    return {(row["attack"], row["with"]): row for row in results["rounds"][0]["ours"]["attacks"]}


def targets(results):
    """Aim, what was measured, and whether it is met."""
    found, rows = strengths(results), []
    for key, (auc, rate) in AIMS.items():
        row = found.get(key)
        if row is None:
            continue
        name = f"{key[0]}, {key[1]}"
        rows.append((f"{name}: AUC", f"at least {auc}", f"{row['auc']:.3f}", row["auc"] >= auc))
        if rate is not None:
            value = row["tpr_at_0.1_percent"]
            rows.append((f"{name}: TPR at 0.1 %", f"at least {percent(rate)}", percent(value), value >= rate))
    for mode, words in (("usual", "PyTorch"), ("fused", "PyTorch with fused Adam")):
        ratio = statistics.median(ratios(results, mode))
        rows.append((f"whole audit, training included, against {words}", f"at least {FASTER:g}×", f"{ratio:.2f}×", ratio >= FASTER))
    taken = results["rmia"]["milliseconds"]
    rows.append(("RMIA scores, 10⁴ × 10⁴", f"below {RMIA_MS:g} ms", f"{taken:.2f} ms", taken < RMIA_MS))
    return rows


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def section(results):
    machine, first = results["machine"], results["rounds"][0]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    ours = first["ours"]
    text = "## Audit\n\n"
    text += (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['os']}; {machine['rustc']}, Python {machine['python']}; {versions}; "
        f"{machine['date']}; load average {machine['load']} when the run began.\n\n"
    )
    met = [(name, aim, value, "yes" if is_met else "**no**") for name, aim, value, is_met in targets(results)]
    text += table(["target", "aim", "measured", "met"], met) + "\n"
    text += (
        f"Location-30 (5 010 records, 446 bits, 30 classes), network 446-128-30, Adam, {ours['epochs']} passes over half of the "
        f"records in batches of 128: {ours['models']} networks, training accuracy {percent(ours['train_accuracy'])}, test accuracy "
        f"{percent(ours['test_accuracy'])}. Ten of them are the target in turn; its complement is no reference. Rates at 0.1 % rest on "
        "2 or 3 false alarms per target and are means over ten: the command itself does not print them for so few records.\n\n"
    )
    rows = [
        (row["attack"], row["with"], f"{row['auc']:.3f}", percent(row["tpr_at_1_percent"]), percent(row["tpr_at_0.1_percent"]))
        for row in ours["attacks"]
    ]
    text += table(["attack", "with", "AUC", "TPR at 1 %", "TPR at 0.1 %"], rows) + "\n"
    text += "### Time\n\nTraining all networks and LiRA on ten targets, seconds; the peer in two processes of one thread each, which is faster here than one process of two threads.\n\n"
    rows = []
    for number, row in enumerate(results["rounds"], start=1):
        seconds = [f"{row[mode]['seconds']:.1f}" for mode in ("ours", "usual", "fused")]
        own = [f"{ratios(results, mode)[number - 1]:.2f}×" for mode in ("usual", "fused")]
        rows.append((str(number), *seconds, *own))
    text += table(["round", "**Reticent**", "PyTorch", "PyTorch, fused Adam", "PyTorch ÷ ours", "fused ÷ ours"], rows)
    text += (
        f"\nThe peer's networks: training accuracy {percent(first['usual']['train_accuracy'])}, test accuracy "
        f"{percent(first['usual']['test_accuracy'])}, LiRA AUC {first['usual']['lira_auc']:.3f}.\n\n"
    )
    text += "### The story\n\n"
    story = results["story"]
    text += (
        f"The same network without privacy and with DP-SGD (δ = 10⁻⁵), each with {story[0]['references']} references trained the same "
        f"way, records put in by coins; LiRA online, means over {story[0]['targets']} targets. Lower bounds are one-run at 95 %: from the audited records "
        "(median over the targets), from 1 000 mislabelled canaries, and from 1 000 canaries along single weights (medians over nine runs, each with its own bound).\n\n"
    )
    show = lambda value: "–" if value is None else f"{value:.2f}"  # noqa: E731
    rows = [
        (
            row["model"],
            percent(row["train_accuracy"]),
            percent(row["test_accuracy"]),
            f"{row['auc']:.3f}",
            percent(row["tpr_at_1_percent"]),
            percent(row["tpr_at_0.1_percent"]),
            show(row["epsilon_lower_records"]),
            show(row["epsilon_lower_mislabelled"]),
            show(row["epsilon_lower_dirac"]),
            "none" if row["certificate"] is None else show(row["certificate"]),
        )
        for row in story
    ]
    head = ["model", "train", "test", "AUC", "TPR at 1 %", "TPR at 0.1 %", "ε ≥ (records)", "ε ≥ (mislabelled)", "ε ≥ (dirac)", "ε ≤ (certificate)"]
    text += table(head, rows)
    text += f"\n![Attack accuracy against the gap between training and test accuracy]({PLOT})\n\n"
    text += (
        "Overfitting is what the simplest attack lives on: every dot is a network, trained for 1 to 100 passes; right means more "
        "overfitting, up means that a threshold on the loss tells members from non-members more often.\n"
    )
    return text


def plot(results):
    """Attack accuracy against the gap, as SVG."""
    width, height, left, bottom, top, right = 640, 400, 64, 52, 16, 16
    rows = results["overfitting"]
    gaps = [row["train_accuracy"] - row["test_accuracy"] for row in rows]
    high = max(0.4, max(gaps))
    low = min(0.0, min(gaps))
    x = lambda gap: left + (gap - low) / (high - low) * (width - left - right)  # noqa: E731
    y = lambda share: height - bottom - (share - 0.45) / 0.35 * (height - bottom - top)  # noqa: E731
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        "<title>Attack accuracy against the gap between training and test accuracy</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for share in (0.5, 0.6, 0.7, 0.8):
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y(share) + 4:.1f}" text-anchor="end" fill="#333333">{share * 100:.0f} %</text>')
    for gap in (0.0, 0.1, 0.2, 0.3, 0.4):
        if gap <= high:
            parts.append(f'<text x="{x(gap):.1f}" y="{height - bottom + 20}" text-anchor="middle" fill="#333333">{gap * 100:.0f}</text>')
    parts.append(f'<text x="{(left + width) / 2}" y="{height - 12}" text-anchor="middle" fill="#333333">training less test accuracy, points</text>')
    parts.append(
        f'<text transform="translate(18 {height / 2 - 10}) rotate(-90)" text-anchor="middle" fill="#333333">attack accuracy</text>'
    )
    named = set()
    for row, gap in zip(rows, gaps):
        parts.append(f'<circle cx="{x(gap):.1f}" cy="{y(row["attack_accuracy"]):.1f}" r="4" fill="#0072b2" fill-opacity="0.7"/>')
        if row["epochs"] not in named and row["epochs"] in (1, 2, 3, 100):
            named.add(row["epochs"])
            words = f"{row['epochs']} pass{'es' if row['epochs'] > 1 else ''}"
            anchor, step = ("end", 0) if gap > 0.3 else ("middle", 0)
            parts.append(
                f'<text x="{x(gap) + step:.1f}" y="{y(row["attack_accuracy"]) - 14:.1f}" text-anchor="{anchor}" fill="#555555">{words}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def write(docs, results):
    """Replaces the section in the page, or adds it; draws the plot."""
    harness.write_section(docs, (START, END), section(results))
    (docs / PLOT).write_text(plot(results))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    write(here.parent.parent / "docs", json.loads((here / "results.json").read_text()))
