"""Steps in parts: see :class:`reticent.torch.BatchMemoryManager`."""

from ..memory import BatchMemoryManager

__all__ = ["BatchMemoryManager"]
