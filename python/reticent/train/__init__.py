"""Networks by DP-SGD: describe one, train it with privacy, predict with it.

>>> import numpy as np
>>> from reticent.train import Linear, Network, Tanh
>>> rng = np.random.default_rng(1)
>>> X = rng.uniform(0, 1, (400, 2))
>>> y = (X[:, 0] > X[:, 1]).astype(int)
>>> network = Network([Linear(out=8), Tanh(), Linear(out=2)])
>>> model = network.fit(X, y, bounds=(0, 1), classes=[0, 1], epsilon=3, delta=1e-5,
...                     dataset_size=400, batch_size=200, epochs=2)
>>> model.epsilon <= 3
True
>>> model.predict(X[:3]).shape, model.predict_proba(X[:3]).shape
((3,), (3, 2))

A trained network is a folder: ``out=`` names it, otherwise it is a temporary one. The folder is that of the
command ``reticent train``, and holds the network, its weights, the certificate, and the schema or the
vocabulary, so the model reads raw rows and raw texts.
"""

from __future__ import annotations

from .federating import federated
from .fitting import fit, resume
from .layers import (
    Attention, AveragePool, Conv1d, Conv2d, Dropout, Embedding, EmbeddingBag, Features, Flatten, Gelu, GlobalPool,
    GroupNorm, Gru, LastTime, Layer, LayerNorm, Linear, Lstm, MaxPool, MeanTime, Position, RandomConvolutions, Relu,
    Residual, ScatterNet, Sigmoid, Silu, Tanh, TemperedSigmoid, Transformer, Transpose,
)
from .network import Network
from .trained import Evaluation, TrainedNetwork, load
from .tuning import Tuned, tune

__all__ = [
    "Attention",
    "AveragePool",
    "Conv1d",
    "Conv2d",
    "Dropout",
    "Embedding",
    "EmbeddingBag",
    "Evaluation",
    "Features",
    "Flatten",
    "Gelu",
    "GlobalPool",
    "GroupNorm",
    "Gru",
    "LastTime",
    "Layer",
    "LayerNorm",
    "Linear",
    "Lstm",
    "MaxPool",
    "MeanTime",
    "Network",
    "Position",
    "RandomConvolutions",
    "Relu",
    "Residual",
    "ScatterNet",
    "Sigmoid",
    "Silu",
    "Tanh",
    "TemperedSigmoid",
    "TrainedNetwork",
    "Transformer",
    "Transpose",
    "Tuned",
    "federated",
    "fit",
    "load",
    "resume",
    "tune",
]
