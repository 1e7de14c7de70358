"""Losses of texts that do not mix examples."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def sequence_loss(logits: Tensor, labels: Tensor, *, shift: bool = False, ignore_index: int = -100) -> Tensor:
    """The mean over examples of each example's mean loss over its own tokens.

    A mean over all tokens of a batch weighs an example by how long the others are; this one does not. ``logits`` are (examples, tokens,
    classes), ``labels`` (examples, tokens); those equal to ``ignore_index`` are left out. With ``shift`` a token is predicted from those
    before it, as in causal language models.

    >>> import torch
    >>> from reticent.torch import sequence_loss
    >>> logits = torch.zeros(2, 3, 4)
    >>> round(float(sequence_loss(logits, torch.tensor([[0, 1, 2], [3, -100, -100]]))), 4)
    1.3863
    """
    if shift:
        logits, labels = logits[:, :-1], labels[:, 1:]
    losses = F.cross_entropy(logits.transpose(1, 2).float(), labels, ignore_index=ignore_index, reduction="none")
    counts = (labels != ignore_index).sum(1).clamp_min(1)
    return (losses.sum(1) / counts).mean()
