"""The sum of clipped gradients, and what is released of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .. import _native
from ..errors import ReticentError
from .taps import Place


class GradientSum:
    """Two flat buffers: one is summed into and never shown, the other holds the last noisy gradient. They never change places: whoever
    holds on to a gradient of an earlier step must not see sums without noise there."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters = list(parameters)
        self.device = self.parameters[0].device
        is_double = any(own.dtype == torch.float64 for own in self.parameters)
        self.kind = torch.float64 if is_double else torch.float32
        self.offsets: dict[nn.Parameter, int] = {}
        self.length = 0
        for own in self.parameters:
            self.offsets[own] = self.length
            self.length += own.numel()
        self._sum = torch.zeros(self.length, dtype=self.kind, device=self.device)
        self._shown = torch.zeros_like(self._sum)
        self._host: Tensor | None = None
        self._is_empty = True
        #: The sum as the native library knows it on a GPU, and whether it knows none there.
        self._guest: _native.GpuVector | None = None
        self._is_refused = self.device.type != "cuda" or self.kind != torch.float32 or torch.version.cuda is None
        #: The stream of a GPU that used the buffers last.
        self._stream: Any = None

    def join(self) -> None:
        """Has the current stream of a GPU wait for the one that used the buffers before."""
        if self.device.type != "cuda":
            return
        now = torch.cuda.current_stream(self.device)
        if self._stream is not None and self._stream != now:
            now.wait_stream(self._stream)
        self._stream = now

    def clear(self) -> None:
        """Begins a new sum."""
        if not self._is_empty:
            self._sum.zero_()
            self._is_empty = True

    def view(self, place: Place) -> Tensor:
        """The part of the sum that belongs to a place."""
        parameter, start, end = place
        self._is_empty = False
        offset, size = self.offsets[parameter], parameter.numel()
        flat = self._sum[offset : offset + size]
        if parameter.dim() == 0 or (start, end) == (0, parameter.shape[0]):
            return flat
        width = size // parameter.shape[0]
        return flat[start * width : end * width]

    @property
    def is_noised_elsewhere(self) -> bool:
        """Whether the CPU adds noise to a sum of another device."""
        return self.device.type != "cpu" and self._guest is None

    def on_gpu(self) -> _native.GpuVector | None:
        """The sum as a vector to which the GPU that it is on adds noise; none where it cannot."""
        if self._guest is None and not self._is_refused:
            try:
                self._guest = _native.GpuVector(self.device.index, self._sum.data_ptr(), self.length)
            except ReticentError as error:
                self._is_refused = True
                warnings.warn(f"noise is drawn on the CPU, which is slower: {error}", RuntimeWarning, stacklevel=2)
        return self._guest

    def host(self) -> NDArray[np.float32]:
        """The sum as an array of single precision that noise can be added to."""
        if self.device.type == "cpu" and self.kind == torch.float32:
            own: NDArray[np.float32] = self._sum.numpy()
            return own
        if self._host is None:
            pinned = self.device.type == "cuda"
            self._host = torch.empty(self.length, dtype=torch.float32, pin_memory=pinned)
        if self.device.type == "cuda":
            # The sum may have been computed on another stream than this one, and the last step's copy to the device may still read.
            torch.cuda.synchronize(self.device)
        self._host.copy_(self._sum)
        copied: NDArray[np.float32] = self._host.numpy()
        return copied

    def total(self) -> Tensor:
        """The sum so far, for the other processes of the training."""
        return self._sum

    def take(self, total: Tensor) -> None:
        """Replaces the sum."""
        self._sum.copy_(total)
        self._is_empty = False

    @property
    def released(self) -> Tensor:
        """The last noisy gradients, in one piece."""
        return self._shown

    def receive(self, noisy: Tensor) -> list[Tensor]:
        """Noisy gradients that another process released."""
        self._host = None
        self._sum.copy_(noisy)
        return self.release(1.0)

    def release(self, scale: float) -> list[Tensor]:
        """After noise has been added to :meth:`host`: the noisy gradients, times a public number."""
        noisy = self._shown
        if self._host is not None:
            noisy.copy_(self._host, non_blocking=True)
            noisy.mul_(scale)
        else:
            torch.mul(self._sum, scale, out=noisy)
        self._sum.zero_()
        self._is_empty = True
        found = []
        for own in self.parameters:
            offset = self.offsets[own]
            part = noisy[offset : offset + own.numel()].view(own.shape)
            found.append(part if part.dtype == own.dtype else part.to(own.dtype))
        return found
