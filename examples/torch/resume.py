"""A training that is killed and goes on: every step that may have been seen stays counted.

    python examples/torch/resume.py FOLDER            trains until it is killed or done
    python examples/torch/resume.py FOLDER --die 7    as above, and is killed in the middle of step 7

Run it again with the same folder, and it goes on. ``steps.json`` counts a step before its noise is added.
"""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from reticent.torch import PrivacyEngine

EPOCHS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--die", type=int, default=0, help="the step to be killed in")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    record, checkpoint = given.folder / "steps.json", given.folder / "model.pt"

    generator = torch.Generator().manual_seed(1)
    x = torch.randn(500, 10, generator=generator)
    data = TensorDataset(x, (x[:, 0] > 0).long())
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=DataLoader(data, batch_size=100),
        target_epsilon=3.0,
        target_delta=1e-5,
        epochs=EPOCHS,
        max_grad_norm=1.0,
        record=record,
        resume=record.exists(),
    )
    if checkpoint.exists():
        engine.load_checkpoint(checkpoint, module=model, optimizer=optimizer)
        print(f"goes on: {engine.steps} steps count, {engine.steps_left} are left")
    while engine.steps_left:
        for batch, y in loader:
            nn.functional.cross_entropy(model(batch), y).backward()
            if engine.steps + 1 == given.die:
                os.kill(os.getpid(), signal.SIGKILL)
            optimizer.step()
            optimizer.zero_grad()
            if engine.steps % 3 == 0:
                engine.save_checkpoint(checkpoint, module=model, optimizer=optimizer)
    print(f"done: {engine.steps} steps")
    print(engine.certificate())


if __name__ == "__main__":
    main()
