"""What measures many gradients at once, and writes some of them out: what terms ask of it."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

#: Sizes of the input, of the kernel, strides, padding, dilation, and sizes of the output: of heights and widths.
Geometry = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]


class Kept:
    """Numbers of every example in a piece of memory that others share."""

    __slots__ = ("_piece", "_start", "address", "rows", "width")

    def __init__(self, piece: Tensor, start: int, rows: int, width: int) -> None:
        self._piece, self._start, self.rows, self.width = piece, start, rows, width
        self.address = piece.data_ptr() + start * piece.element_size()

    def tensor(self) -> Tensor:
        """The numbers, (rows, width)."""
        return self._piece[self._start : self._start + self.rows * self.width].view(self.rows, self.width)


class Measures(Protocol):
    """What measures many gradients at once."""

    def outer(self, a: Tensor, b: Tensor) -> None:
        """Products of two vectors, (rows, numbers), in single precision."""

    def kept(self, gradients: Tensor) -> None:
        """Gradients that are written out, in single precision."""

    def places(self, a: Tensor, b: Tensor, hidden: float, rooms: tuple[float, float]) -> None:
        """Sums of outer products: the products of their vectors at all pairs of places, (rows, places, places), or for several sums (rows,
        sums, places, places); the share of the product of both traces that rounding may hide, and what underflow may hide of each of
        these."""

    def table(self, pairs: Tensor, index: Tensor, hidden: float) -> None:
        """Rows of a table: the products of their gradients at all pairs of places, the rows' numbers, and the share of the trace that
        rounding may hide."""

    def squares(self, squared: Tensor) -> None:
        """Gradients whose squared norms are known."""

    def written_out(self, kept: Kept) -> None:
        """Gradients that the following write out."""

    def convolved(self, values: Tensor, gradient: Tensor, geometry: Geometry, size: int) -> Kept:
        """The gradients of a convolution's weights, written out."""

    def channels(self, values: Tensor | None, gradient: Tensor, together: int, eps: float, has_bias: bool) -> tuple[Kept, Kept]:
        """The gradients of a normalization's weights and biases, written out. Of (rows, channels, ...) so many channels are normalized
        together. Without values, or without a bias, there is one of both."""

    def sites(self, values: Tensor | None, gradient: Tensor, has_mean: bool, eps: float, has_bias: bool) -> tuple[Kept, Kept]:
        """The same where (..., numbers) are normalized place by place, around their mean or as they are."""
