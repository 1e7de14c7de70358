"""Loaders whose batches are Poisson samples: every unit is in a step with the same probability, independently of everything else."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, Sampler, WeightedRandomSampler
from torch.utils.data.distributed import DistributedSampler

from .._core import PrivacyWarning, brief
from .._refusals import conflict, invalid

#: Draws the examples of a step, and where those of each unit end.
Draw = Callable[[], tuple[Any, Any] | None]


@dataclass(frozen=True)
class Batch:
    """What a loader gives at a time: a step's examples, or a part of them."""

    #: How many examples there are; 1 made-up example if there is none.
    rows: int
    #: The unit of every example, counted from 0; none where each is a unit.
    unit: Tensor | None
    units: int
    is_blank: bool
    is_first: bool
    is_last: bool


class PoissonBatches(Sampler[list[int]]):
    """The examples of one step after the other, in parts if the memory asks for it."""

    def __init__(self, draw: Draw, steps: int, by_unit: bool) -> None:
        self.draw, self.steps, self.by_unit = draw, steps, by_unit
        #: The most examples that are given at a time; none for all of a step.
        self.most: int | None = None
        self.queue: deque[Batch] = deque()

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        self.queue.clear()
        for place in range(self.steps):
            drawn = self.draw()
            if drawn is None:
                if place == 0:
                    raise conflict("steps", "all taken", "the plan is finished: plan more epochs before training")
                return
            yield from self._parts(*drawn)

    def _parts(self, examples: Any, ends: Any) -> Iterator[list[int]]:
        if not len(examples):
            self.queue.append(Batch(1, None, 1, True, True, True))
            yield []
            return
        cuts = self._cuts(ends)
        for place, (first, last) in enumerate(cuts):
            start, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
            unit = None
            if self.by_unit:
                sizes = np.diff(ends[first:last], prepend=start)
                unit = torch.from_numpy(np.repeat(np.arange(last - first), sizes))
            is_last = place + 1 == len(cuts)
            self.queue.append(Batch(end - start, unit, last - first, False, place == 0, is_last))
            yield examples[start:end].tolist()

    def _cuts(self, ends: Any) -> list[tuple[int, int]]:
        """The units of every part: as many as there is room for, at least one."""
        if self.most is None:
            return [(0, len(ends))]
        cuts, first, start = [], 0, 0
        while first < len(ends):
            last = int(np.searchsorted(ends, start + self.most, side="right"))
            last = max(last, first + 1)
            cuts.append((first, last))
            first, start = last, int(ends[last - 1])
        return cuts


class Collate:
    """Makes a batch of examples, and of none a made-up one of the same form."""

    def __init__(self, plain: Callable[[Any], Any], blank: Any) -> None:
        self.plain, self.blank = plain, blank

    def __call__(self, examples: list[Any]) -> Any:
        return self.plain(examples) if len(examples) else self.blank


def blank_like(batch: Any) -> Any:
    """The same form without content: zeros and empty texts."""
    if isinstance(batch, Tensor):
        return torch.zeros_like(batch)
    if isinstance(batch, dict):
        filled = {key: blank_like(item) for key, item in batch.items()}
        return filled if type(batch) is dict else type(batch)(filled)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(blank_like(item) for item in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(blank_like(item) for item in batch)
    if isinstance(batch, (bool, int, float, str)):
        return type(batch)()
    return batch


class PrivateLoader(DataLoader[Any]):
    """A loader that announces every batch to the run it belongs to."""

    def __init__(self, listener: Callable[[Batch | None], None], **options: Any) -> None:
        self.listener = listener
        super().__init__(**options)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        sampler = self.batch_sampler
        assert isinstance(sampler, PoissonBatches)
        for batch in super().__iter__():
            self.listener(sampler.queue.popleft())
            yield batch
        self.listener(None)


def check_loader(loader: Any) -> int:
    """Refuses loaders that Poisson sampling cannot take the place of; the batch size."""
    if not isinstance(loader, DataLoader):
        raise invalid("data_loader", brief(loader), "give a torch.utils.data.DataLoader", "R202")
    if isinstance(loader, PrivateLoader):
        raise conflict("data_loader", "private already", "give the loader that it was made of")
    if isinstance(loader.dataset, IterableDataset):
        remedy = (
            "an iterable dataset decides the order itself, so its examples cannot be sampled: give a dataset with "
            "__len__ and __getitem__"
        )
        raise invalid("data_loader", type(loader.dataset).__name__, remedy)
    if isinstance(loader.sampler, DistributedSampler):
        raise invalid("data_loader", "DistributedSampler", "training on several machines is not supported")
    if isinstance(loader.sampler, WeightedRandomSampler):
        warnings.warn(
            "the WeightedRandomSampler is replaced by Poisson sampling: every example has the same probability, as the "
            "guarantee needs",
            PrivacyWarning,
            stacklevel=4,
        )
    if loader.batch_size is None:
        remedy = "give a loader with batch_size: the expected number of units in a step follows from it"
        raise invalid("data_loader", "no batch_size", remedy)
    try:
        count = len(loader.dataset)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count == 0:
        raise invalid("data_loader", "no examples", "give a dataset with a length above 0")
    return int(loader.batch_size)


def private_loader(
    loader: DataLoader[Any], batches: PoissonBatches, listener: Callable[[Batch | None], None]
) -> PrivateLoader:
    """The loader with Poisson samples for batches; workers and the rest stay as they are."""
    plain = loader.collate_fn
    blank = blank_like(plain([loader.dataset[0]]))
    options: dict[str, Any] = {
        "dataset": loader.dataset,
        "batch_sampler": batches,
        "num_workers": loader.num_workers,
        "collate_fn": Collate(plain, blank),
        "pin_memory": loader.pin_memory,
        "timeout": loader.timeout,
        "worker_init_fn": loader.worker_init_fn,
        "multiprocessing_context": loader.multiprocessing_context,
        "generator": loader.generator,
        "persistent_workers": loader.persistent_workers,
    }
    if loader.num_workers:
        options["prefetch_factor"] = loader.prefetch_factor
    return PrivateLoader(listener, **options)
