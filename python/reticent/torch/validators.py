"""The validator under the name that Opacus has for it: see :func:`reticent.torch.problems` and :func:`reticent.torch.fix`."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from . import refusals
from .validate import check_layers, fix, problems


class ModuleValidator:
    """Finds and repairs layers that cannot be trained with a guarantee.

    >>> from torch import nn
    >>> from reticent.torch.validators import ModuleValidator
    >>> ModuleValidator.is_valid(ModuleValidator.fix(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))))
    True
    """

    @classmethod
    def validate(cls, module: nn.Module, *, strict: bool = False) -> list[Exception]:
        """The errors of a module; with ``strict`` the first one is raised."""
        if strict:
            check_layers(module)
        return [refusals.layer(name or type(module).__name__, remedy) for name, remedy in problems(module)]

    @classmethod
    def is_valid(cls, module: nn.Module) -> bool:
        """Whether a module can be trained with a guarantee."""
        return not problems(module)

    @classmethod
    def fix(cls, module: nn.Module, **_: Any) -> nn.Module:
        """A copy of a module with batch norms replaced by group norms."""
        return fix(copy.deepcopy(module))

    @classmethod
    def fix_and_validate(cls, module: nn.Module, **options: Any) -> nn.Module:
        """A repaired copy of a module, checked."""
        fixed = cls.fix(module, **options)
        check_layers(fixed)
        return fixed
