"""The models that are timed, each with a batch of made-up data."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        rows, time, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(rows, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(rows, time, width)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """An encoder with a classifier."""

    def __init__(self, vocabulary: int, width: int, layers: int, heads: int, length: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.head = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        place = torch.arange(x.shape[1], device=x.device).repeat(x.shape[0], 1)
        return self.head(self.blocks(self.words(x) + self.places(place)).mean(1))


class LoraLinear(nn.Module):
    """A frozen layer with a trained correction of low rank."""

    def __init__(self, base: nn.Linear, rank: int = 8) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.b(self.a(x))


class Residual(nn.Module):
    """A block of a ResNet with group norms."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.GroupNorm(32, after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.GroupNorm(32, after),
        )  # fmt: skip
        same = before == after and stride == 1
        self.skip = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(before, after, 1, stride, bias=False), nn.GroupNorm(32, after)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.body(x) + self.skip(x))


class CharLstm(nn.Module):
    """A classifier of texts by their characters."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 64)
        self.memory = nn.LSTM(64, 128, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        output, _ = self.memory(self.table(x))
        return self.head(output[:, -1])


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)
    )


def mnist_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, 3), nn.ReLU(), nn.MaxPool2d(2, 1), nn.Conv2d(16, 32, 4, 2), nn.ReLU(),
        nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip


def cifar_cnn() -> nn.Module:
    layers: list[nn.Module] = []
    before = 3
    for width in (32, 64, 128):
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.Tanh(), nn.Conv2d(width, width, 3, padding=1), nn.Tanh()]
        layers.append(nn.MaxPool2d(2))
        before = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 128), nn.Tanh(), nn.Linear(128, 10))


def resnet18() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.GroupNorm(32, 64), nn.ReLU()]
    before = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(before, width, stride), Residual(width, width, 1)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def transformer() -> nn.Module:
    return Transformer(4000, 128, 2, 4, 64)


def lora() -> nn.Module:
    model = Transformer(30522, 768, 6, 12, 128).requires_grad_(False)
    for block in model.blocks:
        assert isinstance(block, Block)
        block.qkv, block.out = LoraLinear(block.qkv), LoraLinear(block.out)  # type: ignore[assignment]
    model.head.requires_grad_(True)
    return model


def images(*shape: int) -> Any:
    return lambda rows: (torch.randn(rows, *shape), torch.randint(0, 10, (rows,)))


def tokens(count: int, length: int, classes: int) -> Any:
    return lambda rows: (torch.randint(0, count, (rows, length)), torch.randint(0, classes, (rows,)))


#: Name: how it is made, its data, the batch on a CPU and on a GPU.
MODELS: dict[str, tuple[Any, Any, int, int]] = {
    "mlp": (mlp, images(784), 512, 512),
    "mnist_cnn": (mnist_cnn, images(1, 28, 28), 256, 1024),
    "cifar_cnn": (cifar_cnn, images(3, 32, 32), 128, 1024),
    "resnet18_groupnorm": (resnet18, images(3, 32, 32), 16, 256),
    "transformer": (transformer, tokens(4000, 64, 2), 64, 512),
    "encoder_lora": (lora, tokens(30522, 128, 2), 4, 64),
    "lstm": (CharLstm, tokens(100, 64, 10), 64, 512),
}
