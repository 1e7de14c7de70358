"""Trains language models of Shakespeare's speakers and writes down whose words they give away.

    python3 bench/text/run.py FOLDER [--device cuda] [--quick]

FOLDER holds `speeches.parquet`, or a folder `shakespeare` with it. The results go to `bench/text/results.json`, or with
`--quick`, where everything is small, to `target/bench-text-trial.json`. On a machine without Rust the binary alone is
enough:

    bench-text authors FOLDER --device cuda --targets 5 --models 16 --out FILE.json
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    build = ["cargo", "build", "--release", "-p", "reticent-bench-text"]
    subprocess.run(build, cwd=harness.ROOT, check=True)
    out = harness.TARGET / "bench-text-trial.json" if asked.quick else HERE / "results.json"
    command = [harness.TARGET / "release" / "bench-text", "authors", asked.folder, "--device", asked.device, "--out", out]
    command += ["--quick", "--models", "4", "--targets", "2", "--runs", "1"] if asked.quick else ["--targets", "5", "--models", "16"]
    subprocess.run([str(word) for word in command], check=True)
    shown(json.loads(out.read_text()))


if __name__ == "__main__":
    main()
