"""Steps in parts, for trainers that accumulate gradients: what they take for a batch is a step, whose parts the module is given one after the
other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from . import refusals
from .run import Run
from .sampling import PoissonBatches, PrivateLoader, options_of, plain_loader


def enlarged(loader: Any, times: int) -> Any:
    """A loader with batches so many times as large. What is no such loader stays as it is."""
    loader = plain_loader(loader)
    if times == 1 or not isinstance(loader, DataLoader) or loader.batch_size is None:
        return loader
    return DataLoader(**options_of(loader), batch_size=loader.batch_size * times, sampler=loader.sampler)


class Steps:
    """A private loader step by step. Its parts have at most so many examples, or one unit that has more."""

    def __init__(self, loader: PrivateLoader, run: Run, most: int, made_of: Any) -> None:
        sampler = loader.batch_sampler
        assert isinstance(sampler, PoissonBatches)
        sampler.most = most
        loader.made_of = plain_loader(made_of)
        self.loader, self.run = loader, run

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Step]:
        parts = iter(self.loader)
        for first in parts:
            step = Step(first, parts, self.run)
            yield step
            if not step.is_done:
                raise refusals.misuse("step", "the trainer took another step before it was given all parts of this one")

    def __getattr__(self, name: str) -> Any:
        if "loader" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.loader, name)


class Step:
    """The parts of a step, each with how many examples it has. It has no keys."""

    def __init__(self, first: Any, parts: Iterator[Any], run: Run) -> None:
        self.part, self.parts, self.run = first, parts, run
        self.is_done = False

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        part = self.part
        while True:
            batch = self.run.batch
            if batch is None:
                raise refusals.misuse("data_loader", "the trainer goes through a step that is over: take one step at a time")
            yield part, batch.rows
            if batch.is_last:
                self.is_done = True
                return
            part = next(self.parts)

    def __contains__(self, _: object) -> bool:
        return False


def mean_of(losses: list[tuple[Tensor, int]]) -> Tensor:
    """The mean loss of a step, from those of its parts and how many examples they have."""
    return torch.stack([loss * rows for loss, rows in losses]).sum() / sum(rows for _, rows in losses)
