"""Steps in parts, for batches that do not fit into memory."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .._core import brief
from .._refusals import invalid
from .sampling import PoissonBatches, PrivateLoader


class BatchMemoryManager:
    """Has a private loader give at most so many examples at a time. The loop stays as it is: ``optimizer.step()`` moves the weights when
    the last part of a step has been added.

    Parts hold whole units. ``len(loader)`` counts steps, not parts.
    """

    def __init__(self, *, data_loader: Any, max_physical_batch_size: int, optimizer: Any = None) -> None:
        if not isinstance(data_loader, PrivateLoader):
            raise invalid("data_loader", brief(data_loader), "give the loader that make_private returned", "R202")
        if isinstance(max_physical_batch_size, bool) or int(max_physical_batch_size) < 1:
            raise invalid("max_physical_batch_size", brief(max_physical_batch_size), "give at least 1")
        self.loader, self.most = data_loader, int(max_physical_batch_size)

    def __enter__(self) -> PrivateLoader:
        sampler = self.loader.batch_sampler
        assert isinstance(sampler, PoissonBatches)
        sampler.most = self.most
        return self.loader

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sampler = self.loader.batch_sampler
        assert isinstance(sampler, PoissonBatches)
        sampler.most = None
