"""A convolutional network on images, with a guarantee: the loop is an ordinary one.

    python examples/torch/image_cnn.py

The images are made up: a bright square in one of four corners. Replace ``images`` by your own dataset.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from reticent.torch import BatchMemoryManager, PrivacyEngine


def images(count: int, seed: int) -> TensorDataset:
    """Images of 16 × 16 pixels with noise and a square, and the corner that it is in."""
    generator = torch.Generator().manual_seed(seed)
    x = 0.5 * torch.randn(count, 1, 16, 16, generator=generator)
    y = torch.randint(0, 4, (count,), generator=generator)
    for row in range(4):
        top, left = 2 + 8 * (row // 2), 2 + 8 * (row % 2)
        x[y == row, :, top : top + 4, left : left + 4] += 1.5
    return TensorDataset(x, y)


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.GroupNorm(4, 8), nn.ReLU(inplace=True),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(256, 4),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    torch.manual_seed(0)
    model = network().to(given.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=optimizer,
        data_loader=DataLoader(images(given.examples, 1), batch_size=200, shuffle=True),
        target_epsilon=given.epsilon,
        target_delta=1e-5,
        epochs=given.epochs,
        max_grad_norm=1.0,
        criterion=criterion,
    )
    print(f"noise multiplier {engine.noise_multiplier:.3f}")
    for epoch in range(given.epochs):
        # Parts of at most 64 images, for devices with little memory.
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=64, optimizer=optimizer) as parts:
            for x, y in parts:
                criterion(model(x.to(given.device)), y.to(given.device)).backward()
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch + 1}: {engine.steps} steps, epsilon {engine.get_epsilon(1e-5):.3f}")

    model.eval()
    x, y = (own.to(given.device) for own in images(500, 2).tensors)
    with torch.no_grad():
        correct: Tensor = (model(x).argmax(1) == y).float().mean()
    print(f"held-out accuracy {float(correct):.3f}")
    print(engine.certificate())


if __name__ == "__main__":
    main()
