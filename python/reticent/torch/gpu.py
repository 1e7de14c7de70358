"""Clipping on a GPU by kernels of the native library, which measure and sum up all parameters in a few launches.

Jobs name tensors by their addresses, as ``kernels/guest.cu`` says. Tensors are kept until the kernels are launched: memory that PyTorch
gives to others after that is used in the order of the same stream.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .. import _native
from . import refusals
from .joint import Column
from .measures import Geometry, Kept, Measures
from .taps import Place, stream_of
from .terms import Single, Term, lost
from .written import Written

#: Kinds of jobs that measure.
_OUTER, _KEPT, _PLACES, _TABLE, _SQUARES = range(1, 6)

#: Kinds of jobs that sum up.
_ROWS, _PRODUCTS = range(2)

#: Numbers of an example that are summed up together with those of other parameters.
SMALL = 1 << 14

#: Products of numbers of a batch that are summed up together with those of other parameters: with more of them, a library is faster.
PRODUCTS = 1 << 29

#: Examples whose products are added up one after the other.
MOST_ROWS = 1 << 12

#: Numbers of an example that are measured one after the other.
LONG = 1 << 16

#: Numbers of products of positions that wait to be measured, at most.
WAITING = 3 << 22

_WORD, _NUMBER = struct.Struct("<Q"), struct.Struct("<d")

Job = tuple[int, int, int, int, int, int, int, int, int, int, int, int]

#: The address of a place in a sum, and whether gradients are added to what is there.
PlaceOf = Callable[[Place], tuple[int, int]]


def _word(number: float) -> int:
    """A number as the word that holds it."""
    found: int = _WORD.unpack(_NUMBER.pack(number))[0]
    return found


class Jobs(Measures):
    """What is to be measured of every example, group by group of parameters."""

    def __init__(self, clipping: GpuClipping, rows: int) -> None:
        self.clipping, self.rows = clipping, rows
        #: Of convolutions, of channels, and of places.
        self.written: tuple[list[Job], list[Job], list[Job]] = ([], [], [])
        self.measured: list[Job] = []
        #: What the jobs name.
        self.held: list[Tensor] = []
        #: The group of parameters that jobs belong to, its first job, and what that names.
        self.group, self._first = 0, (0, 0)
        self._waiting = 0

    def begin(self, group: int) -> None:
        """Jobs of another group follow."""
        self.group, self._first = group, (len(self.measured), len(self.held))

    def _wait(self, *products: Tensor) -> None:
        """Has products be let go once there are many."""
        self.held += products
        self._waiting += sum(own.numel() for own in products)
        if self._waiting > WAITING:
            squared = torch.empty(self.rows, dtype=torch.float64, device=self.clipping.device)
            jobs, names = self._first
            own = [(job[0], 0, *job[2:]) for job in self.measured[jobs:]]
            lists = (self.written, own, (), self.rows)
            self.clipping.native.totals(self.clipping.stream(), lists, 1, squared.data_ptr())
            self.written = ([], [], [])
            del self.measured[jobs:], self.held[names:]
            self._waiting = 0
            self.squares(squared)

    def _named(self, values: Tensor) -> tuple[int, int, int]:
        """The address of an example's numbers, how far it is to the next example's, and how many there are."""
        if not values.is_contiguous() and not values[0].is_contiguous():
            values = values.contiguous()
        self.held.append(values)
        return values.data_ptr(), values.stride(0), values.numel() // self.rows

    def outer(self, a: Tensor, b: Tensor) -> None:
        # A gradient whose other factor is nearly 0 must not get a factor that is too large for its numbers.
        floors = (_word(lost(a.dtype, a.shape[1])), _word(lost(b.dtype, b.shape[1])))
        self.measured.append((_OUTER, self.group, *self._named(a), *self._named(b), *floors, 0, 0))

    def kept(self, gradients: Tensor) -> None:
        address, step, count = self._named(gradients)
        # Long ones in pieces, which are measured side by side.
        for start in range(0, count, LONG):
            self.measured.append((_KEPT, self.group, address + 4 * start, step, min(LONG, count - start), 0, 0, 0, 0, 0, 0, 0))

    def written_out(self, kept: Kept) -> None:
        for start in range(0, kept.width, LONG):
            count = min(LONG, kept.width - start)
            self.measured.append((_KEPT, self.group, kept.address + 4 * start, kept.width, count, 0, 0, 0, 0, 0, 0, 0))

    def places(self, a: Tensor, b: Tensor, hidden: float, rooms: tuple[float, float]) -> None:
        sums, count = 1 if a.dim() == 3 else a.shape[1], a.shape[-1]
        numbers = (_word(hidden), _word(rooms[0]), _word(rooms[1]))
        self.measured.append((_PLACES, self.group, a.data_ptr(), count, sums, b.data_ptr(), 0, 0, *numbers, 0))
        self._wait(a, b)

    def table(self, pairs: Tensor, index: Tensor, hidden: float) -> None:
        address, step, _ = self._named(index)
        self.measured.append((_TABLE, self.group, pairs.data_ptr(), pairs.shape[1], 0, address, step, 0, _word(hidden), 0, 0, 0))
        self._wait(pairs)

    def _room(self, rows: int, width: int) -> tuple[Kept, Kept]:
        """Memory for one or two numbers of rows, as one piece."""
        piece = torch.empty(rows * width, dtype=torch.float32, device=self.clipping.device)
        self.held.append(piece)
        return Kept(piece, 0, self.rows, width), Kept(piece, (rows - self.rows) * width, self.rows, width)

    def _given(self, values: Tensor) -> int:
        """The address of values, one after the other."""
        own = values.contiguous()
        self.held.append(own)
        return own.data_ptr()

    def convolved(self, values: Tensor, gradient: Tensor, geometry: Geometry, size: int) -> Kept:
        found, _ = self._room(self.rows, size)
        sizes, *others = (high << 32 | wide for high, wide in geometry)
        tensors = (self._given(values), self._given(gradient), found.address)
        self.written[0].append((*tensors, values.shape[1], sizes, gradient.shape[1], *others, 0))  # type: ignore[arg-type]
        return found

    def channels(self, values: Tensor | None, gradient: Tensor, together: int, eps: float, has_bias: bool) -> tuple[Kept, Kept]:
        return self._normalized(1, values, gradient, gradient.shape[1], (together, eps, has_bias))

    def sites(self, values: Tensor | None, gradient: Tensor, has_mean: bool, eps: float, has_bias: bool) -> tuple[Kept, Kept]:
        return self._normalized(2, values, gradient, gradient.shape[-1], (int(has_mean), eps, has_bias))

    def _normalized(
        self, kind: int, values: Tensor | None, gradient: Tensor, width: int, options: tuple[int, float, bool]
    ) -> tuple[Kept, Kept]:
        option, eps, has_bias = options
        weight, bias = self._room(self.rows * (1 if values is None or not has_bias else 2), width)
        given = 0 if values is None else self._given(values)
        into = (0 if values is None else weight.address, bias.address if has_bias else 0)
        places = gradient.numel() // (self.rows * width)
        self.written[kind].append((given, self._given(gradient), *into, width, places, option, _word(eps), 0, 0, 0, 0))
        return weight, bias

    def squares(self, squared: Tensor) -> None:
        own = squared.to(torch.float64).contiguous()
        self.held.append(own)
        self.measured.append((_SQUARES, self.group, own.data_ptr(), 0, 0, 0, 0, 0, 0, 0, 0, 0))


class GpuClipping:
    """What measures gradients and sums them up on one GPU."""

    def __init__(self, native: _native.GpuSums, device: torch.device) -> None:
        self.native, self.device = native, device

    def stream(self) -> int:
        """The handle of the present stream."""
        return stream_of(self.device.index)[1]

    def _described(self, columns: Sequence[Column], rows: int) -> Jobs:
        jobs = Jobs(self, rows)
        for group, column in enumerate(columns):
            jobs.begin(group)
            for _, term in column:
                if term.rows != rows:
                    raise refusals.misuse("module", f"a layer has gradients of {term.rows} examples where the batch has {rows}")
                term.describe(jobs)
        return jobs

    def squared(self, columns: Sequence[Column], rows: int) -> Tensor:
        """The squared norms of every example in every group, in double precision."""
        jobs = self._described(columns, rows)
        found = torch.empty(rows, len(columns), dtype=torch.float64, device=self.device)
        self.native.totals(self.stream(), (jobs.written, jobs.measured, (), rows), len(columns), found.data_ptr())
        return found

    def clip(
        self, column: Column, rows: int, bound: float, scale: float, place_of: PlaceOf
    ) -> tuple[Tensor, list[tuple[Place, Term, Tensor]]]:
        """Adds gradients to a sum, ``scale`` times what is measured of each example and at most as long as a bound. Those that are left are
        given back with their factors, which count for all of them; how many of these are 0 is told by ``zeros``."""
        jobs = self._described([column], rows)
        found = torch.empty(rows + 1, dtype=torch.float32, device=self.device)
        factors, sums = found[:rows], Sums(rows, place_of)
        sums.take(column, factors)
        self.native.clip(self.stream(), (jobs.written, jobs.measured, sums.jobs, rows), bound, scale, found.data_ptr())
        return factors, sums.left

    def zeros(self) -> float:
        """How many factors of the last gradients are 0."""
        return self.native.zeros()

    def add(self, columns: Sequence[Column], factors: Tensor, place_of: PlaceOf) -> list[tuple[Place, Term, Tensor]]:
        """Adds gradients times factors to a sum. Those that are left are given back with their factors."""
        sums = Sums(factors.shape[0], place_of)
        for column, weights in zip(columns, factors.unbind(1), strict=True):
            sums.take(column, weights)
        self.native.add(self.stream(), (((), (), ()), (), sums.jobs, sums.rows))
        return sums.left


class Sums:
    """What is to be summed up."""

    def __init__(self, rows: int, place_of: PlaceOf) -> None:
        self.rows, self.place_of = rows, place_of
        self.jobs: list[Job] = []
        self.left: list[tuple[Place, Term, Tensor]] = []

    def take(self, column: Column, factors: Tensor) -> None:
        """Adds gradients, with the factor of every example."""
        address, step = factors.data_ptr(), factors.stride(0)
        for place, term in column:
            if isinstance(term, Single):
                a, b = term.a, term.b
                width, height = a.shape[1], b.shape[1]
                is_small = self.rows <= MOST_ROWS and self.rows * width * height <= PRODUCTS
                if is_small and self._is_named(a) and self._is_named(b):
                    into, is_added = self.place_of(place)
                    numbers = (b.data_ptr(), b.stride(0), address, step, 0, height)
                    self.jobs.append((_PRODUCTS, is_added, a.data_ptr(), a.stride(0), width, into, *numbers))
                    continue
            elif isinstance(term, Written) and term.kept is not None and term.kept.width <= SMALL:
                self._sum(place, term.kept.address, term.kept.width, factors)
                continue
            own = term.written_out
            if own is not None and own.is_contiguous() and own.dtype == torch.float32 and own.numel() <= SMALL * self.rows:
                self._sum(place, own.data_ptr(), own.numel() // self.rows, factors)
            else:
                self.left.append((place, term, factors))

    def _sum(self, place: Place, address: int, width: int, factors: Tensor) -> None:
        """Sums up rows of numbers."""
        into, is_added = self.place_of(place)
        self.jobs.append((_ROWS, is_added, address, width, width, into, 0, 0, factors.data_ptr(), factors.stride(0), 0, 0))

    @staticmethod
    def _is_named(values: Tensor) -> bool:
        return values.dtype == torch.float32 and values.stride(1) == 1
