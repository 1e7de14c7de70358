"""Fits diffprivlib and scikit-learn on the features of a dataset; a line of JSON per fit.

    python peers.py FOLDER NAME SEEDS C,C,...

FOLDER holds train_x.npy, train_y.npy, test_x.npy and test_y.npy. diffprivlib's regularisation C is part of the line, so
that the best one can be taken afterwards: it would not be known without spending privacy on the search.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import LogisticRegression as Private
from sklearn.linear_model import LogisticRegression as Plain

EPSILONS = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0]


def fitted(model, data):
    """Accuracy on the test part, and the seconds of the fit."""
    start = time.perf_counter()
    model.fit(data["train_x"], data["train_y"])
    seconds = time.perf_counter() - start
    return float(model.score(data["test_x"], data["test_y"])), seconds


def main():
    warnings.simplefilter("ignore")
    folder, name, seeds, grid = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4].split(",")
    data = {part: np.load(folder / f"{part}.npy") for part in ("train_x", "train_y", "test_x", "test_y")}

    def told(method, model, **about):
        accuracy, seconds = fitted(model, data)
        line = {"data": name, "method": method, "accuracy": accuracy, "seconds": seconds, **about}
        print(json.dumps(line), flush=True)

    for c in (1.0, 10.0, 100.0):
        told("scikit-learn", Plain(C=c, max_iter=5000), C=c, epsilon=None)
    for epsilon in EPSILONS:
        for c in map(float, grid):
            for _ in range(seeds):
                told("diffprivlib", Private(epsilon=epsilon, data_norm=1.0, C=c, max_iter=1000), C=c, epsilon=epsilon)


if __name__ == "__main__":
    main()
