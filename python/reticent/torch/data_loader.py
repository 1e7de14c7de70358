"""The private loader under the name that Opacus has for it: see :class:`reticent.torch.PrivateLoader`."""

from .sampling import PrivateLoader as DPDataLoader

__all__ = ["DPDataLoader"]
