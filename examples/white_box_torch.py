"""Audits a PyTorch network with its gradients: what its weights reveal, beside what its predictions reveal.

    python3 examples/white_box_torch.py [FOLDER]

Needs PyTorch 2 and the Python package `reticent`. A network and eight reference models are trained on random halves of 2000
records. For every model, `torch.func` computes the gradient of the loss at each record, and the norms of these gradients,
layer by layer, go to `reticent.audit.audit(gradients=…, reference_gradients=…)` with the logits. With FOLDER, the audit and
its report are written there.
"""

import sys

import numpy as np

try:
    import torch
    from torch.func import functional_call, grad, vmap
except ImportError:
    sys.exit("this example needs PyTorch 2 or later: pip install torch")

from reticent.audit import audit, coins

RECORDS, FEATURES, CLASSES, REFERENCES = 2000, 20, 4, 8


def trained(x, y, inside, seed):
    """A network that learns some of the records, most of them by heart."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 128), torch.nn.ReLU(), torch.nn.Linear(128, CLASSES)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    own = torch.tensor(inside)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[own]), y[own]).backward()
        optimizer.step()
    return model.eval()


def gradients(model, x, y, batch=500):
    """The norm of the gradient of the loss at each record, one for each parameter, and of the gradient in the input."""
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters, one, label):
        logits = functional_call(model, parameters, (one.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(logits, label.unsqueeze(0))

    each = vmap(grad(loss, argnums=(0, 1)), in_dims=(None, 0, 0))
    norms, inputs = [], []
    for start in range(0, len(x), batch):
        of_weights, of_input = each(parameters, x[start : start + batch], y[start : start + batch])
        norms.append(torch.stack([own.flatten(1).norm(dim=1) for own in of_weights.values()], dim=1))
        inputs.append(of_input.flatten(1).norm(dim=1))
    return torch.cat(norms).numpy(), torch.cat(inputs).numpy()


def main():
    generator = np.random.default_rng(0)
    classes = generator.integers(CLASSES, size=RECORDS)
    centers = generator.normal(size=(CLASSES, FEATURES))
    inputs = 0.5 * centers[classes] + generator.normal(size=(RECORDS, FEATURES))
    x, y = torch.tensor(inputs, dtype=torch.float32), torch.tensor(classes)
    # Fair coins decide who is in the target's training data: a lower bound on epsilon rests on it.
    members = [coins(RECORDS) for _ in range(1 + REFERENCES)]
    models = [trained(x, y, inside, seed) for seed, inside in enumerate(members)]
    with torch.no_grad():
        logits = np.stack([model(x).numpy() for model in models])
    norms, of_input = map(np.stack, zip(*(gradients(model, x, y) for model in models)))
    found = audit(
        member=members[0],
        target_logits=logits[0],
        reference_logits=logits[1:],
        reference_members=np.stack(members[1:]),
        gradients={"norms": norms[0], "input_norms": of_input[0]},
        reference_gradients={"norms": norms[1:], "input_norms": of_input[1:]},
        labels=classes,
        features=inputs,
        drawn=0.5,
        out=sys.argv[1] if len(sys.argv) > 1 else None,
        progress=False,
    )
    for row in found.by_access:
        print(f"{row.access}: {row.attack}: AUC {row.auc}")
    print(f"lower bound: {found.epsilon_lower}")
    if len(sys.argv) > 1:
        found.report(sys.argv[1])


if __name__ == "__main__":
    main()
