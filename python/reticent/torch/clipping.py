"""How much of every example's gradient enters the sum: the rule of ``reticent_train::Clipping``, on the device of the gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .._refusals import one_of

#: The share by which clipped gradients are kept shorter than the clipping norm, for the rounding of single precision.
MARGIN = 1.0 / 4096.0

#: Coarser arithmetic on the way to a gradient does not matter: what is measured is what is added.
KINDS = ("flat", "per_layer", "automatic")


@dataclass(frozen=True)
class Clipping:
    """A clipping rule."""

    kind: str
    norm: float
    stability: float = 0.01

    @staticmethod
    def of(kind: Any, norm: float, stability: float = 0.01) -> Clipping:
        """A rule by its name."""
        return Clipping(one_of("clipping", kind, KINDS), float(norm), float(stability))

    def request(self) -> dict[str, Any]:
        """The rule as a request states it."""
        if self.kind == "flat":
            return {"flat": {"norm": self.norm}}
        if self.kind == "per_layer":
            return {"per-layer": {"norm": self.norm}}
        return {"automatic": {"norm": self.norm, "stability": self.stability}}

    def factors(self, squared: Tensor, scale: float = 1.0) -> Tensor:
        """The factor of every unit and group from squared norms, both (units, groups), where gradients are ``scale`` times what was
        measured. A unit with a norm that is not finite gets the factor 0 everywhere."""
        bound = self.norm * (1.0 - MARGIN)
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
            share = bound if self.kind == "flat" else bound / math.sqrt(groups)
            found = (share / (total if self.kind == "flat" else squared).sqrt()).clamp_max(scale)
        return torch.where(good, found, 0.0).expand_as(squared)

    def row_factors(self, squared: Tensor, scale: float, unit: Tensor | None, units: int) -> Tensor:
        """The factor of every example, as :meth:`factors`. Examples of one unit share a factor: their lengths together bound the length of their sum."""
        if unit is None:
            return self.factors(squared, scale)
        lengths = squared.new_zeros(units, squared.shape[1]).index_add_(0, unit, squared.sqrt())
        return self.factors(lengths.square(), scale)[unit]
