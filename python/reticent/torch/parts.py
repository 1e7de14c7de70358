"""Batches in parts, for trainers that accumulate gradients: they are given the examples of a whole step, and the module a part of them at a
time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from . import refusals
from .run import Run
from .sampling import Collate, Examples, PoissonBatches, PrivateLoader, options_of, plain_loader


def enlarged(loader: Any, times: int) -> Any:
    """A loader with batches so many times as large. What is no such loader stays as it is."""
    loader = plain_loader(loader)
    if times == 1 or not isinstance(loader, DataLoader) or loader.batch_size is None:
        return loader
    return DataLoader(**options_of(loader), batch_size=loader.batch_size * times, sampler=loader.sampler)


def give_examples(loader: PrivateLoader, made_of: Any) -> None:
    """Has a private loader give the examples of a step as they are, for ``parts_of``. It was made of this loader, with larger batches."""
    assert isinstance(loader.collate_fn, Collate)
    loader.collate_fn.keeps_examples = True
    loader.made_of = plain_loader(made_of)


def parts_of(run: Run, loader: PrivateLoader, step: Any, most: int) -> Iterator[tuple[Any, int]]:
    """The parts of the step that a loader gave last, each with at most so many examples, or with one unit that has more; and how many it
    has. The run takes a part for its present batch from when it is given."""
    batch, collate = run.batch, loader.collate_fn
    if not isinstance(step, Examples) or not isinstance(collate, Collate) or batch is None:
        raise refusals.misuse("data_loader", "the trainer was given a batch that is not the private loader's: train on that loader alone")
    if run.is_ahead or not (batch.is_first and batch.is_last):
        remedy = "the trainer took another batch before this one was trained on, so it cannot be divided: take one at a time"
        raise refusals.misuse("data_loader", remedy)
    if batch.is_blank:
        yield collate.blank, 1
        return
    cutter = PoissonBatches(lambda: None, 0, batch.unit is not None)
    cutter.most = most
    sizes = np.ones(batch.rows, int) if batch.unit is None else np.bincount(batch.unit.numpy(), minlength=batch.units)
    run.announce(None)
    for part, places in cutter.parts(np.arange(batch.rows), sizes.cumsum()):
        own = collate.collated([step.examples[place] for place in places])
        run.announce(part)
        yield own, part.rows


def mean_of(losses: list[tuple[Tensor, int]]) -> Tensor:
    """The mean loss of a step, from those of its parts and how many examples they have."""
    return torch.stack([loss * rows for loss, rows in losses]).sum() / sum(rows for _, rows in losses)
