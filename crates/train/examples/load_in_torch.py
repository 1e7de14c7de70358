"""Loads a trained network in PyTorch and compares its outputs with ours.

    python load_in_torch.py FOLDER [PREDICTIONS]

FOLDER holds the description (`model.toml`, or the same as `model.json`) and the weights (one `.safetensors` file). The
weights have the names and layouts that PyTorch gives to the same layers in an `nn.Sequential`, so they load as they are.

PREDICTIONS is JSON, `{"inputs": [[...], ...], "outputs": [[...], ...]}` with a flat list for each example, or a CSV file
with the columns `input_0`, `input_1`, ..., `output_0`, `output_1`, .... Without it the network's parts are listed.

A network with fixed `[features]` is loaded without them: its inputs are then the features of the images, `[channels, height, width]`
each as `model.toml` says.

Needs torch and safetensors. The example `export_network` writes such a folder with predictions. To use the network elsewhere: `network, description = load(folder)`.
"""

import argparse
import csv
import json
import math
import sys
import tomllib
from collections import OrderedDict
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

TOLERANCE = 1e-4  # of the largest output


class Function(nn.Module):
    """A layer without weights."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def later(x):
    """Which places come later than the one of each row: what causal attention does not see."""
    time = x.shape[1]
    return torch.triu(torch.ones(time, time, dtype=torch.bool), diagonal=1)


class Attention(nn.MultiheadAttention):
    """Self-attention: queries, keys and values are all the same."""

    def __init__(self, width, heads, causal):
        super().__init__(width, heads, batch_first=True)
        self.causal = causal

    def forward(self, x):
        return super().forward(x, x, x, need_weights=False, attn_mask=later(x) if self.causal else None)[0]


class Block(nn.TransformerEncoderLayer):
    """A transformer block, causal or not."""

    def __init__(self, causal, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.causal = causal

    def forward(self, x):
        return super().forward(x, src_mask=later(x) if self.causal else None)


class Lstm(nn.LSTM):
    """All hidden states."""

    def forward(self, x):
        return super().forward(x)[0]


class Gru(nn.GRU):
    """All hidden states."""

    def forward(self, x):
        return super().forward(x)[0]


def add_update(module, inner, out, rank, alpha=None):
    """Gives a module the weights of a low-rank update."""
    module.lora_a = nn.Parameter(torch.zeros(rank, inner))
    module.lora_b = nn.Parameter(torch.zeros(out, rank))
    module.scale = 1.0 if alpha is None else alpha / rank


def update(module, x):
    return module.scale * (x @ module.lora_a.T @ module.lora_b.T)


class Adapted(nn.Linear):
    """A linear layer with a low-rank update."""

    def __init__(self, inner, out, bias, lora):
        super().__init__(inner, out, bias=bias)
        add_update(self, inner, out, **lora)

    def forward(self, x):
        return super().forward(x) + update(self, x)


class AdaptedAttention(Attention):
    """Self-attention with low-rank updates of the joint projection and of the one of its output."""

    def __init__(self, width, heads, causal, lora):
        super().__init__(width, heads, causal)
        self.in_proj = nn.Module()
        add_update(self.in_proj, width, 3 * width, **lora)
        self.out_proj = Adapted(width, width, True, lora)

    def forward(self, x):
        joint = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias) + update(self.in_proj, x)
        heads = [part.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for part in joint.chunk(3, 2)]
        mixed = nn.functional.scaled_dot_product_attention(*heads, is_causal=self.causal)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))


class AdaptedBlock(Block):
    """A transformer block with low-rank updates of its attention."""

    def __init__(self, causal, lora, width, heads, *sizes, **settings):
        super().__init__(causal, width, heads, *sizes, **settings)
        self.self_attn = AdaptedAttention(width, heads, causal, lora)

    def forward(self, x):
        if self.norm_first:
            x = x + self.dropout1(self.self_attn(self.norm1(x)))
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self.dropout1(self.self_attn(x)))
        return self.norm2(x + self._ff_block(x))


def linear(layer, inner):
    bias = layer.get("bias", True)
    if "lora" in layer:
        return Adapted(inner, layer["out"], bias, layer["lora"])
    return nn.Linear(inner, layer["out"], bias=bias)


class Residual(nn.Sequential):
    """x + layers(x)."""

    def forward(self, x):
        return x + super().forward(x)


def position(x):
    """Adds sines (even features) and cosines (odd features) of the place."""
    time, features = x.shape[1:]
    rates = torch.exp(torch.arange(0, features, 2, dtype=torch.float64) * (-math.log(10_000.0) / features))
    angles = torch.arange(time)[:, None] * rates
    added = torch.zeros(time, features)
    added[:, 0::2] = torch.sin(angles)
    added[:, 1::2] = torch.cos(angles[:, : features // 2])
    return x + added


def tempered(scale, temperature, offset):
    return lambda x: scale * torch.sigmoid(temperature * x) - offset


def convolution(maker, layer, channels):
    settings = {name: size(layer.get(name, default)) for name, default in SETTINGS.items()}
    bias, groups = layer.get("bias", True), layer.get("groups", 1)
    return maker(channels, layer["out"], size(layer["kernel"]), groups=groups, bias=bias, **settings)


SETTINGS = {"stride": 1, "padding": 0, "dilation": 1}


def size(value):
    return tuple(value) if isinstance(value, list) else value


def pool(maker, layer):
    return maker(size(layer["kernel"]), size(layer.get("stride")))


def attention(layer, width):
    heads, causal = layer["heads"], layer.get("causal", False)
    if "lora" in layer:
        return AdaptedAttention(width, heads, causal, layer["lora"])
    return Attention(width, heads, causal)


def block(layer, width):
    causal = layer.get("causal", False)
    maker = partial(AdaptedBlock, causal, layer["lora"]) if "lora" in layer else partial(Block, causal)
    return maker(
        width,
        layer["heads"],
        layer["hidden"],
        dropout=layer.get("dropout", 0.0),
        norm_first=layer.get("norm_first", False),
        batch_first=True,
    )


def stack(maker, layers, x):
    """The layers one after the other, and what they make of `x`, from which they learn the sizes of their inputs."""
    parts = OrderedDict()
    for place, layer in enumerate(layers):
        if layer["kind"] == "residual":
            part, x = stack(Residual, layer["layer"], x)
        else:
            if layer["kind"] not in KINDS:
                raise SystemExit(f"layer {place} ({layer['kind']}): this script does not know the kind")
            part = KINDS[layer["kind"]](layer, x.shape).eval()
            x = part(x)
        parts[layer.get("name", str(place))] = part
    return maker(parts).eval(), x


# Kind of layer: its module, from its fields and the shape of a batch of its inputs.
KINDS = {
    "linear": lambda layer, shape: linear(layer, shape[-1]),
    "conv1d": lambda layer, shape: convolution(nn.Conv1d, layer, shape[1]),
    "conv2d": lambda layer, shape: convolution(nn.Conv2d, layer, shape[1]),
    "embedding": lambda layer, shape: nn.Embedding(layer["vocabulary"], layer["out"]),
    "embedding-bag": lambda layer, shape: nn.EmbeddingBag(
        layer["vocabulary"], layer["out"], mode="mean", padding_idx=0
    ),
    "position": lambda layer, shape: Function(position),
    "layer-norm": lambda layer, shape: nn.LayerNorm(shape[-1]),
    "group-norm": lambda layer, shape: nn.GroupNorm(layer["groups"], shape[1]),
    "attention": lambda layer, shape: attention(layer, shape[-1]),
    "transformer": lambda layer, shape: block(layer, shape[-1]),
    "lstm": lambda layer, shape: Lstm(shape[-1], layer["hidden"], batch_first=True),
    "gru": lambda layer, shape: Gru(shape[-1], layer["hidden"], batch_first=True),
    "relu": lambda layer, shape: nn.ReLU(),
    "tanh": lambda layer, shape: nn.Tanh(),
    "sigmoid": lambda layer, shape: nn.Sigmoid(),
    "gelu": lambda layer, shape: nn.GELU(approximate="tanh"),
    "silu": lambda layer, shape: nn.SiLU(),
    "tempered-sigmoid": lambda layer, shape: Function(
        tempered(layer["scale"], layer["temperature"], layer["offset"])
    ),
    "max-pool": lambda layer, shape: pool(nn.MaxPool2d, layer),
    "average-pool": lambda layer, shape: pool(nn.AvgPool2d, layer),
    "global-pool": lambda layer, shape: Function(lambda x: x.flatten(2).mean(2) if x.dim() > 2 else x),
    "dropout": lambda layer, shape: nn.Dropout(layer["rate"]),
    "flatten": lambda layer, shape: nn.Flatten(),
    "transpose": lambda layer, shape: Function(lambda x: x.transpose(1, 2)),
    "mean-time": lambda layer, shape: Function(lambda x: x.mean(1)),
    "last-time": lambda layer, shape: Function(lambda x: x[:, -1]),
}


def reads_tokens(description):
    return description["layer"][0]["kind"] in ("embedding", "embedding-bag")


def first_shape(description):
    """The shape that the first layer reads: that of the features where there are any."""
    features = description.get("features")
    if features is None:
        return description["input"]
    channels, height, width = description["input"]
    if features["kind"] == "scatternet":
        scales, turns = features.get("scales", 2), features.get("orientations", 8)
        paths = 1 + scales * turns + turns**2 * scales * (scales - 1) // 2
        return [channels * paths, height >> scales, width >> scales]
    if features["kind"] == "random-convolutions":
        size, pool = features.get("size", 6), features["pool"]
        return [features["filters"], (height - size + 1) // pool, (width - size + 1) // pool]
    raise SystemExit(f"features ({features['kind']}): this script does not know the kind")


def batch(description, rows):
    """Flat lists as a batch of the network's inputs."""
    kind = torch.long if reads_tokens(description) else torch.float32
    return torch.tensor(rows).to(kind).reshape(len(rows), *first_shape(description))


def build(description):
    """The network with random weights, ready to evaluate."""
    with torch.no_grad():
        return stack(nn.Sequential, description["layer"], batch(description, [[0] * math.prod(first_shape(description))]))[0]


def load(folder):
    """The network of a folder with its weights, and its description."""
    folder = Path(folder)
    description = tomllib.loads((folder / "model.toml").read_text())
    network = build(description)
    network.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return network, description


def predictions(path):
    """Inputs and outputs, a flat list for each example."""
    if path.suffix == ".json":
        told = json.loads(path.read_text())
        return told["inputs"], told["outputs"]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))

    def columns(prefix):
        names = sorted((name for name in rows[0] if name.startswith(prefix)), key=lambda name: int(name[len(prefix) :]))
        return [[float(row[name]) for name in names] for row in rows]

    return columns("input_"), columns("output_")


def compare_gradients(network, inputs, description, ours):
    """The gradient of the summed loss when every class (or next token) is the first, or every target 0."""
    scores = network(inputs)
    if description.get("loss") == "squared":
        loss = 0.5 * scores.square().sum()
    elif description.get("loss") == "next-token":
        loss = -torch.log_softmax(scores, 2)[:, :, 0].mean(1).sum()
    else:
        loss = torch.nn.functional.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long), reduction="sum")
    loss.backward()
    theirs = {name: parameter.grad for name, parameter in network.named_parameters() if name in ours}
    length = sum(g.double().square().sum() for g in theirs.values()).sqrt().item()
    worst = max(((ours[name] - g).double().norm().item() / length, name) for name, g in theirs.items())
    print(f"{len(ours)} gradients: largest difference {worst[0]:.2g} of the whole gradient's length, in {worst[1]}")
    if not worst[0] <= 1e-5:
        sys.exit("the gradients differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("predictions", type=Path, nargs="?")
    asked = parser.parse_args()
    network, description = load(asked.folder)
    if asked.predictions is None:
        print(network)
        return
    inputs, ours = predictions(asked.predictions)
    with torch.no_grad():
        theirs = network(batch(description, inputs)).flatten(1)
    ours = torch.tensor(ours)
    if ours.shape != theirs.shape:
        sys.exit(f"outputs of shape {list(ours.shape)} from us, {list(theirs.shape)} from PyTorch")
    gap, largest = (ours - theirs).abs().max().item(), theirs.abs().max().item()
    print(f"{len(ours)} examples, {ours.shape[1]} outputs each: largest difference {gap:.2g}, largest output {largest:.2g}")
    if not gap <= TOLERANCE * max(1.0, largest):
        sys.exit("the outputs differ")
    gradients = asked.folder / "gradients.safetensors"
    if gradients.exists():
        compare_gradients(network, batch(description, inputs), description, load_file(gradients))


if __name__ == "__main__":
    main()
