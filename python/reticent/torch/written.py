"""Gradients that are written out by what measures them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .measures import Kept, Measures
from .terms import Full, Term


class Written(Term):
    """Gradients that are written out by what measures them. Where nothing does, they are another term."""

    def __init__(self, like: Tensor, write: Callable[[Measures], Kept], make: Callable[[], Term]) -> None:
        self.rows, self._device = like.shape[0], like.device
        self._write, self._make = write, make
        self.kept: Kept | None = None
        self._term: Term | None = None

    @property
    def device(self) -> torch.device:
        return self._device

    @property
    def term(self) -> Term:
        """The other term; that of what is written out, once it is."""
        if self._term is None:
            self._term = self._make() if self.kept is None else Full(self.kept.tensor())
        return self._term

    def squared(self) -> Tensor:
        return self.term.squared()

    def describe(self, measures: Measures) -> None:
        self.kept = self._write(measures)
        measures.written_out(self.kept)

    def parts(self) -> Tensor:
        return self.term.parts()

    def full(self) -> Tensor:
        return self.term.full()

    def add(self, factors: Tensor, into: Tensor) -> None:
        self.term.add(factors, into)

    def write(self, factors: Tensor, into: Tensor) -> None:
        self.term.write(factors, into)

    def without(self, bad: Tensor) -> Term:
        # What was measured is what is added.
        return self.term.without(bad)


class Once:
    """What is written out once for several terms."""

    def __init__(self, write: Callable[[Measures], tuple[Kept, Kept]]) -> None:
        self._write = write
        self._found: tuple[Kept, Kept] | None = None

    def __call__(self, measures: Measures) -> tuple[Kept, Kept]:
        if self._found is None:
            self._found = self._write(measures)
        return self._found
