"""The same audit in PyTorch and NumPy: 34 networks on halves of Location-30, then LiRA and RMIA; one line of JSON.

    python peer.py FOLDER usual|fused [--models 34] [--epochs 100]

Two processes of one thread each, which is faster here than one process with two; `fused` asks for PyTorch's fused Adam.
FOLDER holds `location30.parquet`. Batches are taken by indexing a tensor, which is faster than PyTorch's loader.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import torch

FEATURES, HIDDEN, CLASSES = 446, 128, 30
BATCH, RATE = 128, 5e-3


def data(folder):
    """Inputs and classes."""
    table = parquet.read_table(Path(folder) / "location30.parquet")
    bits = np.frombuffer(b"".join(table["features"].to_pylist()), dtype=np.uint8).reshape(-1, 56)
    inputs = np.unpackbits(bits, axis=1)[:, :FEATURES].astype(np.float32)
    return torch.from_numpy(inputs), torch.from_numpy(np.array(table["label"].to_pylist(), dtype=np.int64) - 1)


def masks(records, models):
    """Halves and their complements."""
    generator, found = np.random.default_rng(1), []
    for _ in range(models // 2):
        inside = np.zeros(records, dtype=bool)
        inside[generator.permutation(records)[: records // 2]] = True
        found += [inside, ~inside]
    return found


def fit(asked):
    """One network on one half: its logits for all records."""
    folder, inside, epochs, is_fused, seed = asked
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    inputs, classes = data(folder)
    own, targets = inputs[inside], classes[inside]
    network = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, CLASSES)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, fused=is_fused or None)
    for _ in range(epochs):
        for batch in torch.randperm(len(targets)).split(BATCH):
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(network(own[batch]), targets[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return network(inputs).numpy()


def margins(logits, classes):
    """ln p_y - ln(1 - p_y)."""
    rows = np.arange(len(classes))
    own, others = logits[rows, classes].astype(float), logits.astype(float).copy()
    others[rows, classes] = -np.inf
    top = others.max(axis=1)
    return own - top - np.log(np.exp(others - top[:, None]).sum(axis=1))


def lira(phi, inside, target):
    """Online, variance per record; the target and its complement are no references."""
    others = [k for k in range(len(phi)) if k // 2 != target // 2]
    values, within = phi[others], inside[others]
    part = {side: np.ma.array(values, mask=within != side) for side in (True, False)}
    mean = {side: part[side].mean(axis=0).data for side in part}
    sd = {side: np.maximum(part[side].std(axis=0).data, 1e-6) for side in part}
    normal = {side: -(((phi[target] - mean[side]) / sd[side]) ** 2) / 2 - np.log(sd[side]) for side in part}
    return normal[True] - normal[False]


def auc(scores, members):
    """The chance that a member scores higher."""
    order = scores.argsort().argsort()
    inside = members.sum()
    return float((order[members].sum() - inside * (inside - 1) / 2) / (inside * (~members).sum()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("mode", choices=["usual", "fused"])
    parser.add_argument("--models", type=int, default=34)
    parser.add_argument("--epochs", type=int, default=100)
    asked = parser.parse_args()
    _, classes = data(asked.folder)
    classes = classes.numpy()
    inside = np.array(masks(len(classes), asked.models))
    begun = time.perf_counter()
    jobs = [(asked.folder, own, asked.epochs, asked.mode == "fused", seed) for seed, own in enumerate(inside)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        logits = list(pool.map(fit, jobs))
    trained = time.perf_counter()
    phi = np.array([margins(own, classes) for own in logits])
    found = [auc(lira(phi, inside, target), inside[target]) for target in range(10)]
    scored = time.perf_counter()
    hits = np.array([own.argmax(axis=1) == classes for own in logits])
    print(
        json.dumps(
            {
                "mode": asked.mode,
                "seconds": scored - begun,
                "training_seconds": trained - begun,
                "train_accuracy": float(hits[inside].mean()),
                "test_accuracy": float(hits[~inside].mean()),
                "lira_auc": float(np.mean(found)),
            }
        )
    )


if __name__ == "__main__":
    main()
