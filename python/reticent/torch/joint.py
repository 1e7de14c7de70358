"""The norms of the gradients of a group of parameters, together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .taps import Place
from .terms import Full, Single, Term, finest

#: The gradients of a group of parameters for every example.
Column = Sequence[tuple[Place, Term]]


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
        beside = biases.get(_memory(term.b)) if isinstance(term, Single) else None
        if beside and isinstance(term, Single):
            found.append(term.squared_beside(1.0))
            taken |= {term, beside.pop()}
    return found, [own for own in terms if own not in taken]


def _memory(values: Tensor) -> tuple[int, torch.dtype, torch.Size, tuple[int, ...]]:
    """What two tensors have in common that hold the same numbers in the same memory."""
    return values.data_ptr(), values.dtype, values.shape, values.stride()


def squared(column: Column, rows: int, device: torch.device) -> Tensor:
    """The squared norm of every example, in double precision."""
    kind = finest(device)
    if not column:
        return torch.zeros(rows, dtype=kind, device=device)
    found, terms = paired_squared([term for _, term in column])
    found += [term.squared() for term in terms]
    return found[0].to(kind) if len(found) == 1 else torch.stack(found).sum(0, dtype=kind)
