"""Gradients of single examples in factors: their norms without writing them out, and their weighted sums as one product.

A term is the gradient of one parameter for every example of a batch. ``squared`` is at least the squared norm, so an example is never
counted shorter than it is: where it comes from factors, whose parts may cancel, what rounding and underflow could hide is added to it.
Rounding hides more the longer the sums are: each of n additions one after the other may lose the share ``eps``/2. So long sums are made
of pieces. What is added also bounds the parts: a gradient that is clipped to length C has parts of length C/√(32 eps) at most, so adding
them one by one to a sum that others share costs that sum a share of about √eps of C, well within the margin of the clipping rule.
Gradients that are written out are measured as they are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .measures import Measures

#: Numbers of single-example gradients that one parameter may keep in memory.
KEPT = 1 << 28

#: Numbers that are written out at a time.
ROOM = 1 << 25

#: With so few positions the weighted sum is cheaper as a product of the factors than from gradients that are kept.
FEW = 8


#: Products are added up one after the other in pieces of this length.
PIECE = 512

#: A number goes through at most so many additions in a sum of PyTorch, which makes it of parts of parts, up to 2¹⁶ numbers.
SUMS = 96


def allowance(kind: torch.dtype, *counts: int) -> float:
    """What rounding may hide of a squared norm, as a share of the square of the lengths of its parts. The norm comes from sums of so many
    products, added up in pieces."""
    additions = sum(min(own, PIECE) + -(-own // PIECE) for own in counts)
    return (32.0 + additions / 2.0) * torch.finfo(kind).eps


def product(left: Tensor, right: Tensor) -> Tensor:
    """A product of matrices, added up in pieces."""
    if left.shape[-1] <= PIECE:
        return torch.bmm(left, right) if left.dim() == 3 else left @ right
    found = left[..., :PIECE] @ right[..., :PIECE, :]
    for start in range(PIECE, left.shape[-1], PIECE):
        found += left[..., start : start + PIECE] @ right[..., start : start + PIECE, :]
    return found


def finest(device: torch.device) -> torch.dtype:
    """Double precision where a device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def is_launched(device: torch.device) -> bool:
    """Whether every operation is launched by itself, so that few large ones take less time than many small ones."""
    return device.type == "cuda"


def total(values: Tensor) -> Tensor:
    """The sum of the last two axes."""
    return values.sum(-1).sum(-1, dtype=finest(values.device))


def lost(kind: torch.dtype, count: int) -> float:
    """What a sum of so many squares may lose to underflow."""
    return count * torch.finfo(kind).tiny


def wide(tensor: Tensor) -> Tensor:
    """At least single precision."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


#: Sums of so many squares are short enough to be added up one after the other within the margin of the clipping rule.
SHORT = 1024


def squared_lengths(vectors: Tensor) -> Tensor:
    """The sum of squares along the last axis."""
    if vectors.shape[-1] <= SHORT:
        return torch.linalg.vector_norm(vectors, dim=-1).square()
    return torch.linalg.vecdot(vectors, vectors)


def sum_of_squares(tensor: Tensor) -> Tensor:
    """The sum of squares of every example."""
    return squared_lengths(tensor.reshape(tensor.shape[0], -1))


def add_product(left: Tensor, right: Tensor, into: Tensor, is_blank: bool = False) -> None:
    """Adds a product, of a matrix with a vector or another matrix, to numbers that may be of another precision, or writes it there."""
    if into.dtype != left.dtype:
        into.copy_(left @ right) if is_blank else into.add_(left @ right)
    elif is_blank:
        (torch.mm if left.dim() == right.dim() == 2 else torch.matmul)(left, right, out=into)
    elif right.dim() == 1:
        into.addmv_(left, right)
    elif right.dim() == 2:
        into.addmm_(left, right)
    else:
        into.baddbmm_(left, right)


def masked(values: Tensor, factors: Tensor) -> Tensor:
    """Every example times its factor."""
    own = factors if factors.dtype == values.dtype else factors.to(values.dtype)
    return values * own.view(-1, *([1] * (values.dim() - 1)))


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

    def describe(self, measures: Measures) -> None:
        """Has the squared norms be measured with those of others."""
        measures.squares(self.squared())

    def parts(self) -> Tensor:
        """The sum of the lengths of the parts of every example's gradient."""
        raise NotImplementedError

    def full(self) -> Tensor:
        """The gradients, written out."""
        raise NotImplementedError

    def add(self, factors: Tensor, into: Tensor) -> None:
        """Adds the weighted sum of the gradients."""
        raise NotImplementedError

    def write(self, factors: Tensor, into: Tensor) -> None:
        """Writes the weighted sum of the gradients, whatever was there."""
        self.add(factors, into.zero_())

    def without(self, bad: Tensor) -> Term:
        """The same with the gradients of some examples set to 0, whatever they hold."""
        raise NotImplementedError

    @property
    def written_out(self) -> Tensor | None:
        """The gradients in the order of the parameter, if they are in memory."""
        return None


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

    def describe(self, measures: Measures) -> None:
        measures.kept(self.gradients) if self.gradients.dtype == torch.float32 else super().describe(measures)

    def parts(self) -> Tensor:
        return self.squared().sqrt()

    def full(self) -> Tensor:
        return self.gradients

    @property
    def written_out(self) -> Tensor | None:
        return self.gradients

    def add(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, False)

    def write(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, True)

    def _summed(self, factors: Tensor, into: Tensor, is_blank: bool) -> None:
        flat = self.gradients.reshape(self.rows, -1)
        add_product(flat.t(), factors.to(flat.dtype), into.view(-1), is_blank)

    def without(self, bad: Tensor) -> Full:
        return Full(cleared(self.gradients, bad))


class Single(Term):
    """Products of two vectors: ``b``ᵀ ``a`` with ``a`` of shape (rows, in) and ``b`` of shape (rows, out)."""

    def __init__(self, a: Tensor, b: Tensor) -> None:
        self.a, self.b = a, wide(b)
        if a.dtype != self.b.dtype:
            kind = torch.promote_types(wide(a).dtype, self.b.dtype)
            self.a, self.b = a.to(kind), self.b.to(kind)
        self.rows = b.shape[0]

    @property
    def device(self) -> torch.device:
        return self.b.device

    def squared(self) -> Tensor:
        return self.squared_beside(0.0)

    def squared_beside(self, more: float) -> Tensor:
        """The squared norm with so many further inputs of 1."""
        a = squared_lengths(self.a) + (more + lost(self.a.dtype, self.a.shape[1]))
        return a * (squared_lengths(self.b) + lost(self.b.dtype, self.b.shape[1]))

    def describe(self, measures: Measures) -> None:
        measures.outer(self.a, self.b) if self.b.dtype == torch.float32 else super().describe(measures)

    def parts(self) -> Tensor:
        return self.squared().sqrt()

    def full(self) -> Tensor:
        return self.b[:, :, None] * self.a[:, None, :]

    def add(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, False)

    def write(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, True)

    def _summed(self, factors: Tensor, into: Tensor, is_blank: bool) -> None:
        a, b, into = self.a, self.b, into.view(self.b.shape[1], self.a.shape[1])
        if b.shape[1] <= a.shape[1]:
            b = masked(b, factors)
        else:
            a = masked(a, factors)
        add_product(b.t(), a, into, is_blank)

    def without(self, bad: Tensor) -> Single:
        return Single(cleared(self.a, bad), cleared(self.b, bad))

    def outer(self) -> Outer:
        """The same with its one position."""
        return Outer(self.a[:, None, None], self.b[:, None, None])


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
    def uses_gram(self) -> bool:
        """Whether norms come from products of positions."""
        return self.positions * (self.width + self.height) < self.width * self.height

    def squared(self) -> Tensor:
        if self.positions == 1:
            a = squared_lengths(self.a) + lost(self.a.dtype, self.width)
            return (a * (squared_lengths(self.b) + lost(self.b.dtype, self.height))).sum((1, 2))
        if self.uses_gram:
            return self._gram()
        if self.is_kept():
            return sum_of_squares(self.full())
        step = max(1, ROOM // (self.groups * self.height * self.width))
        pieces = [slice(start, start + step) for start in range(0, self.rows, step)]
        whole = torch.cat([sum_of_squares(product(self.b[piece].mT, self.a[piece])) for piece in pieces])
        # Numbers that are each off by a share of their parts are off by twice that share when squared.
        hidden = allowance(whole.dtype, self.positions, self.positions, SUMS)
        return whole + hidden * self.parts().square()

    def describe(self, measures: Measures) -> None:
        if self.a.dtype != torch.float32:
            super().describe(measures)
        elif self.positions > 1 and self.uses_gram and self._rows_at_once() >= self.rows:
            measures.places(*self._pairs(), self._hidden(), self._rooms())
        elif self.positions > FEW and not self.uses_gram and self.is_kept():
            measures.kept(self.full())
        else:
            super().describe(measures)

    def is_kept(self) -> bool:
        """Whether gradients are written out and kept, which has happened after this."""
        if self.kept is not None:
            return True
        if self.positions <= FEW or self.rows * self.groups * self.height * self.width > KEPT:
            return False
        self.kept = self._written(slice(None))
        if self._make is not None:
            self._a = None
        return True

    def _rows_at_once(self) -> int:
        """The examples whose products of positions are in memory at a time."""
        return max(1, ROOM // max(1, 2 * self.groups * self.positions**2))

    def _pairs(self, piece: slice | None = None) -> tuple[Tensor, Tensor]:
        """The products of the vectors at all pairs of positions, of some examples."""
        a, b = (self.a, self.b) if piece is None else (self.a[piece], self.b[piece])
        if self.groups == 1:
            a, b = a[:, 0], b[:, 0]
        return product(a, a.mT), product(b, b.mT)

    def _hidden(self) -> float:
        """What rounding may hide of a norm from products of positions. The square of the sum of the parts' lengths is at most the product
        of the sums of their squares."""
        return allowance(self.a.dtype, self.width, self.height, SUMS)

    def _rooms(self) -> tuple[float, float]:
        """What underflow may hide: in one product it may meet a large number in the other, at every pair of positions."""
        room = lost(self.a.dtype, (1 << 20) * self.positions**2)
        return self.width * room, self.height * room

    def _gram(self) -> Tensor:
        step, rooms = self._rows_at_once(), self._rooms()
        found = []
        for start in range(0, self.rows, step):
            left, right = self._pairs(slice(start, start + step))
            one, other = (own.diagonal(dim1=-2, dim2=-1).sum(-1).add_(room) for own, room in zip((left, right), rooms, strict=True))
            whole = total(left.mul_(right)).addcmul_(one, other, value=self._hidden()).to(left.dtype)
            found.append(whole if self.groups == 1 else whole.sum(1))
        return found[0] if len(found) == 1 else torch.cat(found)

    def _written(self, piece: slice) -> Tensor:
        a = self.a[piece]
        return self.b[piece].mT @ a

    def parts(self) -> Tensor:
        a = squared_lengths(self.a) + lost(self.a.dtype, self.width)
        b = squared_lengths(self.b) + lost(self.b.dtype, self.height)
        return (a * b).sqrt().sum((1, 2))

    def full(self) -> Tensor:
        return self._written(slice(None)) if self.kept is None else self.kept

    @property
    def written_out(self) -> Tensor | None:
        return self.kept

    def add(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, False)

    def write(self, factors: Tensor, into: Tensor) -> None:
        self._summed(factors, into, True)

    def _summed(self, factors: Tensor, into: Tensor, is_blank: bool) -> None:
        if self.kept is not None:
            flat = self.kept.reshape(self.rows, -1)
            add_product(flat.t(), factors.to(flat.dtype), into.view(-1), is_blank)
            return
        a, b = self.a, self.b
        if self.height <= self.width:
            b = masked(b, factors)
        else:
            a = masked(a, factors)
        if self.groups == 1:
            b, a = b.reshape(-1, self.height), a.reshape(-1, self.width)
            add_product(b.t(), a, into.view(self.height, self.width), is_blank)
        else:
            b = b.transpose(0, 1).reshape(self.groups, -1, self.height)
            a = a.transpose(0, 1).reshape(self.groups, -1, self.width)
            add_product(b.mT, a, into.view(self.groups, self.height, self.width), is_blank)

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
        step = self._rows_at_once()
        found = []
        for start in range(0, self.rows, step):
            index, b = self.index[start : start + step], self.b[start : start + step]
            pairs = product(b, b.mT)
            lengths = pairs.diagonal(dim1=1, dim2=2).sum(1)
            whole = total(pairs.mul_(index[:, :, None] == index[:, None, :]))
            found.append(whole.add_(lengths, alpha=self._hidden()).to(b.dtype))
        return found[0] if len(found) == 1 else torch.cat(found)

    def _rows_at_once(self) -> int:
        """The examples whose products of positions are in memory at a time."""
        return max(1, ROOM // max(1, 2 * self.positions**2))

    def _hidden(self) -> float:
        """What rounding may hide of a norm from products of positions. The square of the sum of the parts' lengths is at most the sum of
        their squares times their number."""
        return allowance(self.b.dtype, self.b.shape[2], SUMS) * self.positions

    def describe(self, measures: Measures) -> None:
        if self.b.dtype != torch.float32:
            super().describe(measures)
        elif self.positions == 1:
            measures.kept(self.b)
        elif self.positions <= self.LONG and self._rows_at_once() >= self.rows and self.index.dtype == torch.int64:
            measures.table(product(self.b, self.b.mT), self.index, self._hidden())
        else:
            super().describe(measures)

    def _added_up(self) -> Tensor:
        width, kind = self.b.shape[2], finest(self.b.device)
        step = max(1, ROOM // (2 * self.positions * width))
        whole = self.b.new_zeros(self.rows, dtype=kind)
        for start in range(0, self.rows, step):
            index, b = self.index[start : start + step], self.b[start : start + step]
            example = torch.arange(start, start + index.shape[0], device=index.device)
            key = (index + self.count * example[:, None]).reshape(-1)
            found, place = torch.unique(key, return_inverse=True)
            # Equal rows may be many, and are added up one after the other.
            table = b.new_zeros(found.shape[0], width, dtype=kind)
            table.index_add_(0, place, b.reshape(-1, width).to(kind))
            whole.index_add_(0, found // self.count, torch.linalg.vecdot(table, table))
        counts = () if kind == torch.float64 else (self.positions, self.positions, SUMS)
        return whole.to(self.b.dtype) + allowance(self.b.dtype, *counts) * self.parts().square()

    def parts(self) -> Tensor:
        return torch.linalg.vector_norm(self.b, dim=2).sum(1)

    def full(self) -> Tensor:
        width = self.b.shape[2]
        table = self.b.new_zeros(self.rows, self.count, width)
        return table.scatter_add_(1, self.index[:, :, None].expand(-1, -1, width), self.b)

    def add(self, factors: Tensor, into: Tensor) -> None:
        width = self.b.shape[2]
        weighted = masked(self.b, factors).reshape(-1, width)
        into.view(self.count, width).index_add_(0, self.index.reshape(-1), weighted.to(into.dtype))

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
        cross = total(b.gather(2, index) * product(a, self.table.b.mT)).to(a.dtype)
        width = a.shape[2]
        hidden = allowance(a.dtype, width, width, SUMS, SUMS) * self.parts().square()
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


def together(terms: Sequence[Term], shape: torch.Size) -> Term:
    """The sum of several terms of one parameter, as one term."""
    if len(terms) == 1:
        return terms[0]
    terms = [term.outer() if isinstance(term, Single) else term for term in terms]
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
