"""The layers of networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._arguments import items, refused
from .._core import brief


class Layer(dict[str, Any]):
    """One layer of a network: its kind and its fields, as in ``model.toml``.

    The functions of this module make layers. A plain dictionary with a ``"kind"`` does as well.

    >>> layer = Linear(out=16, name="head")
    >>> layer
    Linear(out=16, name='head')
    >>> dict(layer)
    {'kind': 'linear', 'out': 16, 'name': 'head'}
    """

    def __repr__(self) -> str:
        name = "".join(part.capitalize() for part in str(self.get("kind", "layer")).split("-"))
        fields = ", ".join(f"{key}={value!r}" for key, value in self.items() if key != "kind")
        return f"{name}({fields})"


def _layer(kind: str, fields: Mapping[str, Any]) -> Layer:
    return Layer({"kind": kind, **{key: value for key, value in fields.items() if value is not None}})


def _pair(value: int | Sequence[int] | None) -> int | Sequence[int] | None:
    """A size of a window in two dimensions: one number stands for both."""
    return [value, value] if isinstance(value, int) and not isinstance(value, bool) else value


class Features(dict[str, Any]):
    """Fixed features of images: their kind and its fields, as ``[features]`` in ``model.toml``.

    ``ScatterNet`` and ``RandomConvolutions`` make them. A plain dictionary with a ``"kind"`` does as well.
    """

    def __repr__(self) -> str:
        names = {"scatternet": "ScatterNet", "random-convolutions": "RandomConvolutions"}
        fields = ", ".join(f"{key}={value!r}" for key, value in self.items() if key != "kind")
        return f"{names.get(str(self.get('kind')), 'Features')}({fields})"


def _features(kind: str, fields: Mapping[str, Any]) -> Features:
    return Features({"kind": kind, **{key: value for key, value in fields.items() if value is not None}})


def ScatterNet(
    scales: int | None = None, orientations: int | None = None, *, groups: int | None = None, **fields: Any
) -> Features:
    """The scattering transform of an image (2 scales and 8 orientations by default), which no data decide.

    ``groups`` of channels are normalized in each image. They are the ``features`` of a :class:`Network`; they
    cost no privacy, because they are a fixed map of each image by itself.

    >>> ScatterNet(groups=27)
    ScatterNet(groups=27)
    """
    return _features("scatternet", {"scales": scales, "orientations": orientations, "groups": groups, **fields})


def RandomConvolutions(
    filters: int | None = None,
    pool: int | None = None,
    *,
    size: int | None = None,
    seed: int | None = None,
    groups: int | None = None,
    **fields: Any,
) -> Features:
    """Convolution with Gaussian filters of a public ``seed``, the positive part, and the mean of each square of ``pool`` pixels.

    >>> RandomConvolutions(filters=64, pool=6)
    RandomConvolutions(filters=64, pool=6)
    """
    own = {"filters": filters, "size": size, "pool": pool, "seed": seed, "groups": groups}
    return _features("random-convolutions", {**own, **fields})


def Linear(
    out: int | None = None, *, bias: bool | None = None, lora: Mapping[str, float] | None = None, **fields: Any
) -> Layer:
    """A linear layer on the last dimension, with ``out`` outputs.

    Every layer takes ``name=`` (the prefix of its weights) and ``frozen=True`` (its weights are not trained).
    Fields that a layer does not have are refused when the network is trained.

    ``lora`` freezes the weights and trains a low-rank update beside them (Hu et al. 2022), which starts at 0.

    >>> Linear(out=10, bias=False)
    Linear(out=10, bias=False)
    >>> Linear(out=10, lora={"rank": 4, "alpha": 8})
    Linear(out=10, lora={'rank': 4, 'alpha': 8})
    """
    return _layer("linear", {"out": out, "bias": bias, "lora": lora, **fields})


def Conv1d(
    out: int | None = None,
    kernel: int | None = None,
    *,
    stride: int | None = None,
    padding: int | None = None,
    dilation: int | None = None,
    groups: int | None = None,
    bias: bool | None = None,
    **fields: Any,
) -> Layer:
    """A convolution along ``[channels, length]``.

    >>> Conv1d(out=32, kernel=5, padding=2)
    Conv1d(out=32, kernel=5, padding=2)
    """
    window = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    return _layer("conv1d", {"out": out, **window, "groups": groups, "bias": bias, **fields})


def Conv2d(
    out: int | None = None,
    kernel: int | Sequence[int] | None = None,
    *,
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | None = None,
    dilation: int | Sequence[int] | None = None,
    groups: int | None = None,
    bias: bool | None = None,
    **fields: Any,
) -> Layer:
    """A convolution over ``[channels, height, width]``. One number as a size stands for both dimensions.

    >>> Conv2d(out=16, kernel=8, stride=2, padding=3)
    Conv2d(out=16, kernel=[8, 8], stride=[2, 2], padding=[3, 3])
    """
    sizes = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    window = {key: _pair(size) for key, size in sizes.items()}
    return _layer("conv2d", {"out": out, **window, "groups": groups, "bias": bias, **fields})


def Embedding(vocabulary: int | None = None, out: int | None = None, **fields: Any) -> Layer:
    """A vector of ``out`` numbers for each token; the first layer of a network that reads texts.

    ``vocabulary`` is the number of tokens with two more, for padding and for unknown tokens. ``fit`` fills it
    in from the public vocabulary if it is left out.

    >>> Embedding(out=64)
    Embedding(out=64)
    """
    return _layer("embedding", {"vocabulary": vocabulary, "out": out, **fields})


def EmbeddingBag(vocabulary: int | None = None, out: int | None = None, **fields: Any) -> Layer:
    """The mean of the embeddings of a text's tokens, padding left out; the first layer of a network.

    ``vocabulary`` is filled in as for ``Embedding``. The table starts at 0.

    >>> EmbeddingBag(out=16)
    EmbeddingBag(out=16)
    """
    return _layer("embedding-bag", {"vocabulary": vocabulary, "out": out, **fields})


def LayerNorm(**fields: Any) -> Layer:
    """Normalization over the last dimension.

    >>> LayerNorm()
    LayerNorm()
    """
    return _layer("layer-norm", fields)


def GroupNorm(groups: int | None = None, **fields: Any) -> Layer:
    """Normalization over groups of channels.

    >>> GroupNorm(4)
    GroupNorm(groups=4)
    """
    return _layer("group-norm", {"groups": groups, **fields})


def Attention(
    heads: int | None = None,
    *,
    causal: bool | None = None,
    lora: Mapping[str, float] | None = None,
    **fields: Any,
) -> Layer:
    """Multi-head self-attention over ``[time, features]``; a causal one sees no later position.

    ``lora`` freezes the weights and trains low-rank updates beside the joint projection to queries, keys and
    values and beside the projection of the output.

    >>> Attention(heads=4)
    Attention(heads=4)
    >>> Attention(heads=4, lora={"rank": 2})
    Attention(heads=4, lora={'rank': 2})
    """
    return _layer("attention", {"heads": heads, "causal": causal, "lora": lora, **fields})


def Transformer(
    heads: int | None = None,
    hidden: int | None = None,
    *,
    dropout: float | None = None,
    norm_first: bool | None = None,
    causal: bool | None = None,
    lora: Mapping[str, float] | None = None,
    **fields: Any,
) -> Layer:
    """A transformer block with ``hidden`` units between its two linear layers; in a causal one no position sees
    a later one.

    ``lora`` freezes all weights of the block and trains low-rank updates of its attention, as in ``Attention``.

    >>> Transformer(heads=4, hidden=128, norm_first=True)
    Transformer(heads=4, hidden=128, norm_first=True)
    >>> Transformer(heads=4, hidden=128, lora={"rank": 4, "alpha": 8})
    Transformer(heads=4, hidden=128, lora={'rank': 4, 'alpha': 8})
    """
    own = {"heads": heads, "hidden": hidden, "dropout": dropout, "norm_first": norm_first, "causal": causal}
    return _layer("transformer", {**own, "lora": lora, **fields})


def Lstm(hidden: int | None = None, **fields: Any) -> Layer:
    """A long short-term memory over ``[time, features]``; it yields all states.

    >>> Lstm(hidden=32)
    Lstm(hidden=32)
    """
    return _layer("lstm", {"hidden": hidden, **fields})


def Gru(hidden: int | None = None, **fields: Any) -> Layer:
    """A gated recurrent unit over ``[time, features]``; it yields all states.

    >>> Gru(hidden=32)
    Gru(hidden=32)
    """
    return _layer("gru", {"hidden": hidden, **fields})


def Residual(layers: Iterable[Mapping[str, Any]] = (), **fields: Any) -> Layer:
    """x + layers(x). The layers have to yield the shape that they read.

    >>> Residual([Linear(out=32), Silu()])
    Residual(layer=[Linear(out=32), Silu()])
    """
    inner = items(layers)
    if inner is None:
        raise refused(104, "layers", f"{brief(layers)} is not a list of layers", "give one", layers)
    return _layer("residual", {"layer": inner, **fields})


def Relu(**fields: Any) -> Layer:
    """max(x, 0).

    >>> Relu()
    Relu()
    """
    return _layer("relu", fields)


def Tanh(**fields: Any) -> Layer:
    """The hyperbolic tangent, which learns better under noise than ``Relu``.

    >>> Tanh()
    Tanh()
    """
    return _layer("tanh", fields)


def Sigmoid(**fields: Any) -> Layer:
    """1 / (1 + e^−x).

    >>> Sigmoid()
    Sigmoid()
    """
    return _layer("sigmoid", fields)


def Gelu(**fields: Any) -> Layer:
    """x·Φ(x), in its tanh form.

    >>> Gelu()
    Gelu()
    """
    return _layer("gelu", fields)


def Silu(**fields: Any) -> Layer:
    """x·sigmoid(x).

    >>> Silu()
    Silu()
    """
    return _layer("silu", fields)


def TemperedSigmoid(
    scale: float | None = None, temperature: float | None = None, offset: float | None = None, **fields: Any
) -> Layer:
    """scale / (1 + e^(−temperature·x)) − offset (Papernot et al. 2020).

    >>> TemperedSigmoid(scale=2.0, temperature=2.0, offset=1.0)
    TemperedSigmoid(scale=2.0, temperature=2.0, offset=1.0)
    """
    return _layer(
        "tempered-sigmoid", {"scale": scale, "temperature": temperature, "offset": offset, **fields}
    )


def MaxPool(
    kernel: int | Sequence[int] | None = None, stride: int | Sequence[int] | None = None, **fields: Any
) -> Layer:
    """The maximum of each window of ``[channels, height, width]``; ``stride`` is ``kernel`` by default.

    >>> MaxPool(2, stride=1)
    MaxPool(kernel=[2, 2], stride=[1, 1])
    """
    return _layer("max-pool", {"kernel": _pair(kernel), "stride": _pair(stride), **fields})


def AveragePool(
    kernel: int | Sequence[int] | None = None, stride: int | Sequence[int] | None = None, **fields: Any
) -> Layer:
    """The mean of each window of ``[channels, height, width]``; ``stride`` is ``kernel`` by default.

    >>> AveragePool(2)
    AveragePool(kernel=[2, 2])
    """
    return _layer("average-pool", {"kernel": _pair(kernel), "stride": _pair(stride), **fields})


def GlobalPool(**fields: Any) -> Layer:
    """The mean over all dimensions but the first.

    >>> GlobalPool()
    GlobalPool()
    """
    return _layer("global-pool", fields)


def Dropout(rate: float | None = None, **fields: Any) -> Layer:
    """Sets a random share to 0 in training.

    >>> Dropout(0.1)
    Dropout(rate=0.1)
    """
    return _layer("dropout", {"rate": rate, **fields})


def Position(**fields: Any) -> Layer:
    """Adds sines and cosines of the position to ``[time, features]``.

    >>> Position()
    Position()
    """
    return _layer("position", fields)


def Flatten(**fields: Any) -> Layer:
    """Any shape as one dimension.

    >>> Flatten()
    Flatten()
    """
    return _layer("flatten", fields)


def Transpose(**fields: Any) -> Layer:
    """``[a, b]`` as ``[b, a]``.

    >>> Transpose()
    Transpose()
    """
    return _layer("transpose", fields)


def MeanTime(**fields: Any) -> Layer:
    """The mean over time of ``[time, features]``.

    >>> MeanTime()
    MeanTime()
    """
    return _layer("mean-time", fields)


def LastTime(**fields: Any) -> Layer:
    """The last position of ``[time, features]``.

    >>> LastTime()
    LastTime()
    """
    return _layer("last-time", fields)
