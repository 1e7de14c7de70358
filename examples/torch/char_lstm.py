"""An LSTM that tells languages apart by the letters of made-up names, with a guarantee for every person.

    python examples/torch/char_lstm.py

Each person has several names in the data: whole persons are sampled and protected.
"""

from __future__ import annotations

import argparse
import random

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from reticent.torch import PrivacyEngine

SYLLABLES = (("ka", "to", "mi", "ra", "no"), ("berg", "stein", "hof", "wal", "ten"), ("ini", "ello", "ano", "etti", "osa"))
LENGTH = 12


def encoded(name: str) -> list[int]:
    return [ord(letter) - 96 for letter in name[:LENGTH].ljust(LENGTH, "`")]


def names(count: int, seed: int) -> tuple[TensorDataset, list[int]]:
    """Names as numbers of letters with their language, and the person of each."""
    draw = random.Random(seed)
    rows, languages, persons = [], [], []
    for person in range(count):
        language = draw.randrange(3)
        for _ in range(draw.randint(1, 3)):
            rows.append(encoded("".join(draw.choice(SYLLABLES[language]) for _ in range(3))))
            languages.append(language)
            persons.append(person)
    return TensorDataset(torch.tensor(rows), torch.tensor(languages)), persons


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(27, 16)
        self.memory = nn.LSTM(16, 24, batch_first=True)
        self.out = nn.Linear(24, 3)

    def forward(self, x: Tensor) -> Tensor:
        output, _ = self.memory(self.letters(x))
        return self.out(output.mean(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    torch.manual_seed(0)
    data, persons = names(given.persons, 1)
    model = Reader()
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.02),
        data_loader=DataLoader(data, batch_size=120),
        target_epsilon=4.0,
        target_delta=1e-5,
        epochs=given.epochs,
        max_grad_norm=1.0,
        units=persons,
        examples_per_unit=2,
        unit="person",
        criterion=nn.CrossEntropyLoss(),
    )
    for _ in range(given.epochs):
        for x, y in loader:
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    x, y = names(200, 2)[0].tensors
    with torch.no_grad():
        print(f"held-out accuracy {float((model(x).argmax(1) == y).float().mean()):.3f}")
    print(engine.certificate())


if __name__ == "__main__":
    main()
