"""The peers of bench/attacks, each as one line of JSON.

    python peers.py features NETWORK loop|func [--seconds 2] [--threads 2]
    python peers.py membership STORE [--targets 6]
    python peers.py inversion MODEL MNIST [--batch 1] [--steps 1000] [--images 16] [--threads 2]
    python peers.py database ADULT [--records 10]
    python peers.py attribute ADULT

`features` computes the white-box signals of every example (its loss, the norm of its gradient layer by layer, the norm of the
gradient of its input) by a loop over examples, or by `torch.func`. `membership` runs ART's black-box attack on outputs of
the models in a store. `inversion` is the published algorithm of Geiping et al. (2020) in PyTorch, written here.
`database` is ART's reconstruction of one record from all others, of scikit-learn's logistic regression on the numeric columns
of Adult. `attribute` is ART's attribute inference with its baseline, of the column `sex` of the same model.
"""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "dpsgd"))


def features(asked):
    """Seconds for the signals of one example."""
    import models
    import torch
    from torch import nn

    torch.set_num_threads(asked.threads)
    network = models.make(asked.network)
    inputs, classes = models.batch(asked.network)
    is_text = not inputs.is_floating_point()
    layers = [[p for p in module.parameters(recurse=False)] for module in network.modules()]
    layers = [layer for layer in layers if layer]
    criterion = nn.CrossEntropyLoss()

    def loop():
        found = []
        for example in range(len(inputs)):
            x = inputs[example : example + 1]
            if not is_text:
                x = x.clone().requires_grad_(True)
            network.zero_grad(set_to_none=True)
            loss = criterion(network(x), classes[example : example + 1])
            loss.backward()
            norms = [sum(p.grad.square().sum() for p in layer).sqrt().item() for layer in layers]
            found.append([loss.item(), *norms, 0.0 if is_text else x.grad.norm().item()])
        return found

    def func():
        from torch.func import functional_call, grad_and_value, vmap

        weights = {name: p.detach() for name, p in network.named_parameters()}

        def loss(weights, x, y):
            return criterion(functional_call(network, weights, (x[None],)), y[None])

        arguments = (0,) if is_text else (0, 1)
        grads, losses = vmap(grad_and_value(loss, argnums=arguments), in_dims=(None, 0, 0))(weights, inputs, classes)
        squares = {name: g.flatten(1).square().sum(1) for name, g in grads[0].items()}
        found = [losses, *(s.sqrt() for s in squares.values())]
        if not is_text:
            found.append(grads[1].flatten(1).norm(dim=1))
        return torch.stack(found).tolist()

    once = {"loop": loop, "func": func}[asked.mode]
    once()
    times, begun = [], time.perf_counter()
    while time.perf_counter() - begun < asked.seconds or len(times) < 3:
        started = time.perf_counter()
        once()
        times.append((time.perf_counter() - started) / len(inputs))
    times.sort()
    return {"network": asked.network, "mode": asked.mode, "passes": len(times), "example_s": times[len(times) // 2]}


def membership(asked):
    """ART's black-box attack with half of the records known, judged by the others, as ours is."""
    import numpy as np
    from safetensors.numpy import load_file
    from sklearn.metrics import roc_auc_score

    labels = np.array(json.loads((Path(asked.store) / "labels.json").read_text()))
    files = sorted(Path(asked.store).glob("reference-*.safetensors"))[::2][: asked.targets]
    rows = []
    for place, file in enumerate(files):
        arrays = load_file(file)
        inside, logits = arrays["inside"] > 0.5, arrays["outputs"].astype(np.float64)
        exps = np.exp(logits - logits.max(1, keepdims=True))
        p = (exps / exps.sum(1, keepdims=True)).astype(np.float32)
        order = np.random.default_rng(place).permutation(len(labels))
        known, rest = order[: len(order) // 2], order[len(order) // 2 :]
        for kind in ("rf", "gb", "nn"):
            started = time.perf_counter()
            attack = _black_box(kind, p.shape[1])
            one_hot = np.eye(p.shape[1], dtype=np.float32)[labels]
            kin, kout = known[inside[known]], known[~inside[known]]
            attack.fit(None, one_hot[kin], None, one_hot[kout], pred=p[kin], test_pred=p[kout])
            scores = attack.infer(None, one_hot[rest], pred=p[rest], probabilities=True)
            scores = np.asarray(scores).reshape(len(rest), -1)[:, -1]
            rows.append(
                {
                    "target": place,
                    "attack": kind,
                    "auc": float(roc_auc_score(inside[rest], scores)),
                    "accuracy": _balanced(scores, inside[rest]),
                    "seconds": time.perf_counter() - started,
                }
            )
    return {"rows": rows}


def _black_box(kind, classes):
    from art.attacks.inference.membership_inference import MembershipInferenceBlackBox
    from art.estimators.classification import BlackBoxClassifier

    unused = BlackBoxClassifier(lambda x: x, input_shape=(1,), nb_classes=classes)
    return MembershipInferenceBlackBox(unused, attack_model_type=kind)


def _balanced(scores, inside):
    """The best mean of true-positive and true-negative rate over thresholds."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    tpr = np.cumsum(inside[order]) / inside.sum()
    fpr = np.cumsum(~inside[order]) / (~inside).sum()
    return float(np.max(0.5 + 0.5 * (tpr - fpr)))


def inversion(asked):
    """Geiping et al., *Inverting gradients* (2020): Adam on the sign of the gradient, cosine and total variation."""
    import gzip

    import numpy as np
    import torch
    from torch import nn

    sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "crates" / "train" / "examples"))
    from load_in_torch import load

    torch.set_num_threads(asked.threads)
    network, description = load(Path(asked.model))
    folder = Path(asked.folder)
    raw = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())[8:]
    images = torch.tensor(np.frombuffer(raw, np.uint8)[: asked.images * 784].reshape(-1, 1, 28, 28).copy())
    shift, scale = asked.shift, asked.scale
    inputs = (images.float() / 255 - shift) / scale
    labels = torch.tensor(np.frombuffer(labels, np.uint8)[: asked.images].astype(np.int64))
    low, high = (0 - shift) / scale, (1 - shift) / scale
    criterion, weights = nn.CrossEntropyLoss(), list(network.parameters())
    psnr, begun = [], time.perf_counter()
    for start in range(0, asked.images, asked.batch):
        x, y = inputs[start : start + asked.batch], labels[start : start + asked.batch]
        seen = [g.detach() for g in torch.autograd.grad(criterion(network(x), y), weights)]
        length = sum(g.square().sum() for g in seen).sqrt()
        guess = torch.randn_like(x).clamp(low, high).requires_grad_(True)
        optimizer = torch.optim.Adam([guess], lr=0.1)
        falls = [asked.steps * 3 // 8, asked.steps * 5 // 8, asked.steps * 7 // 8]
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, falls, 0.1)
        for _ in range(asked.steps):
            optimizer.zero_grad()
            own = torch.autograd.grad(criterion(network(guess), y), weights, create_graph=True)
            inner = sum((a * b).sum() for a, b in zip(own, seen))
            norm = sum(g.square().sum() for g in own).sqrt()
            variation = (guess[..., 1:] - guess[..., :-1]).abs().mean() + (guess[..., 1:, :] - guess[..., :-1, :]).abs().mean()
            (1 - inner / (norm * length) + asked.variation * variation).backward()
            guess.grad.sign_()
            optimizer.step()
            schedule.step()
            with torch.no_grad():
                guess.clamp_(low, high)
        wrong = ((guess.detach() - x) * scale).flatten(1).square().mean(1)
        psnr += (-10 * wrong.clamp_min(1e-12).log10()).tolist()
    seconds = (time.perf_counter() - begun) / asked.images
    return {"batch": asked.batch, "steps": asked.steps, "psnr": psnr, "image_s": seconds}


def _adult(folder):
    """The numeric columns from 0 to 1 by public bounds, sex and income of the first rows."""
    import numpy as np
    import pyarrow.parquet

    bounds = {"age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 99999), "capital_loss": (0, 4356), "hours_per_week": (1, 99)}
    read = pyarrow.parquet.read_table(Path(folder) / "adult_train.parquet")
    columns = [(read[name].to_numpy() - low) / (high - low) for name, (low, high) in bounds.items()]
    sex = np.array([value == "Male" for value in read["sex"].to_pylist()])
    income = np.array([value == ">50K" for value in read["income"].to_pylist()])
    return np.column_stack(columns), sex, income


def database(asked):
    """One record of logistic regression from all others."""
    import numpy as np
    from art.attacks.inference.reconstruction import DatabaseReconstruction
    from art.estimators.classification.scikitlearn import ScikitlearnLogisticRegression
    from sklearn.linear_model import LogisticRegression

    x, _, income = _adult(asked.folder)
    x, y = x[:1000], np.eye(2)[income[:1000].astype(int)]
    errors, seconds = [], []
    model = LogisticRegression(tol=1e-12, max_iter=10_000).fit(x, income[:1000])
    for record in range(asked.records):
        rest = np.arange(1000) != record
        started = time.perf_counter()
        attack = DatabaseReconstruction(ScikitlearnLogisticRegression(model=model))
        found, _ = attack.reconstruct(x[rest], y[rest])
        seconds.append(time.perf_counter() - started)
        errors.append(float(np.abs(found[0] - x[record]).max()))
    return {"largest_error": errors, "record_s": sum(seconds) / len(seconds)}


def attribute(asked):
    """How often sex is inferred with the model, and without it."""
    import numpy as np
    from art.attacks.inference.attribute_inference import AttributeInferenceBaseline, AttributeInferenceBlackBox
    from art.estimators.classification.scikitlearn import ScikitlearnLogisticRegression
    from sklearn.linear_model import LogisticRegression

    x, sex, income = _adult(asked.folder)
    x = np.column_stack([x, sex]).astype(np.float64)
    trained, known, judged = np.arange(0, 5000), np.arange(20000, 25000), np.arange(0, 5000)
    model = LogisticRegression(C=100.0, max_iter=10_000).fit(x[trained], income[trained])
    own, place = ScikitlearnLogisticRegression(model=model), x.shape[1] - 1
    labels = np.eye(2)[income.astype(int)]
    started = time.perf_counter()
    with_model = AttributeInferenceBlackBox(own, attack_feature=place, attack_model_type="rf")
    with_model.fit(x[known], y=labels[known])
    predictions = own.predict(x[judged]).argmax(1).reshape(-1, 1)
    rest = np.delete(x, place, 1)
    found = with_model.infer(rest[judged], y=labels[judged], pred=predictions, values=[0.0, 1.0])
    seconds = time.perf_counter() - started
    without = AttributeInferenceBaseline(attack_feature=place, attack_model_type="rf")
    without.fit(x[known])
    guessed = without.infer(rest[judged], values=[0.0, 1.0])
    truth = sex[judged]
    return {
        "attack": float(((np.asarray(found).ravel() > 0.5) == truth).mean()),
        "baseline": float(((np.asarray(guessed).ravel() > 0.5) == truth).mean()),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="what", required=True)
    own = kinds.add_parser("features")
    own.add_argument("network")
    own.add_argument("mode", choices=["loop", "func"])
    own.add_argument("--seconds", type=float, default=2)
    own.add_argument("--threads", type=int, default=2)
    own = kinds.add_parser("membership")
    own.add_argument("store")
    own.add_argument("--targets", type=int, default=6)
    own = kinds.add_parser("inversion")
    own.add_argument("model")
    own.add_argument("folder")
    own.add_argument("--batch", type=int, default=1)
    own.add_argument("--steps", type=int, default=1000)
    own.add_argument("--images", type=int, default=16)
    own.add_argument("--threads", type=int, default=2)
    own.add_argument("--variation", type=float, default=1e-2)
    own.add_argument("--shift", type=float, default=0.1307)
    own.add_argument("--scale", type=float, default=0.3081)
    own = kinds.add_parser("database")
    own.add_argument("folder")
    own.add_argument("--records", type=int, default=10)
    own = kinds.add_parser("attribute")
    own.add_argument("folder")
    asked = parser.parse_args()
    parts = {
        "features": features,
        "membership": membership,
        "inversion": inversion,
        "database": database,
        "attribute": attribute,
    }
    print(json.dumps(parts[asked.what](asked)))


if __name__ == "__main__":
    main()
