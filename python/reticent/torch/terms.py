"""Gradients of single examples in factors: their norms without writing them out, and their weighted sums as one product.

A term is the gradient of one parameter for every example of a batch. ``squared`` is at least the squared norm, so an example is never
counted shorter than it is: where it comes from factors, whose parts may cancel, what rounding and underflow could hide is added to it.
That also bounds the parts: with ``u`` the unit of rounding, a gradient that is clipped to length C has parts of length C/√(32 u) at
most, so adding them one by one to a sum that others share costs that sum a share of about √u of C, well within the margin of the
clipping rule. Gradients that are written out are measured as they are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

#: Numbers of single-example gradients that one parameter may keep in memory.
KEPT = 1 << 28

#: Numbers that are written out at a time.
ROOM = 1 << 25

#: With so few positions the weighted sum is cheaper as a product of the factors than from gradients that are kept.
FEW = 8


def allowance(kind: torch.dtype) -> float:
    """What rounding may hide of a squared norm, as a share of the square of the lengths of its parts."""
    return 32.0 * torch.finfo(kind).eps


def lost(kind: torch.dtype, count: int) -> float:
    """What a sum of so many squares may lose to underflow."""
    return count * torch.finfo(kind).tiny


def wide(tensor: Tensor) -> Tensor:
    """At least single precision."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def sum_of_squares(tensor: Tensor) -> Tensor:
    """The sum of squares of every example."""
    flat = tensor.reshape(tensor.shape[0], -1)
    return torch.linalg.vecdot(flat, flat)


def masked(values: Tensor, factors: Tensor) -> Tensor:
    """Every example times its factor."""
    return values * factors.to(values.dtype).view(-1, *([1] * (values.dim() - 1)))


class Term:
    """The gradient of one parameter for every example."""

    rows: int

    @property
    def device(self) -> torch.device:
        """Where it is computed."""
        return torch.device("cpu")

    def squared(self) -> Tensor:
        """The squared norm of every example's gradient, not less than it is."""
        raise NotImplementedError

    def parts(self) -> Tensor:
        """The sum of the lengths of the parts of every example's gradient."""
        raise NotImplementedError

    def full(self) -> Tensor:
        """The gradients, written out."""
        raise NotImplementedError

    def add(self, factors: Tensor, into: Tensor) -> None:
        """Adds the weighted sum of the gradients."""
        raise NotImplementedError

    def without(self, bad: Tensor) -> Term:
        """The same with the gradients of some examples set to 0, whatever they hold."""
        raise NotImplementedError


def cleared(values: Tensor, bad: Tensor) -> Tensor:
    """Values with some examples set to 0, whatever they hold."""
    zero = torch.zeros((), dtype=values.dtype, device=values.device)
    return torch.where(bad.view(-1, *([1] * (values.dim() - 1))), zero, values)


class Full(Term):
    """Gradients that are written out."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = wide(gradients)
        self.rows = gradients.shape[0]

    @property
    def device(self) -> torch.device:
        return self.gradients.device

    def squared(self) -> Tensor:
        return sum_of_squares(self.gradients)

    def parts(self) -> Tensor:
        return self.squared().sqrt()

    def full(self) -> Tensor:
        return self.gradients

    def add(self, factors: Tensor, into: Tensor) -> None:
        flat = self.gradients.reshape(self.rows, -1)
        into.view(-1).addmv_(flat.t(), factors.to(flat.dtype))

    def without(self, bad: Tensor) -> Full:
        return Full(cleared(self.gradients, bad))


class Outer(Term):
    """Sums over positions of products of two vectors, group by group: ``b``ᵀ ``a`` with ``a`` of shape (rows, groups, positions, in)
    and ``b`` of shape (rows, groups, positions, out). Instead of ``a`` there may be what makes it, which is called when ``a`` is needed:
    it is let go when gradients are kept."""

    def __init__(self, a: Tensor | Callable[[], Tensor], b: Tensor, width: int | None = None) -> None:
        self.b = wide(b)
        self._a: Tensor | None = a if isinstance(a, Tensor) else None
        self._make: Callable[[], Tensor] | None = None if isinstance(a, Tensor) else a
        self.rows, self.groups, self.positions, self.height = b.shape
        self.width = self.a.shape[3] if width is None else width
        self.kept: Tensor | None = None

    @property
    def device(self) -> torch.device:
        return self.b.device

    @property
    def a(self) -> Tensor:
        """The vectors that meet those of ``b``."""
        if self._a is None:
            assert self._make is not None
            self._a = self._make()
        if self._a.dtype != self.b.dtype:
            kind = torch.promote_types(wide(self._a).dtype, self.b.dtype)
            self._a, self.b = self._a.to(kind), self.b.to(kind)
        return self._a

    @property
    def is_single(self) -> bool:
        """Whether every gradient is one product of two vectors in single precision."""
        return self.positions == self.groups == 1 and self.a.dtype == torch.float32

    @property
    def uses_gram(self) -> bool:
        """Whether norms come from products of positions."""
        return self.positions * (self.width + self.height) < self.width * self.height

    def squared(self) -> Tensor:
        if self.positions == 1:
            a = torch.linalg.vecdot(self.a, self.a) + lost(self.a.dtype, self.width)
            b = torch.linalg.vecdot(self.b, self.b) + lost(self.b.dtype, self.height)
            return (a * b).view(-1) if self.groups == 1 else (a * b).sum((1, 2))
        if self.uses_gram:
            return self._gram()
        size = self.groups * self.height * self.width
        if self.rows * size <= KEPT and self.positions > FEW:
            self.kept = self._written(slice(None))
            if self._make is not None:
                self._a = None
            return sum_of_squares(self.kept)
        step = max(1, ROOM // size)
        pieces = [slice(start, start + step) for start in range(0, self.rows, step)]
        whole = torch.cat([sum_of_squares(self._written(piece)) for piece in pieces])
        return whole + allowance(whole.dtype) * self.parts().square()

    def _gram(self) -> Tensor:
        step = max(1, ROOM // (2 * self.groups * self.positions**2))
        found = []
        for start in range(0, self.rows, step):
            a, b = self.a[start : start + step], self.b[start : start + step]
            left, right = a @ a.mT, b @ b.mT
            # Underflow in one product may meet a large number in the other, at every pair of positions.
            room = lost(a.dtype, (1 << 20) * self.positions)
            lengths = left.diagonal(dim1=2, dim2=3) + self.width * room
            parts = (lengths * (right.diagonal(dim1=2, dim2=3) + self.height * room)).clamp_min(0).sqrt().sum(2)
            whole = (left.mul_(right)).sum((1, 2, 3))
            found.append(whole + allowance(a.dtype) * parts.square().sum(1))
        return torch.cat(found)

    def _written(self, piece: slice) -> Tensor:
        a = self.a[piece]
        return self.b[piece].mT @ a

    def parts(self) -> Tensor:
        a = torch.linalg.vecdot(self.a, self.a) + lost(self.a.dtype, self.width)
        b = torch.linalg.vecdot(self.b, self.b) + lost(self.b.dtype, self.height)
        return (a * b).sqrt().sum((1, 2))

    def full(self) -> Tensor:
        return self._written(slice(None)) if self.kept is None else self.kept

    def add(self, factors: Tensor, into: Tensor) -> None:
        if self.kept is not None:
            flat = self.kept.reshape(self.rows, -1)
            into.view(-1).addmv_(flat.t(), factors.to(flat.dtype))
            return
        a, b = self.a, self.b
        small, large = (b, a) if self.height <= self.width else (a, b)
        weighted = masked(small, factors)
        b, a = (weighted, large) if self.height <= self.width else (large, weighted)
        if self.groups == 1:
            into.view(self.height, self.width).addmm_(
                b.reshape(-1, self.height).t(), a.reshape(-1, self.width)
            )
        else:
            b = b.transpose(0, 1).reshape(self.groups, -1, self.height)
            a = a.transpose(0, 1).reshape(self.groups, -1, self.width)
            into.view(self.groups, self.height, self.width).baddbmm_(b.mT, a)

    def without(self, bad: Tensor) -> Outer:
        make = self._make
        made = self._a is not None or make is None
        a = cleared(self.a, bad) if made else lambda: cleared(make(), bad)  # type: ignore[misc]
        found = Outer(a, cleared(self.b, bad), self.width)
        if self.kept is not None:
            # What was measured is what is added.
            found.kept = cleared(self.kept, bad)
        return found


class Rows(Term):
    """Rows of a table: position by position a number of a row, and the gradient of that row."""

    #: With more positions the gradients of equal rows are added up first.
    LONG = 128

    def __init__(self, index: Tensor, b: Tensor, count: int) -> None:
        self.index, self.b, self.count = index, wide(b), count
        self.rows, self.positions = index.shape

    @property
    def device(self) -> torch.device:
        return self.b.device

    def squared(self) -> Tensor:
        if self.positions == 1:
            return sum_of_squares(self.b)
        if self.positions > self.LONG:
            return self._added_up()
        step = max(1, ROOM // (2 * self.positions**2))
        found = []
        for start in range(0, self.rows, step):
            index, b = self.index[start : start + step], self.b[start : start + step]
            product = b @ b.mT
            parts = product.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt().sum(1)
            whole = torch.where(index[:, :, None] == index[:, None, :], product, 0).sum((1, 2))
            found.append(whole + allowance(b.dtype) * parts.square())
        return torch.cat(found)

    def _added_up(self) -> Tensor:
        example = torch.arange(self.rows, device=self.index.device)
        key = (self.index + self.count * example[:, None]).reshape(-1)
        found, place = torch.unique(key, return_inverse=True)
        width = self.b.shape[2]
        table = self.b.new_zeros(found.shape[0], width).index_add_(0, place, self.b.reshape(-1, width))
        squares = torch.linalg.vecdot(table, table)
        whole = self.b.new_zeros(self.rows).index_add_(0, found // self.count, squares)
        return whole + allowance(whole.dtype) * self.parts().square()

    def parts(self) -> Tensor:
        return torch.linalg.vector_norm(self.b, dim=2).sum(1)

    def full(self) -> Tensor:
        width = self.b.shape[2]
        table = self.b.new_zeros(self.rows, self.count, width)
        return table.scatter_add_(1, self.index[:, :, None].expand(-1, -1, width), self.b)

    def add(self, factors: Tensor, into: Tensor) -> None:
        width = self.b.shape[2]
        weighted = masked(self.b, factors).reshape(-1, width)
        into.view(self.count, width).index_add_(0, self.index.reshape(-1), weighted)

    def without(self, bad: Tensor) -> Rows:
        return Rows(self.index, cleared(self.b, bad), self.count)


class Tied(Term):
    """A table that is read by row and used as a matrix: the gradient is the sum of both."""

    def __init__(self, outer: Outer, rows: Rows) -> None:
        self.outer, self.table, self.rows = outer, rows, outer.rows

    @property
    def device(self) -> torch.device:
        return self.outer.device

    def squared(self) -> Tensor:
        a, b = self.outer.a.flatten(1, 2), self.outer.b.flatten(1, 2)
        index = self.table.index[:, None, :].expand(-1, b.shape[1], -1)
        cross = (b.gather(2, index) * (a @ self.table.b.mT)).sum((1, 2))
        hidden = allowance(a.dtype) * self.parts().square()
        whole = self.outer.squared() + self.table.squared() + 2 * cross
        return whole.clamp_min(0) + hidden

    def parts(self) -> Tensor:
        return self.outer.parts() + self.table.parts()

    def full(self) -> Tensor:
        return self.outer.full().flatten(1, 2) + self.table.full()

    def add(self, factors: Tensor, into: Tensor) -> None:
        self.outer.add(factors, into)
        self.table.add(factors, into)

    def without(self, bad: Tensor) -> Tied:
        return Tied(self.outer.without(bad), self.table.without(bad))


def total_squared(terms: Sequence[Term]) -> Tensor:
    """The sum of the squared norms of several terms, example by example, in double precision."""
    joint, rest = joint_squared(terms) if len(terms) > 3 and terms[0].device.type == "cuda" else (None, terms)
    found = [term.squared() for term in rest]
    if joint is not None:
        found.append(joint)
    return torch.stack(found).sum(0, dtype=torch.float64)


#: Numbers of an example that are squared together.
MOST_TOGETHER = 1 << 14


def joint_squared(terms: Sequence[Term]) -> tuple[Tensor | None, Sequence[Term]]:
    """The squared norms of all gradients that are one product of two vectors in single precision, and of biases beside them, added up;
    and the other terms. All vectors of an example are squared and added up at once: on a GPU few large operations take less time than
    many small ones. A number that is not finite makes the sum of its example one that is not."""
    outers = [own for own in terms if isinstance(own, Outer) and own.is_single]
    if len(outers) < 2:
        return None, terms
    vectors = [own.a.reshape(own.rows, -1) for own in outers] + [own.b.reshape(own.rows, -1) for own in outers]
    widths = tuple(own.shape[1] for own in vectors)
    if sum(widths) > MOST_TOGETHER:
        return None, terms
    biases = {_memory(own): place for place, own in enumerate(vectors[len(outers) :])}
    extra = [0.0] * len(outers)
    rest: list[Term] = []
    for term in terms:
        if isinstance(term, Outer) and term.is_single:
            continue
        # The gradient of a bias is the vector itself.
        place = biases.get(_memory(term.gradients)) if isinstance(term, Full) else None
        if place is None:
            rest.append(term)
        else:
            extra[place] += 1.0
    device = vectors[0].device
    parts = torch.cat(vectors, 1).square_() @ selector(widths, device)
    parts += offsets(widths, tuple(extra), device)
    count = len(outers)
    return torch.linalg.vecdot(parts[:, :count], parts[:, count:]), rest


def _memory(values: Tensor) -> tuple[int, torch.dtype, torch.Size, tuple[int, ...]]:
    """What two tensors have in common that hold the same numbers in the same memory."""
    return values.data_ptr(), values.dtype, values.shape, values.stride()


@lru_cache(maxsize=64)
def selector(widths: tuple[int, ...], device: torch.device) -> Tensor:
    """The matrix that adds up vectors of these widths, one after the other."""
    return torch.block_diag(*(torch.ones(width, 1, dtype=torch.float32) for width in widths)).to(device)


@lru_cache(maxsize=64)
def offsets(widths: tuple[int, ...], extra: tuple[float, ...], device: torch.device) -> Tensor:
    """What is added to the squared lengths of vectors: what underflow may hide, and 1 for every gradient that the other vector is by
    itself."""
    more = [*extra, *([0.0] * len(extra))]
    numbers = [one + lost(torch.float32, width) for one, width in zip(more, widths, strict=True)]
    return torch.tensor(numbers, dtype=torch.float32, device=device)


def together(terms: Sequence[Term], shape: torch.Size) -> Term:
    """The sum of several terms of one parameter, as one term."""
    if len(terms) == 1:
        return terms[0]
    outers = [term for term in terms if isinstance(term, Outer)]
    tables = [term for term in terms if isinstance(term, Rows)]
    rest = [term for term in terms if not isinstance(term, (Outer, Rows))]
    joined: list[Term] = list(rest)
    if outers:
        a, b = torch.cat([own.a for own in outers], 2), torch.cat([own.b for own in outers], 2)
        joined.append(outers[0] if len(outers) == 1 else Outer(a, b))
    if tables:
        index, b = torch.cat([own.index for own in tables], 1), torch.cat([own.b for own in tables], 1)
        joined.append(tables[0] if len(tables) == 1 else Rows(index, b, tables[0].count))
    if len(joined) == 1:
        return joined[0]
    if len(joined) == 2 and outers and tables:
        outer, table = joined
        if isinstance(outer, Outer) and isinstance(table, Rows) and outer.groups == 1:
            return Tied(outer, table)
    whole = [term.full().reshape(term.rows, *shape) for term in joined]
    total = whole[0]
    for other in whole[1:]:
        total = total + other
    return Full(total)
