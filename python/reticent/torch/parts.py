"""Batches in parts, for trainers that accumulate gradients: they are given the batch of a whole step, and the module a part of it at a
time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import DataLoader

from . import refusals
from .run import Run
from .sampling import PoissonBatches, options_of, plain_loader


def enlarged(loader: Any, times: int) -> Any:
    """A loader with batches so many times as large. What is no such loader stays as it is."""
    loader = plain_loader(loader)
    if times == 1 or not isinstance(loader, DataLoader) or loader.batch_size is None:
        return loader
    return DataLoader(**options_of(loader), batch_size=loader.batch_size * times, sampler=loader.sampler)


def parts_of(run: Run, values: Any, most: int) -> Iterator[tuple[Any, int]]:
    """The parts of the batch that the loader gave last, each with at most so many examples if its units allow, and how many it has. The run
    takes a part for its present batch from when it is given."""
    batch = run.batch
    if batch is None or batch.is_blank or batch.rows <= most:
        yield values, 1 if batch is None else batch.rows
        return
    if run.is_ahead:
        remedy = "the trainer took another batch before this one was trained on, so it cannot be divided: take one at a time"
        raise refusals.misuse("data_loader", remedy)
    cutter = PoissonBatches(lambda: None, 0, batch.unit is not None)
    cutter.most = most
    sizes = np.ones(batch.rows, int) if batch.unit is None else np.bincount(batch.unit.numpy(), minlength=batch.units)
    run.announce(None)
    for part, examples in cutter.parts(np.arange(batch.rows), sizes.cumsum()):
        run.announce(part)
        yield cut(values, batch.rows, slice(examples[0], examples[-1] + 1)), part.rows


def cut(values: Any, rows: int, part: slice) -> Any:
    """Some examples of a batch with so many: of tensors with a row each, and of lists with an entry each. The rest stays as it is."""
    if isinstance(values, Tensor):
        return values[part] if values.dim() and values.shape[0] == rows else values
    if isinstance(values, Mapping):
        found = {key: cut(item, rows, part) for key, item in values.items()}
        return found if type(values) is dict else type(values)(found)  # type: ignore[call-arg]
    if isinstance(values, (list, tuple)):
        if len(values) == rows and not any(isinstance(item, (Tensor, Mapping, list, tuple)) for item in values):
            return values[part]
        inner = [cut(item, rows, part) for item in values]
        return type(values)(*inner) if hasattr(values, "_fields") else type(values)(inner)
    return values
