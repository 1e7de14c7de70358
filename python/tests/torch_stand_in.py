"""What the kernels of a GPU do with the jobs of ``reticent.torch.gpu``, on a CPU: the table of ``kernels/guest.cu`` read once more."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import torch
from reticent.torch.gpu import GpuClipping


def number(word: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", word))[0]


def numbers(address: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: Any = ctypes.c_float) -> np.ndarray:
    """Numbers at an address, in rows that are so many numbers apart."""
    length = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    flat = np.ctypeslib.as_array((kind * length).from_address(address))
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * flat.itemsize for stride in strides])


class StandIn:
    """A GPU's sums without a GPU. Remembers which kinds of jobs it had."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.count = 0

    def _measured(self, job: Any, rows: int) -> np.ndarray:
        kind, _, first, step, width, second, second_step, second_width, *words = job
        if kind == 5:
            self.seen.add("squares")
            return numbers(first, (rows,), (1,), ctypes.c_double)
        if kind in (1, 2):
            self.seen.add("outer" if kind == 1 else "kept")
            found = np.square(numbers(first, (rows, width), (step, 1)).astype(float)).sum(1)
            if kind == 1:
                found = found + number(words[0])
                found = found * (np.square(numbers(second, (rows, second_width), (second_step, 1)).astype(float)).sum(1) + number(words[1]))
            return found
        size = step * step
        hidden = number(words[0])
        if kind == 3:
            self.seen.add("places")
            shape, strides = (rows, width, step, step), (width * size, size, step, 1)
            a, b = (numbers(own, shape, strides).astype(float) for own in (first, second))
            traces = [np.trace(own, axis1=2, axis2=3) + number(word) for own, word in zip((a, b), words[1:3], strict=True)]
            return ((a * b).sum((2, 3)) + hidden * traces[0] * traces[1]).sum(1)
        self.seen.add("table")
        pairs = numbers(first, (rows, step, step), (size, step, 1)).astype(float)
        index = numbers(second, (rows, step), (second_step, 1), ctypes.c_int64)
        equal = index[:, :, None] == index[:, None, :]
        return (pairs * equal).sum((1, 2)) + hidden * np.trace(pairs, axis1=1, axis2=2)

    def _write(self, written: Any, rows: int) -> None:
        for job in written[0]:
            self._convolve(job, rows)
        for jobs, by_channel in ((written[1], True), (written[2], False)):
            for job in jobs:
                self._normalize(job, rows, by_channel)

    def _convolve(self, job: Any, rows: int) -> None:
        x, gradient, into, channels, *sizes = job
        self.seen.add("convolved")
        (high, wide), outs, *pairs = (divmod(sizes[0], 1 << 32), sizes[1], *(divmod(own, 1 << 32) for own in sizes[2:7]))
        kernel, stride, padding, dilation, out = pairs
        given = torch.from_numpy(numbers(x, (rows, channels, high, wide), (channels * high * wide, high * wide, wide, 1)))
        columns = torch.nn.functional.unfold(given, kernel, dilation, padding, stride)
        count = out[0] * out[1]
        slopes = torch.from_numpy(numbers(gradient, (rows, outs, count), (outs * count, count, 1)))
        found = (slopes @ columns.mT).flatten(1).numpy()
        numbers(into, found.shape, (found.shape[1], 1))[:] = found

    def _normalize(self, job: Any, rows: int, by_channel: bool) -> None:
        x, gradient, weight, bias, width, places, option, eps, *_ = job
        self.seen.add("channels" if by_channel else "sites")
        shape = (rows, width, places) if by_channel else (rows, places, width)
        strides = (width * places, shape[2], 1)
        slopes = numbers(gradient, shape, strides)
        axis = 2 if by_channel else 1
        if bias:
            numbers(bias, (rows, width), (width, 1))[:] = slopes.sum(axis)
        if not x:
            return
        values = numbers(x, shape, strides).astype(float)
        groups = values.reshape(rows, width // option, -1) if by_channel else values
        mean = groups.mean(2, keepdims=True) * (by_channel or option)
        scale = np.sqrt(np.square(groups - mean).mean(2, keepdims=True) + number(eps))
        found = ((groups - mean) / scale).reshape(shape)
        numbers(weight, (rows, width), (width, 1))[:] = (found * slopes).sum(axis)

    def totals(self, stream: int, jobs: Any, groups: int, into: int) -> None:
        written, measured, sums, rows = jobs
        assert not len(sums)
        self.seen.add("totals")
        self._write(written, rows)
        found = numbers(into, (rows, groups), (groups, 1), ctypes.c_double)
        found[:] = 0
        for job in measured:
            found[:, job[1]] += self._measured(job, rows)

    def clip(self, stream: int, jobs: Any, bound: float, scale: float, into: int) -> None:
        written, measured, _, rows = jobs
        assert all(job[1] == 0 for job in measured)
        self.seen.add("clip")
        self._write(written, rows)
        total = sum((self._measured(job, rows) for job in measured), np.zeros(rows))
        with np.errstate(all="ignore"):
            own = np.minimum(bound / np.sqrt(total), scale)
        found = numbers(into, (rows + 1,), (1,))
        found[:rows] = np.where(own > 1e-30 * scale, own, 0)
        found[rows] = self.count = (found[:rows] == 0).sum()
        self.add(stream, jobs)

    def zeros(self) -> float:
        return float(self.count)

    def add(self, stream: int, jobs: Any) -> None:
        _, _, sums, rows = jobs
        for job in (own for own in sums if own[0] == 0):
            self.seen.add("sums")
            into = numbers(job[5], (job[4],), (1,))
            weights = numbers(job[8], (rows,), (job[9],))
            with np.errstate(all="ignore"):
                weighted = np.where(weights[:, None] == 0, 0, weights[:, None] * numbers(job[2], (rows, job[4]), (job[3], 1)))
            into[:] = weighted.sum(0) + (into if job[1] else 0)
        for job in (own for own in sums if own[0] == 1):
            self.seen.add("products")
            into = numbers(job[5], (job[11], job[4]), (job[4], 1))
            weights = numbers(job[8], (rows,), (job[9],))
            good = weights != 0
            a, b = numbers(job[2], (rows, job[4]), (job[3], 1)), numbers(job[6], (rows, job[11]), (job[7], 1))
            found = (weights[good, None] * b[good]).T @ a[good]
            into[:] = found + (into if job[1] else 0)


def stand_in(monkeypatch: Any) -> StandIn:
    """Has runs clip as on a GPU."""
    from reticent.torch.layers import shifted, sliding, small
    from reticent.torch.sums import GradientSum

    native = StandIn()
    gpu = GpuClipping(native, torch.device("cpu"))  # type: ignore[arg-type]
    monkeypatch.setattr(GpuClipping, "stream", lambda self: 0)
    monkeypatch.setattr(GradientSum, "clipping", lambda self: gpu if self.kind == torch.float32 else None)
    for module in (shifted, small):
        monkeypatch.setattr(module, "is_launched", lambda device: True)
    monkeypatch.setattr(sliding.Slides, "fits", lambda *_: False)
    return native
