"""How much of every example's gradient enters the sum: the rule of ``reticent_train::Clipping``, on the device of the gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .._core import brief, finite
from .._refusals import conflict, invalid, one_of

#: The share by which clipped gradients are kept shorter than the clipping norm, for the rounding of single precision.
MARGIN = 1.0 / 4096.0

#: Coarser arithmetic on the way to a gradient does not matter: what is measured is what is added.
KINDS = ("flat", "per_layer", "automatic")


@dataclass(frozen=True)
class Clipping:
    """A clipping rule."""

    kind: str
    #: What one unit adds to the whole sum at most.
    norm: float
    stability: float = 0.01
    #: What it adds at most to every parameter by itself; none where all layers have equal shares.
    shares: tuple[float, ...] = ()

    @staticmethod
    def of(kind: Any, norm: float | Sequence[float], stability: float = 0.01) -> Clipping:
        """A rule by its name. Several norms are those of the parameters, one by one."""
        one_of("clipping", kind, KINDS)
        if not isinstance(norm, (list, tuple)):
            finite(max_grad_norm=norm)  # type: ignore[arg-type]
            return Clipping(kind, float(norm), float(stability))  # type: ignore[arg-type]
        if kind != "per_layer":
            raise conflict("max_grad_norm", brief(norm), 'several norms go with clipping="per_layer": give one number')
        for own in norm:
            finite(max_grad_norm=own)
            if own <= 0:
                raise invalid("max_grad_norm", own, "give numbers above 0")
        # What the root is rounded by is far below the margin.
        return Clipping(kind, math.hypot(*norm), float(stability), tuple(float(own) for own in norm))

    def check_count(self, count: int) -> None:
        """Refuses norms of another number of parameters."""
        if self.shares and len(self.shares) != count:
            remedy = f"give one norm for each of the {count} trained parameters, or one for all together"
            raise invalid("max_grad_norm", f"{len(self.shares)} norms", remedy)

    def request(self) -> dict[str, Any]:
        """The rule as a request states it."""
        if self.kind == "flat":
            return {"flat": {"norm": self.norm}}
        if self.kind == "per_layer":
            return {"per-layer": {"norm": self.norm}}
        return {"automatic": {"norm": self.norm, "stability": self.stability}}

    @property
    def is_flat(self) -> bool:
        """Whether it is the flat rule for all parameters together."""
        return self.kind == "flat"

    @property
    def bound(self) -> float:
        """The length that gradients are shortened to."""
        return self.norm * (1.0 - MARGIN)

    def factors(self, squared: Tensor, scale: float = 1.0) -> Tensor:
        """The factor of every unit and group from squared norms, both (units, groups), where gradients are ``scale`` times what was
        measured. A unit with a norm that is not finite gets the factor 0 everywhere."""
        bound = self.bound
        groups = squared.shape[1]
        # Factors below 1e-30 would lose their digits in single precision. What is not a number is neither.
        if self.kind == "flat" and groups == 1:
            found = squared.rsqrt().mul_(bound).clamp_max_(scale)
            return F.threshold(found, 1e-30 * scale, 0.0).nan_to_num_(0.0)
        total = squared if groups == 1 else squared.sum(1, keepdim=True)
        good = (total if groups == 1 else squared.amin(1, keepdim=True)) >= 0
        good &= total <= (1e30 * bound / scale) ** 2
        if self.kind == "automatic":
            found = bound / (total.sqrt() + self.stability / scale)
        else:
            share: float | Tensor = bound if self.kind == "flat" else bound / math.sqrt(groups)
            if self.shares:
                share = _bounds(self.shares, squared.dtype, squared.device)
            found = (share / (total if self.kind == "flat" else squared).sqrt()).clamp_max(scale)
        return torch.where(good, found, 0.0).expand_as(squared)

    def row_factors(self, squared: Tensor, scale: float, unit: Tensor | None, units: int) -> Tensor:
        """The factor of every example, as :meth:`factors`. Examples of one unit share a factor: their lengths together bound the length of their sum."""
        if unit is None:
            return self.factors(squared, scale)
        lengths = squared.new_zeros(units, squared.shape[1]).index_add_(0, unit, squared.sqrt())
        return self.factors(lengths.square(), scale)[unit]


@lru_cache(maxsize=16)
def _bounds(shares: tuple[float, ...], kind: torch.dtype, device: torch.device) -> Tensor:
    """The length that the gradient of every parameter is shortened to."""
    return torch.tensor(shares, dtype=kind, device=device) * (1.0 - MARGIN)
