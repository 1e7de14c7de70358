"""Audits a scikit-learn and a PyTorch model from their predictions.

    python3 examples/audit_any_model.py FOLDER [--reticent PATH]

Needs scikit-learn; the PyTorch part runs where PyTorch is installed. Both models are trained on half of the breast-cancer
records that come with scikit-learn (which half is drawn by coin, as the bound on epsilon asks), then predict
all of them. For scikit-learn the predictions go into a CSV file; for PyTorch, with eight reference models, into an .npz
file. `reticent audit` does the rest, and `reticent report` makes a page of each.
"""

import argparse
import csv
import json
import subprocess
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier


def audited(reticent, table, folder):
    """Audits a file of predictions, writes its report, and returns what was found.

    `main` tosses a fair coin for every record, and `--drawn 0.5` declares so: a lower bound on epsilon rests on it.
    """
    words = [reticent, "audit", "--scores", table, "--drawn", "0.5", "--out", folder, "--json"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([reticent, "report", folder], check=True)
    return json.loads(done.stdout)


def tell(name, found):
    """The headline in one line."""
    bound = found["epsilon_lower"]
    proven = f"epsilon >= {bound['value']:.2f} at {bound['confidence']:.0%}" if bound else "no bound on epsilon"
    print(f"{name}: {found['headline']}: AUC {found['auc']:.3f}, {proven}")


def with_scikit_learn(inputs, classes, inside, reticent, out):
    """A tree that learns its records by heart; its probabilities as a CSV file."""
    model = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(inputs[inside], classes[inside])
    said = model.predict_proba(inputs)
    with open(out / "tree.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "member", "label", "probability_0", "probability_1", "feature_radius", "feature_texture"])
        for record in range(len(classes)):
            values = [record, int(inside[record]), classes[record], *said[record], *inputs[record, :2]]
            rows.writerow(values)
    tell("scikit-learn tree", audited(reticent, out / "tree.csv", out / "tree"))


def with_torch(inputs, classes, inside, generator, reticent, out):
    """A network and eight references on other halves; their logits as an .npz file."""
    import torch

    x, y = torch.tensor(inputs, dtype=torch.float32), torch.tensor(classes)

    def logits(mask):
        network = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
        for _ in range(200):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(x[mask]), y[mask]).backward()
            optimizer.step()
        with torch.no_grad():
            return network(x).numpy()

    halves = [generator.permutation(len(classes)) % 2 == 0 for _ in range(4)]
    masks = [mask for half in halves for mask in (half, ~half)]
    np.savez(
        out / "network.npz",
        member=inside,
        label=classes,
        features=inputs.astype(np.float32),
        target_logits=logits(inside),
        reference_logits=np.stack([logits(mask) for mask in masks]),
        reference_member=np.stack(masks),
    )
    tell("PyTorch network", audited(reticent, out / "network.npz", out / "network"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reticent", default="reticent")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    inputs, classes = load_breast_cancer(return_X_y=True)
    inputs = StandardScaler().fit_transform(inputs)
    generator = np.random.default_rng(7)
    inside = generator.random(len(classes)) < 0.5
    with_scikit_learn(inputs, classes, inside, asked.reticent, asked.folder)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("PyTorch is not installed: only the scikit-learn model was audited")
        return
    with_torch(inputs, classes, inside, generator, asked.reticent, asked.folder)


if __name__ == "__main__":
    main()
