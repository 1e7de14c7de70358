"""Modules of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError, RequestError
from .arrays import Bools, plain
from .digests import digest_of, hash_of
from .files import refusal
from .models import Said


def examples_of(torch: Any, dataset: Any) -> Any:
    """A dataset of pairs."""
    if isinstance(dataset, (tuple, list)) and len(dataset) == 2 and all(map(torch.is_tensor, dataset)):
        inputs, classes = dataset
        if len(inputs) != len(classes):
            remedy = "give as many inputs as classes"
            raise refusal(DataError, "R307", "dataset", f"{len(inputs)} and {len(classes)} tensors", remedy)
        return torch.utils.data.TensorDataset(inputs, classes)
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        remedy = "give a dataset with a length that is indexed by number, or a pair of tensors"
        raise refusal(RequestError, "R104", "dataset", None, f"{type(dataset).__name__}: {remedy}")
    return dataset


def read_examples(examples: Any, labels: Any, records: int) -> tuple[Any, str]:
    """The classes, and a digest of the examples; of the classes alone if examples are random."""
    tensors = getattr(examples, "tensors", None)
    if tensors is not None and len(tensors) == 2:
        return (tensors[1] if labels is None else labels), hash_of([digest_of(tensor) for tensor in tensors])
    probed = [_parts(examples[place]) for place in range(min(records, 16))]
    is_stable = all(parts == _parts(examples[place]) for place, parts in enumerate(probed))
    read: list[Any] = []
    tokens: list[str] = []
    for place in range(records):
        example = examples[place]
        if labels is None:
            if not isinstance(example, (tuple, list)) or len(example) < 2:
                remedy = "its examples are not pairs of an input and a class: give labels"
                raise refusal(RequestError, "R104", "dataset", None, remedy)
            read.append(np.asarray(plain(example[1])).item())
        if is_stable:
            tokens += _parts(example)
    known = np.array(read) if labels is None else labels
    return known, hash_of([str(records), digest_of(np.asarray(plain(known))), *tokens])


def _parts(example: Any) -> list[str]:
    """Digests of the parts of an example."""
    return [digest_of(part) for part in (example if isinstance(example, (tuple, list)) else [example])]


def fit_torch(make_and_train: Any, examples: Any, size: int, inside: Bools, seed: int) -> Said:
    """The logits of a model that was trained on some of the examples, for all of them."""
    import torch

    subset = torch.utils.data.Subset(examples, np.flatnonzero(inside).tolist())
    module = make_and_train(subset, seed)
    if not callable(module):
        remedy = f"returned {type(module).__name__}: return the trained module"
        raise refusal(RequestError, "R104", "make_and_train", None, remedy)
    if hasattr(module, "eval"):
        module.eval()
    first = next(module.parameters(), None) if hasattr(module, "parameters") else None
    device = torch.device("cpu") if first is None else first.device
    said = []
    with torch.no_grad():
        for batch in torch.utils.data.DataLoader(examples, batch_size=size):
            inputs = batch[0] if isinstance(batch, (tuple, list)) else batch
            said.append(module(inputs.to(device)).detach().float().cpu().numpy())
    logits = np.concatenate(said)
    if logits.ndim == 1 or (logits.ndim == 2 and logits.shape[1] == 1):
        # The logit of the second class against the first.
        logits = np.column_stack([np.zeros(len(logits), dtype=np.float32), logits.reshape(-1)])
    return "logits", logits
