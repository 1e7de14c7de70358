"""Trains language models of Shakespeare's speakers and writes down whose words they give away.

    python3 bench/text/run.py FOLDER [--device cuda] [--quick]

FOLDER holds `speeches.parquet`, or a folder `shakespeare` with it. The results go to `bench/text/results.json`, or with
`--quick`, where everything is small, to `target/bench-text-trial.json`. On a machine without Rust the binary alone is
enough:

    bench-text authors FOLDER --device cuda --targets 5 --models 16 --out FILE.json

and `run.py --results FILE.json --where "the machine"` stores what it wrote and makes the section of docs/benchmarks.md.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
import harness  # noqa: E402


def shown(found):
    """The table of a page: a row for every recipe and premise."""
    print(f"{'recipe':<13}{'samples':<12}{'loss in / out':<16}mean AUC over targets (95 %)")
    for row in found["membership"]:
        for premise in row["premises"]:
            loss = premise["loss"]
            areas = "  ".join(
                f"{own['name']} {own['mean_auc']:.3f} ({own['lower'] or 0:.3f} to {own['upper'] or 1:.3f})"
                for own in premise["attacks"]
            )
            sides = f"{loss['with_author']:.2f} / {loss['without_author']:.2f}"
            print(f"{row['recipe']:<13}{premise['samples']:<12}{sides:<16}{areas}")
    for row in found["exposure"]:
        for group in row["groups"]:
            median = group["median_exposure"]
            print(
                f"{row['recipe']:<13}planted {group['repetitions']:>2}x: exposure {median['value']:.1f} bits "
                f"({median['lower']:.1f} to {median['upper']:.1f}) of {row['bits']:.1f}, first "
                f"{group['ranked_first']['value']:.2f}, extracted {group['extracted']['value']:.2f}"
            )


START, END = "<!-- text: written by bench/text/run.py -->", "<!-- text: end -->"
WORDS = {"overfitted": "overfitted", "regularized": "regularized", "private8": "author-level DP, ε = 8", "private2": "author-level DP, ε = 2"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n\n"


def section(found):
    """The page of results."""
    data = found["data"]
    tried = "No setting was tuned." if found["tries"] == 0 else f"{found['tries']} settings were tried with another key."
    text = (
        "## Whose words a model learned\n\n"
        f"{found['where']}; {found['seconds']:.0f} s. {data['speeches']:,} speeches by {data['speakers']} speakers of Shakespeare; "
        f"{data['audited_speakers']} speakers with at least two speeches are audited, pieces of {data['characters_of_a_piece']} characters, "
        "half of every speaker's speeches for training and the others fresh. LSTMs, each trained on half of the speakers. "
        f"{tried} So few speakers allow no rate at 1 % FPR. A δ below 1 over the number of a model's speakers, "
        f"{data['smallest_sensible_delta']:.4f}, is the least one can ask for; here it is 1e-3.\n\n"
        "AUC of telling speakers who were in from others, mean over targets with 95 % intervals (Student's t over targets):\n\n"
    )
    rows = []
    for row in found["membership"]:
        for premise in row["premises"]:
            loss = premise["loss"]
            cells = [f"{own['mean_auc']:.3f} ({own['lower'] or 0:.3f} to {own['upper'] or 1:.3f})" for own in premise["attacks"]]
            rows.append((WORDS[row["recipe"]], premise["samples"], f"{loss['with_author']:.2f} / {loss['without_author']:.2f}", *cells))
    names = [own["name"] for own in found["membership"][0]["premises"][0]["attacks"]]
    text += table(["model", "samples of the auditor", "loss per character, in / out", *(f"`{name}`" for name in names)], rows)
    first = found["exposure"][0]
    text += (
        f"Exposure of secrets of the form `{first['format']}` ({first['bits']:.1f} bits), exact ranks, {first['runs']} trainings with fresh secrets; "
        f"with author-level DP all repetitions of a secret are one author's. Extraction is from {first['continuations']:,} sampled continuations. "
        f"A secret that the model has not seen has a mean exposure of {first['mean_of_unseen']:.2f} bits.\n\n"
    )
    rows = []
    for row in found["exposure"]:
        for group in row["groups"]:
            median = group["median_exposure"]
            shares = [f"{100 * group[name]['value']:.0f} %" for name in ("ranked_first", "extracted")]
            bits = f"{median['value']:.1f} ({median['lower']:.1f} to {median['upper']:.1f})"
            rows.append((WORDS[row["recipe"]], str(group["repetitions"]), bits, *shares))
    return text + table(["model", "repetitions", "median exposure, bits", "ranked first", "extracted"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--results", type=Path, help="results of a run elsewhere")
    parser.add_argument("--where", default="this machine", help="the machine of these results, in words")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if asked.results:
        found = json.loads(asked.results.read_text()) | {"where": asked.where}
        (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
        harness.write_section(harness.ROOT / "docs", (START, END), section(found))
        return
    if asked.folder is None:
        parser.error("give the folder of the data, or --results")
    build = ["cargo", "build", "--release", "-p", "reticent-bench-text"]
    subprocess.run(build, cwd=harness.ROOT, check=True)
    out = harness.TARGET / "bench-text-trial.json" if asked.quick else HERE / "results.json"
    command = [harness.TARGET / "release" / "bench-text", "authors", asked.folder, "--device", asked.device, "--out", out]
    command += ["--quick", "--models", "4", "--targets", "2", "--runs", "1"] if asked.quick else ["--targets", "5", "--models", "16"]
    subprocess.run([str(word) for word in command], check=True)
    shown(json.loads(out.read_text()))


if __name__ == "__main__":
    main()
