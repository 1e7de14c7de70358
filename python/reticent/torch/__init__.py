"""Private training of the PyTorch module that you have: the module, the optimizer and the loop stay, what is underneath is private.

>>> from reticent.torch import PrivacyEngine
>>> engine = PrivacyEngine()

Names are those of Opacus where it has them, so a program changes by its import. Samples, noise, accounting and the count of steps are
those of the library; PyTorch computes gradients.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("reticent.torch needs PyTorch: pip install torch") from error

from .engine import PrivacyEngine
from .fitting import FittedModule, fit
from .losses import sequence_loss
from .memory import BatchMemoryManager
from .sampling import PrivateLoader
from .validate import fix, problems

__all__ = [
    "BatchMemoryManager",
    "FittedModule",
    "PrivacyEngine",
    "PrivateLoader",
    "fit",
    "fix",
    "problems",
    "sequence_loss",
]
