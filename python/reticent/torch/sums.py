"""The sum of clipped gradients, and what is released of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn

from .. import _native
from ..errors import ReticentError
from . import refusals
from .gpu import GpuClipping
from .taps import Place, stream_of


class GradientSum:
    """A flat buffer that is summed into and never shown. With noise in it, it becomes the gradients of a step, and the next sum is made in
    other memory: whoever holds on to a gradient must not see sums without noise there."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters = list(parameters)
        self.device, self._first = self.parameters[0].device, self.parameters[0].dtype
        is_double = any(own.dtype == torch.float64 for own in self.parameters)
        self.kind = torch.float64 if is_double else torch.float32
        self.sizes = [own.numel() for own in self.parameters]
        self.length = sum(self.sizes)
        starts = accumulate(self.sizes, initial=0)
        #: Where the part of every parameter begins, and how many numbers each of its rows has.
        self._layout = {
            id(own): (start, own.numel() // own.shape[0] if own.dim() and own.shape[0] else 1)
            for own, start in zip(self.parameters, starts, strict=False)
        }
        #: The sum, and the part of every parameter; none where nothing was added.
        self._sum: Tensor | None = None
        self._parts: dict[nn.Parameter, Tensor] = {}
        #: Parameters whose part has no meaning yet, by their identity.
        self._blank: set[int] = set()
        self._host: Tensor | None = None
        #: What clips and adds noise on a GPU, and whether there is nothing that does.
        self._gpu: GpuClipping | None = None
        self._is_refused = self.device.type != "cuda" or self.kind != torch.float32 or torch.version.cuda is None
        #: The stream of a GPU that used the buffers last, and its handle.
        self._stream: Any = None
        self._key: tuple[int, int] | None = None
        #: Whether products are known to have all digits.
        self._is_exact = False

    def check_products(self) -> None:
        """Refuses a device whose products have fewer digits than single precision, as settings of the environment can ask for."""
        if self._is_exact:
            return
        digits = 1 + torch.arange(4096, device=self.device, dtype=torch.float32).view(64, 64) * torch.finfo(torch.float32).eps
        one = torch.eye(64, device=self.device, dtype=torch.float32)
        if not torch.equal(one @ digits, digits):
            raise refusals.misuse(
                "module",
                "the device multiplies with fewer digits than single precision has, and the guarantee rests on those: unset "
                "NVIDIA_TF32_OVERRIDE, CUBLAS_EMULATE_SINGLE_PRECISION and DNNL_DEFAULT_FPMATH_MODE",
            )
        self._is_exact = True

    def join(self) -> None:
        """Has the current stream of a GPU wait for the one that used the buffers before."""
        if self.device.type != "cuda":
            return
        key = stream_of(self.device.index)
        if key == self._key:
            return
        now = torch.cuda.current_stream(self.device)
        if self._stream is not None:
            now.wait_stream(self._stream)
            if self._sum is not None:
                self._sum.record_stream(now)
        self._key, self._stream = key, now

    @property
    def is_elsewhere(self) -> bool:
        """Whether the parameters are on another device by now, or of another precision."""
        own = self.parameters[0]
        return own.device != self.device or own.dtype != self._first

    def clear(self) -> None:
        """Begins a new sum."""
        self._sum = None
        self._parts = {}
        self._blank = set()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return self._sum is None

    def total(self) -> Tensor:
        """The sum so far."""
        found = self._begun()
        if len(self._blank) == len(self.parameters):
            found.zero_()
        else:
            for own in self.parameters:
                if id(own) in self._blank:
                    self._part(own).zero_()
        self._blank.clear()
        return found

    def _begun(self) -> Tensor:
        """The memory of the sum."""
        if self._sum is None:
            self._sum = torch.empty(self.length, dtype=self.kind, device=self.device)
            self._blank = set(self._layout)
        return self._sum

    def _part(self, parameter: nn.Parameter) -> Tensor:
        """What belongs to a parameter."""
        if not self._parts:
            self._parts = self.split(self._begun())
        return self._parts[parameter]

    def split(self, total: Tensor) -> dict[nn.Parameter, Tensor]:
        """The part of such a sum that belongs to every parameter."""
        return dict(zip(self.parameters, total.split(self.sizes), strict=True))

    def take(self, total: Tensor) -> None:
        """Replaces the sum."""
        self.total().copy_(total)

    def view(self, place: Place) -> tuple[Tensor, bool]:
        """The part of the sum that belongs to a place, and whether it is to be written, whatever it holds, and not added to."""
        self._part(place[0])
        return part(self._parts, place), self._fills(place)

    def address(self, place: Place) -> tuple[int, int]:
        """Where a place is, and whether it is to be added to."""
        parameter, first, _ = place
        start, width = self._layout[id(parameter)]
        address = self._begun().data_ptr() + (start + first * width) * self.kind.itemsize
        return address, int(not self._fills(place))

    def _fills(self, place: Place) -> bool:
        """Whether the place is a whole parameter whose part has no meaning yet. The rest of a part gets one here."""
        parameter, first, last = place
        key = id(parameter)
        if key not in self._blank:
            return False
        self._blank.discard(key)
        is_whole = parameter.dim() == 0 or (first, last) == (0, parameter.shape[0])
        if not is_whole:
            self._part(parameter).zero_()
        return is_whole

    @property
    def is_noised_elsewhere(self) -> bool:
        """Whether the CPU adds noise to a sum of another device."""
        return self.device.type != "cpu" and self._gpu is None

    def add_noise(self, steps: _native.PrivateSteps, threads: int) -> Tensor:
        """The sum with the noise of a step: what may be shown of it."""
        gpu = self.clipping()
        if gpu is not None:
            steps.add_noise_on(gpu.native, self.total().data_ptr(), gpu.stream())
            return self.shown()
        if self.device.type == "cpu" and self.kind == torch.float32:
            steps.add_noise(self.total().numpy(), threads)
            return self.shown()
        if self._host is None:
            pinned = self.device.type == "cuda"
            self._host = torch.empty(self.length, dtype=torch.float32, device="cpu", pin_memory=pinned)
        if self.device.type == "cuda":
            # The sum may have been computed on another stream than this one, and the last step's copy to the device may still read.
            torch.cuda.synchronize(self.device)
        self._host.copy_(self.total())
        steps.add_noise(self._host.numpy(), threads)
        self.total().copy_(self._host, non_blocking=True)
        return self.shown()

    def shown(self) -> Tensor:
        """Lets go of the sum, after noise has been added."""
        noisy = self.total()
        self.clear()
        return noisy

    def clipping(self) -> GpuClipping | None:
        """What clips and adds noise on the GPU that the sum is on; none where nothing does."""
        if self._gpu is None and not self._is_refused:
            # PyTorch may hold memory that it does not use.
            torch.cuda.empty_cache()
            try:
                self._gpu = GpuClipping(_native.GpuSums(self.device.index, self.length), self.device)
            except ReticentError as error:
                self._is_refused = True
                why = f"noise is drawn on the CPU and gradients are clipped one by one, which is slower: {error}"
                warnings.warn(why, RuntimeWarning, stacklevel=2)
        return self._gpu

    def parts(self, noisy: Tensor) -> list[Tensor]:
        """The gradient of every parameter."""
        shaped = torch._utils._unflatten_dense_tensors(noisy, self.parameters)
        pairs = zip(self.parameters, shaped, strict=True)
        return [found if own.dtype == self.kind else found.to(own.dtype) for own, found in pairs]


def part(parts: dict[nn.Parameter, Tensor], place: Place) -> Tensor:
    """What belongs to a place, from what belongs to every parameter."""
    parameter, start, end = place
    flat = parts[parameter]
    if parameter.dim() == 0 or (start, end) == (0, parameter.shape[0]):
        return flat
    width = flat.numel() // parameter.shape[0]
    return flat[start * width : end * width]
