"""The name of Opacus for samplers of batches, which private loaders have of their own."""

from __future__ import annotations

from typing import Any

from ..._refusals import invalid


class UniformWithReplacementSampler:
    """Refused: the loader that ``make_private`` returns draws Poisson samples by a cryptographically secure generator.

    >>> from reticent.torch.utils.uniform_sampler import UniformWithReplacementSampler
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        remedy = "make_private samples by itself: give it a DataLoader with batch_size, the expected size of a batch"
        raise invalid("batch_sampler", type(self).__name__, remedy)


__all__ = ["UniformWithReplacementSampler"]
