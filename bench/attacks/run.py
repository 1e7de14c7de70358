"""Runs attacks here and in the peers, in one go, and writes down how strong they are and how long they take.

    RETICENT_DATA=FOLDER python3 bench/attacks/run.py [--only PART,…] [--quick]

FOLDER holds `cifar10`, `location30`, `mnist` and `adult`. The parts are

    features     the white-box signals of an example, beside a loop over examples and `torch.func`
    tables       attacks by what the attacker sees, on six targets of every recipe, beside ART
    federated    who was in, by the rounds of a federation that somebody sees, and what interference adds
    informed     a record of a linear model from all others, beside ART
    inversion    images from gradients, beside the published algorithm in PyTorch
    attribute    an attribute of records of a linear model, beside ART

and what is not asked for stays as it is in `bench/attacks/results.json`. Tables of a GPU are made there by
`bench-attacks table … --device cuda` and kept in `bench/attacks/gpu.json`. With `--quick` everything is small, and the
results go to `target/bench-attacks-trial.json`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import harness  # noqa: E402
import page  # noqa: E402

NETWORKS = ["logreg", "mlp", "mnist_cnn", "cifar_cnn", "transformer", "lstm"]
# Every model has half of the records. Those on CIFAR-10 are made on a GPU.
RECIPES = ["location-dense", "location-regularized", "location-linear"]


def said(command):
    """The last line that a command prints, which is JSON."""
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def shortened(table):
    """A table with what the page shows: of the rates, that at 1 % false positives."""
    for target in table["targets"]:
        target.pop("not_run")
        for attack in target["attacks"]:
            attack["rates"] = [rate for rate in attack["rates"] if rate["fpr"] == 0.01]
    return table


class Bench:
    """What the parts need."""

    def __init__(self, python, folder, quick):
        self.python, self.folder, self.quick = python, folder, quick
        release = harness.TARGET / "release"
        build = ["cargo", "build", "--release", "-p", "reticent-bench-attacks", "-p", "reticent-cli"]
        subprocess.run(build, cwd=harness.ROOT, check=True)
        self.binary, self.command = release / "bench-attacks", release / "reticent"

    def peer(self, *words):
        return said([self.python, HERE / "peers.py", *words])

    def features(self):
        found = {}
        for network in NETWORKS[: 2 if self.quick else None]:
            rows = {"ours": said([self.binary, "features", network])["example_s"]}
            for mode in ("loop", "func"):
                try:
                    rows[mode] = self.peer("features", network, mode)["example_s"]
                except subprocess.CalledProcessError:
                    rows[mode] = None  # It does not run: the page says so.
            found[network] = rows
            print(f"features {network}: {rows}", file=sys.stderr, flush=True)
        return found

    def tables(self):
        found = {}
        for recipe in RECIPES[: 1 if self.quick else None]:
            with tempfile.TemporaryDirectory() as store:
                size = ["--models", 4, "--targets", 2] if self.quick else ["--models", 12, "--targets", 6]
                ours = said([self.binary, "table", recipe, self.folder, "--store", store, *size])
                art = self.peer("membership", store, "--targets", size[-1])
            found[recipe] = {"ours": shortened(ours), "art": art}
            print(f"table {recipe}: {ours['training_seconds']:.0f} s of training", file=sys.stderr, flush=True)
        return found

    def federated(self):
        return said([self.binary, "federated", self.folder, "--runs", 1 if self.quick else 5])

    def informed(self):
        """Ours on the bundled census data, all columns; the peer on the numeric columns of 1 000 rows of the same data."""
        with tempfile.TemporaryDirectory() as place:
            model, count = Path(place) / "model", 20 if self.quick else 200
            self.run("train", "--method", "exact", "--out", model)
            started = time.perf_counter()
            found = said([self.command, "attack", "reconstruct", model, "--attacked", count, "--json"])
            seconds = time.perf_counter() - started
        art = self.peer("database", self.folder / "adult", "--records", 2 if self.quick else 10)
        return {"ours": found["disclosures"], "records": count, "record_s": seconds / count, "art": art}

    def inversion(self):
        """Both on the same network, the same images and the same number of steps."""
        images, steps = (2, 100) if self.quick else (16, 600)
        with tempfile.TemporaryDirectory() as place:
            model, network = Path(place) / "model", Path(place) / "network.toml"
            network.write_text(NETWORK)
            data = ["mnist", "--data-dir", self.folder]
            self.run("train", *data, "--model", network, "--non-private", "--epochs", 1, "--batch-size", 256, "--out", model)
            found = {}
            for batch in (1, 4, 16):
                count = max(1, images // batch)
                flags = ["--batches", batch, "--attacked", count, "--steps", steps, "--epsilons", "none", "--json"]
                started = time.perf_counter()
                ours = said([self.command, "attack", "reconstruct", model, *flags])
                seconds = (time.perf_counter() - started) / (batch * count)
                flags = ["--batch", batch, "--images", batch * count, "--steps", steps, "--shift", 0.5, "--scale", 0.5]
                torch = self.peer("inversion", model, self.folder / "mnist", *flags)
                found[str(batch)] = {"ours": ours["disclosures"], "image_s": seconds, "torch": torch}
                print(f"inversion, batch of {batch}: {seconds:.1f} s, PyTorch {torch['image_s']:.1f} s", file=sys.stderr, flush=True)
        return found

    def attribute(self):
        with tempfile.TemporaryDirectory() as place:
            model = Path(place) / "model"
            self.run("train", "--method", "exact", "--out", model)
            started = time.perf_counter()
            found = said([self.command, "attack", "attribute", model, "--column", "sex", "--json"])
            seconds = time.perf_counter() - started
        return {"ours": found["disclosures"], "seconds": seconds, "art": self.peer("attribute", self.folder / "adult")}

    def run(self, *words):
        subprocess.run([str(word) for word in (self.command, *words)], check=True, capture_output=True)


# Convolutions with tanh and without pooling, as in the papers on gradient inversion.
NETWORK = """
input = [1, 28, 28]
loss = "cross-entropy"

[[layer]]
kind = "conv2d"
out = 12
kernel = [5, 5]
stride = [2, 2]
padding = [2, 2]

[[layer]]
kind = "tanh"

[[layer]]
kind = "conv2d"
out = 12
kernel = [5, 5]
stride = [2, 2]
padding = [2, 2]

[[layer]]
kind = "tanh"

[[layer]]
kind = "flatten"

[[layer]]
kind = "linear"
out = 10
"""


def main():
    parts = ["features", "tables", "federated", "informed", "inversion", "attribute"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=parts)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    if "RETICENT_DATA" not in os.environ:
        parser.error("set RETICENT_DATA to the folder that holds the data")
    if unknown := set(asked.only) - set(parts):
        parser.error(f"--only {','.join(sorted(unknown))}: give some of {', '.join(parts)}")
    requirements = HERE / "requirements.txt"
    python = harness.environment("attacks", requirements)
    bench = Bench(python, Path(os.environ["RETICENT_DATA"]), asked.quick)
    path = harness.TARGET / "bench-attacks-trial.json" if asked.quick else HERE / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for part in asked.only:
        machine = harness.machine(python, requirements)
        results[part] = {"machine": machine, "found": getattr(bench, part)()}
        path.write_text(json.dumps(results, indent=1) + "\n")
    if not asked.quick:
        page.write(harness.ROOT / "docs", results)
    print(page.section(results))


if __name__ == "__main__":
    main()
