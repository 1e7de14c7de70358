"""Fine-tuning of a frozen transformer by low-rank corrections (LoRA), with a guarantee.

    python examples/torch/transformer_lora.py [--weights encoder.pt]

The encoder starts from random weights, or from a ``state_dict`` in a file. With ``peft`` the corrections are made by
``peft.get_peft_model``; the engine needs nothing else for it.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from reticent.torch import PrivacyEngine

WORDS, LENGTH, WIDTH = 20, 16, 32


class Low(nn.Module):
    """A frozen layer and a correction of low rank, which starts as 0."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.base(x) + self.up(self.down(x))
        return output


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x: Tensor) -> Tensor:
        # One row of positions serves all examples.
        values = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
        output: Tensor = self.head(self.blocks(values).mean(1))
        return output


def texts(count: int, seed: int) -> TensorDataset:
    """Made-up texts; those of the second kind have more words from the second half of the vocabulary."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 2, (count,), generator=generator)
    x = torch.randint(0, WORDS // 2, (count, LENGTH), generator=generator)
    shifted = torch.rand(count, LENGTH, generator=generator) < 0.2 + 0.5 * y[:, None]
    return TensorDataset(x + shifted * (WORDS // 2), y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", help="a file with a state_dict of the encoder")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rank", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(0)
    model = Encoder()
    if given.weights:
        model.load_state_dict(torch.load(given.weights, weights_only=True))
    model.requires_grad_(False)
    for layer in model.blocks.layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        layer.linear1, layer.linear2 = Low(layer.linear1, given.rank), Low(layer.linear2, given.rank)  # type: ignore[assignment]
    model.head.requires_grad_(True)
    tuned = [own for own in model.parameters() if own.requires_grad]
    total = sum(own.numel() for own in model.parameters())
    print(f"{sum(own.numel() for own in tuned)} of {total} weights are trained")

    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.AdamW(tuned, lr=0.02),
        data_loader=DataLoader(texts(1000, 1), batch_size=200),
        target_epsilon=3.0,
        target_delta=1e-5,
        epochs=given.epochs,
        max_grad_norm=1.0,
        criterion=nn.CrossEntropyLoss(),
    )
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, given.epochs * len(loader))
    for _ in range(given.epochs):
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
    model.eval()
    x, y = texts(500, 2).tensors
    with torch.no_grad():
        print(f"held-out accuracy {float((model(x).argmax(1) == y).float().mean()):.3f}")
    print(engine.certificate())


if __name__ == "__main__":
    main()
