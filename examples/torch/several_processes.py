"""Several processes train one module, with one guarantee: each computes a part of every step, and noise is added once.

    torchrun --nproc-per-node 2 examples/torch/several_processes.py

On GPUs the backend is ``nccl``, with one process for each GPU.
"""

from __future__ import annotations

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reticent.torch import PrivacyEngine


def points(count: int, seed: int) -> TensorDataset:
    """Points, and which side of a plane they are on."""
    x = torch.randn(count, 10, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, (x[:, 0] + x[:, 1] > 0).long())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args()
    is_cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if is_cuda else "gloo")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if is_cuda else torch.device("cpu")
    if is_cuda:
        torch.cuda.set_device(device)

    # Every process has the whole dataset; batch_size counts the examples of all processes together.
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    criterion = nn.CrossEntropyLoss()
    engine = PrivacyEngine()
    module, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.02),
        data_loader=DataLoader(points(2000, 1), batch_size=200),
        target_epsilon=3.0,
        target_delta=1e-5,
        epochs=given.epochs,
        max_grad_norm=1.0,
        criterion=criterion,
    )
    for _ in range(given.epochs):
        for x, y in loader:
            criterion(module(x.to(device)), y.to(device)).backward()
            optimizer.step()
            optimizer.zero_grad()

    if dist.get_rank() == 0:
        x, y = (own.to(device) for own in points(1000, 2).tensors)
        with torch.no_grad():
            correct = (module.eval()(x).argmax(1) == y).float().mean()
        print(f"held-out accuracy {float(correct):.3f}")
        print(engine.certificate())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
