"""The gradients of a group of parameters: few large operations for many small gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .taps import Place
from .terms import Full, Outer, Term, cleared, finest, is_launched, lost, sum_of_squares

#: Numbers of an example in a gradient that is kept beside others.
SMALL = 4096

#: Numbers of an example that are squared together.
MOST_TOGETHER = 1 << 14


def joint_squared(terms: Sequence[Term]) -> tuple[Tensor | None, Sequence[Term]]:
    """The squared norms of all gradients that are one product of two vectors in single precision, added up; and the other terms. All
    vectors of an example are squared and added up at once: on a GPU few large operations take less time than many small ones. A number
    that is not finite makes the sum of its example one that is not."""
    outers = [own for own in terms if isinstance(own, Outer) and own.is_single]
    if len(outers) < 2:
        return None, terms
    vectors = [own.a.reshape(own.rows, -1) for own in outers] + [own.b.reshape(own.rows, -1) for own in outers]
    widths = tuple(own.shape[1] for own in vectors)
    if sum(widths) > MOST_TOGETHER:
        return None, terms
    device, count = vectors[0].device, len(outers)
    parts = torch.addmm(hidden(widths, device), torch.cat(vectors, 1).square_(), selector(widths, device))
    rest = [term for term in terms if not (isinstance(term, Outer) and term.is_single)]
    return torch.linalg.vecdot(parts[:, :count], parts[:, count:]), rest


def paired_squared(terms: Sequence[Term]) -> tuple[list[Tensor], Sequence[Term]]:
    """The squared norms of gradients that are one product of two vectors, each with the bias beside it, whose gradient is one of the
    vectors; and the other terms."""
    biases: dict[Any, list[Full]] = {}
    for term in terms:
        if isinstance(term, Full):
            biases.setdefault(_memory(term.gradients), []).append(term)
    found: list[Tensor] = []
    taken: set[Term] = set()
    for term in terms:
        beside = biases.get(_memory(term.b.reshape(term.rows, -1))) if isinstance(term, Outer) and term.is_single else None
        if beside and isinstance(term, Outer):
            found.append(term.squared_beside(1.0))
            taken |= {term, beside.pop()}
    return found, [own for own in terms if own not in taken]


def _memory(values: Tensor) -> tuple[int, torch.dtype, torch.Size, tuple[int, ...]]:
    """What two tensors have in common that hold the same numbers in the same memory."""
    return values.data_ptr(), values.dtype, values.shape, values.stride()


@lru_cache(maxsize=64)
def selector(widths: tuple[int, ...], device: torch.device) -> Tensor:
    """The matrix that adds up vectors of these widths, each by as much too long as rounding may make it too short."""
    eps = torch.finfo(torch.float32).eps
    return torch.block_diag(*(torch.full((width, 1), 1 + (width + 2) * eps) for width in widths)).to(device, torch.float32)


@lru_cache(maxsize=64)
def hidden(widths: tuple[int, ...], device: torch.device) -> Tensor:
    """What underflow may hide of the squared lengths of vectors of these widths."""
    numbers = [lost(torch.float32, width) for width in widths]
    return torch.tensor(numbers, dtype=torch.float32, device=device)


@dataclass(frozen=True)
class Column:
    """The gradients of a group of parameters for every example. Small ones that are written out are side by side."""

    #: The small ones, (examples, numbers); none where there are fewer than two.
    flat: Tensor | None
    places: Sequence[Place]
    sizes: Sequence[int]
    rest: Sequence[tuple[Place, Term]]

    @staticmethod
    def of(found: Sequence[tuple[Place, Term]]) -> Column:
        """The gradients of a group of parameters."""
        if not found or not is_launched(found[0][1].device):
            return Column(None, (), (), found)
        small: list[tuple[Place, Tensor]] = []
        rest: list[tuple[Place, Term]] = []
        for place, term in found:
            if isinstance(term, Full) and is_small(term):
                small.append((place, term.gradients.reshape(term.rows, -1)))
            else:
                rest.append((place, term))
        if len(small) < 2:
            return Column(None, (), (), found)
        gradients = [own for _, own in small]
        return Column(torch.cat(gradients, 1), [place for place, _ in small], [own.shape[1] for own in gradients], rest)

    @property
    def is_empty(self) -> bool:
        """Whether there are no gradients."""
        return self.flat is None and not self.rest

    def squared(self) -> Tensor:
        """The squared norm of every example, in double precision."""
        terms: Sequence[Term] = [term for _, term in self.rest]
        found = [] if self.flat is None else [sum_of_squares(self.flat)]
        if len(terms) > 1 and is_launched(terms[0].device):
            together, terms = joint_squared(terms)
            found += [] if together is None else [together]
        else:
            pairs, terms = paired_squared(terms)
            found += pairs
        found += [term.squared() for term in terms]
        kind = finest(found[0].device)
        return found[0].to(kind) if len(found) == 1 else torch.stack(found).sum(0, dtype=kind)

    def add(self, factors: Tensor, view: Callable[[Place], tuple[Tensor, bool]], bad: Tensor | None = None) -> None:
        """Adds the weighted sums to what a sum has at the places, or writes them where it has nothing. Gradients of bad examples count as
        0, whatever they hold."""
        if self.flat is not None:
            flat = self.flat if bad is None else cleared(self.flat, bad)
            summed = flat.t().mv(factors.to(flat.dtype))
            parts = [view(place) for place in self.places]
            for into, is_blank in parts:
                if is_blank:
                    into.zero_()
            torch._foreach_add_([into for into, _ in parts], summed.split(list(self.sizes)))
        for place, term in self.rest:
            into, is_blank = view(place)
            own = term if bad is None else term.without(bad)
            own.write(factors, into) if is_blank else own.add(factors, into)


def is_small(term: Full) -> bool:
    """Whether a gradient is kept beside others."""
    return term.gradients.dtype == torch.float32 and 0 < term.gradients.numel() <= SMALL * term.rows
