"""Loaders whose batches are Poisson samples: every unit is in a step with the same probability, independently of everything else."""

from __future__ import annotations

import random
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten
from torch.utils.data import DataLoader, IterableDataset, Sampler, WeightedRandomSampler
from torch.utils.data.distributed import DistributedSampler

from .._core import PrivacyWarning, brief
from .._refusals import conflict, invalid
from . import refusals
from .distributed import Group, shares

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
        #: What belongs to the batches of the latest loop.
        self.queue: deque[Batch] = deque()

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        self.queue = deque()
        return self._loop(self.queue)

    def _loop(self, queue: deque[Batch]) -> Iterator[list[int]]:
        is_first = True
        for drawn in self._drawn():
            is_first = False
            for batch, examples in self.parts(*drawn):
                queue.append(batch)
                yield examples
        if is_first:
            raise conflict("steps", "all taken", "the plan is finished: plan more epochs before training")

    def _drawn(self) -> Iterator[tuple[Any, Any]]:
        """The samples of an epoch."""
        for _ in range(self.steps):
            drawn = self.draw()
            if drawn is None:
                return
            yield drawn

    def parts(self, examples: Any, ends: Any) -> Iterator[tuple[Batch, list[int]]]:
        """The parts of a step with these examples, whose units end there."""
        cuts, count = self._share(ends)
        for place in range(count):
            is_first, is_last = place == 0, place + 1 == count
            if place >= len(cuts):
                yield Batch(1, None, 1, True, is_first, is_last), []
                continue
            first, last = cuts[place]
            start, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
            unit = None
            if self.by_unit:
                sizes = np.diff(ends[first:last], prepend=start)
                unit = torch.from_numpy(np.repeat(np.arange(last - first), sizes))
            yield Batch(end - start, unit, last - first, False, is_first, is_last), examples[start:end].tolist()

    def _share(self, ends: Any) -> tuple[list[tuple[int, int]], int]:
        """The units of every part that this process computes, and how many parts there are, made-up ones included."""
        cuts = self._cuts(ends, 0, len(ends))
        return cuts, max(1, len(cuts))

    def _cuts(self, ends: Any, first: int, stop: int) -> list[tuple[int, int]]:
        """Some units in parts: as many in each as there is room for, at least one."""
        if first == stop:
            return []
        if self.most is None:
            return [(first, stop)]
        cuts = []
        while first < stop:
            start = int(ends[first - 1]) if first else 0
            last = int(np.searchsorted(ends[:stop], start + self.most, side="right"))
            last = max(last, first + 1)
            cuts.append((first, last))
            first = last
        return cuts


class SharedBatches(PoissonBatches):
    """The examples that one of several processes computes. Process 0 draws the samples of an epoch when it begins; every step has the same
    number of parts in every process."""

    def __init__(self, draw: Draw, steps: int, by_unit: bool, group: Group, begin: Callable[[int | None], int]) -> None:
        super().__init__(draw, steps, by_unit)
        self.group, self.begin = group, begin

    def _drawn(self) -> Iterator[tuple[Any, Any]]:
        count = min(self.steps, self.begin(self.most))

        def draw() -> list[Any]:
            return [self.draw() for _ in range(count)] if self.group.is_main else []

        yield from self.group.send(self.group.together(draw))

    def _share(self, ends: Any) -> tuple[list[tuple[int, int]], int]:
        cuts = [self._cuts(ends, first, stop) for first, stop in shares(len(ends), self.group.size)]
        return cuts[self.group.rank], max(1, *(len(own) for own in cuts))


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


class Listener(Protocol):
    """What a loader announces its batches to."""

    @property
    def is_pending(self) -> bool:
        """Whether a batch was announced whose step is not taken."""

    @property
    def sample_rate(self) -> float:
        """The probability of a unit to be in a step."""

    def announce(self, batch: Batch | None) -> None:
        """A batch that the loader gives next; none at its end."""


class PrivateLoader(DataLoader[Any]):
    """A loader that announces every batch to the run it belongs to. One loop over it is open at a time."""

    def __init__(self, listener: Listener, made_of: DataLoader[Any], **options: Any) -> None:
        self.listener = listener
        #: The loader whose place it takes.
        self.made_of = made_of
        self.turn: object | None = None
        super().__init__(**options)

    @property
    def sample_rate(self) -> float:
        """The probability of a unit to be in a step."""
        return self.listener.sample_rate

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if self.turn is not None and self.listener.is_pending:
            self.turn = None
            self.listener.announce(None)
            raise refusals.misuse(
                "data_loader",
                "another loop over it is open in the middle of a step, whose batch is dropped now: close that loop, or delete "
                "its iterator, and begin again",
            )
        turn = self.turn = object()
        self.listener.announce(None)
        try:
            iterator = super().__iter__()
            sampler = self.batch_sampler
            assert isinstance(sampler, PoissonBatches)
            queue = sampler.queue
            for batch in iterator:
                if self.turn is not turn:
                    raise refusals.misuse("data_loader", "another loop over it began, which ended this one")
                self.listener.announce(queue.popleft())
                yield batch
            if self.turn is turn:
                self.listener.announce(None)
        finally:
            if self.turn is turn:
                self.turn = None

    def __reduce__(self) -> Any:
        raise refusals.misuse("data_loader", "a private loader cannot be copied or pickled: make one in each process")


def plain_loader(loader: Any) -> Any:
    """A loader as it was before it was made private: a second training samples by itself, and has a plan of its own."""
    return loader.made_of if isinstance(loader, PrivateLoader) else loader


def check_loader(loader: Any, group: Group | None) -> int:
    """Refuses loaders that Poisson sampling cannot take the place of; the expected number of units in a step, over all processes."""
    if not isinstance(loader, DataLoader):
        raise invalid("data_loader", brief(loader), "give a torch.utils.data.DataLoader", "R202")
    if isinstance(loader.dataset, IterableDataset):
        remedy = (
            "an iterable dataset decides the order itself, so its examples cannot be sampled: give a dataset with "
            "__len__ and __getitem__"
        )
        raise invalid("data_loader", type(loader.dataset).__name__, remedy)
    size = 1 if group is None else group.size
    parts = loader.sampler.num_replicas if isinstance(loader.sampler, DistributedSampler) else 1
    if parts not in (1, size):
        remedy = f"the dataset is divided among {parts} processes where {size} train together: leave the sampler out"
        raise invalid("data_loader", "DistributedSampler", remedy)
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
    # A sampler that divides the dataset has batch_size count for one process.
    return int(loader.batch_size) * parts


def check_collate(loader: DataLoader[Any], by_unit: bool) -> None:
    """Refuses a ``collate_fn`` that mixes examples, as far as three of them show it; with units also one that changes their order."""
    if len(loader.dataset) < 3:  # type: ignore[arg-type]
        return
    one, two, three = (loader.dataset[place] for place in range(3))
    first, second = (_rows(loader, pair) for pair in ([one, two], [one, three]))
    shared = [place for place, (own, other) in enumerate(zip(first, second, strict=False)) if own.shape == other.shape]
    pairs = [(a, b) for a in range(2) for b in range(2)]
    if shared and not any(all(torch.equal(first[own][a], second[own][b]) for own in shared) for a, b in pairs):
        remedy = "what it makes of an example depends on the other ones (as mixup does), so no gradient is one example's alone"
        raise conflict("collate_fn", brief(loader.collate_fn), f"{remedy}: collate examples one by one")
    if not by_unit:
        return
    swapped = _rows(loader, [two, one])
    is_same = all(own.shape == other.shape and torch.equal(own, other) for own, other in zip(first, swapped, strict=False))
    if is_same and any(not torch.equal(own[0], own[1]) for own in first):
        remedy = "it changes the order of the examples, so they would be taken for other units': keep the order"
        raise conflict("collate_fn", brief(loader.collate_fn), remedy)


def _rows(loader: DataLoader[Any], examples: list[Any]) -> list[Tensor]:
    """The tensors of a batch of two, always made with the same random numbers."""
    kept = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            random.seed(1)
            np.random.seed(1)
            found = tree_flatten(loader.collate_fn(examples))[0]
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
    return [item for item in found if isinstance(item, Tensor) and item.dim() and item.shape[0] == len(examples)]


def options_of(loader: DataLoader[Any]) -> dict[str, Any]:
    """What a loader with other batches has in common with this one."""
    options: dict[str, Any] = {
        "dataset": loader.dataset,
        "num_workers": loader.num_workers,
        "collate_fn": loader.collate_fn,
        "pin_memory": loader.pin_memory,
        "timeout": loader.timeout,
        "worker_init_fn": loader.worker_init_fn,
        "multiprocessing_context": loader.multiprocessing_context,
        "generator": loader.generator,
        "persistent_workers": loader.persistent_workers,
    }
    if loader.num_workers:
        options["prefetch_factor"] = loader.prefetch_factor
    return options


def private_loader(
    loader: DataLoader[Any], batches: PoissonBatches, listener: Listener
) -> PrivateLoader:
    """The loader with Poisson samples for batches; workers and the rest stay as they are."""
    plain = loader.collate_fn
    blank = blank_like(plain([loader.dataset[0]]))
    return PrivateLoader(listener, loader, **{**options_of(loader), "batch_sampler": batches, "collate_fn": Collate(plain, blank)})
