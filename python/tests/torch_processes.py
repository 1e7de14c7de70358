"""One of several processes of ``test_torch_distributed``: ``torch_processes.py RANK SIZE FOLDER SCENARIO...``.

Each scenario leaves what this process saw in ``FOLDER/SCENARIO-RANK.pt``.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from reticent import Budget
from reticent.errors import ReticentError
from reticent.torch import BatchMemoryManager, PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Numbered(Dataset):
    """Examples that bring their number along."""

    def __init__(self, count=40):
        generator = torch.Generator().manual_seed(3)
        self.x = torch.randn(count, 5, generator=generator)
        self.y = (self.x[:, 0] > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, place):
        return self.x[place], self.y[place], place


def network(seed=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 2))


def private(model, data=None, batch_size=16, lr=0.0, kind=torch.optim.SGD, sampler=None, budget=None, workers=0, **options):
    engine = PrivacyEngine(budget=budget)
    optimizer = kind(model.parameters(), lr=lr)
    loader = DataLoader(data or Numbered(), batch_size=batch_size, sampler=sampler, num_workers=workers)
    given = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "epochs": 2, **options}
    _, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, data_loader=loader, **given)
    return engine, optimizer, loader


def watched(engine):
    """The samples that process 0 drew, and what every process sent and process 0 got."""
    run, seen = engine.run, {"drawn": [], "sent": [], "total": []}
    draw, add = run.draw, run.group.add

    def drawing():
        found = draw()
        seen["drawn"].append(torch.from_numpy(found[0].copy()))
        return found

    def adding(total):
        seen["sent"].append(total.clone())
        found = add(total)
        seen["total"].append(found.clone())
        return found

    run.group.add = adding
    return seen, drawing


def epoch(engine, model, optimizer, loader, seen):
    for x, y, places in loader:
        batch = engine.run.batch
        nn.functional.cross_entropy(model(x), y).backward()
        seen.setdefault("rows", []).append((batch.is_last, [] if batch.is_blank else places.tolist()))
        optimizer.step()
        if batch.is_last:
            released = torch.cat([own.grad.flatten() for own in model.parameters()])
            seen.setdefault("released", []).append(released)
        optimizer.zero_grad()


def sums(rank, folder, most=None, twin=None, **options):
    """What the processes compute and send."""
    model = network(seed=rank)
    engine, optimizer, loader = private(model, **options)
    seen, drawing = watched(engine)
    loader.batch_sampler.draw = drawing
    if twin == "own sample":
        # Each process divides a sample of its own.
        group = loader.batch_sampler.group
        steps = engine.run.steps if rank == 0 else engine.run.steps._plan

        def own_sample():
            found = steps.sample()
            seen["drawn"].append(torch.from_numpy(found[0].copy()))
            return found

        loader.batch_sampler.draw = own_sample
        loader.batch_sampler._drawn = lambda: [loader.batch_sampler.draw() for _ in range(len(loader))]
        assert group.size == 2
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=most or 10**6) as parts:
        for _ in range(2):
            epoch(engine, model, optimizer, parts, seen)
    seen["weights"] = [own.clone() for own in model.parameters()]
    seen["steps"] = engine.steps
    return seen


def noise(rank, folder, twin=None):
    """A sum of 0 with noise, and what this process knows of it. The twins have noise of this deviation come from every process."""
    model = nn.Linear(5, 20000, bias=False)
    data = Numbered(20)
    data.x.zero_()
    data.y.zero_()
    engine, optimizer, loader = private(model, data, batch_size=10, noise_multiplier=2.0)
    run = engine.run
    seen, _ = watched(engine)
    if twin is not None:
        add = run.group.add
        run.group.add = lambda total: add(total + torch.randn(total.shape) * twin)
        run._noisy = lambda: run.sum.shown().mul_(0.1)
    epoch(engine, model, optimizer, loader, seen)
    return {"released": seen["released"], "sent": seen["sent"]}


def training(rank, folder):
    """Weights, counts and claims; what process 0 alone has."""
    budget = Budget(epsilon=50.0, delta=1e-4, unit="example")
    model = network(seed=rank)
    options = {"kind": torch.optim.Adam, "lr": 0.05, "budget": budget, "record": folder / "steps.json"}
    sampler = DistributedSampler(Numbered(), 2, rank)
    engine, optimizer, loader = private(model, batch_size=8, sampler=sampler, noise_multiplier=4.0, **options)
    seen = {}
    for _ in range(2):
        epoch(engine, model, optimizer, loader, seen)
    engine.save_checkpoint(folder / "kept.pt", module=model, optimizer=optimizer)
    found = {"weights": [own.clone() for own in model.parameters()], "steps": engine.steps, "left": budget.left}
    found["epsilon"] = engine.get_epsilon(1e-5)
    found["rate"] = loader.sample_rate
    try:
        found["certificate"] = json.dumps(engine.certificate()._data)
    except ReticentError as error:
        found["certificate"] = str(error)
    try:
        next(iter(loader))
    except ReticentError as error:
        found["end"] = str(error)
    return found


def refused(work):
    try:
        work()
    except ReticentError as error:
        return str(error)
    return ""


def failures(rank, folder):
    """What one process does wrong, all refuse."""
    late = private_early.pop()
    found_late = refused(lambda: epoch(*late, {}))
    found = {"late": found_late}
    found["size"] = refused(lambda: private(network(), batch_size=16 + rank))
    found["argument"] = refused(lambda: private(network(), loss_reduction="mean" if rank == 0 else "none"))
    found["module"] = refused(lambda: private(network() if rank == 0 else nn.Linear(5, 2)))
    small = Budget(epsilon=0.01, delta=1e-5, unit="example") if rank == 0 else None
    found["budget"] = refused(lambda: private(network(), budget=small))
    model = network()
    engine, optimizer, loader = private(model)
    batches = iter(loader)
    x, y, _ = next(batches)
    nn.functional.cross_entropy(model(x), y).backward()
    if rank == 1:
        model[0].weight.grad = torch.ones_like(model[0].weight)
    found["by hand"] = refused(optimizer.step)
    model[0].weight.grad = None
    if rank == 0:
        steps = engine.run.steps

        class Broken:
            def __getattr__(self, name):
                return getattr(steps, name)

            def add_noise(self, total, threads):
                raise ReticentError("the disk is full")

        engine.run.steps = Broken()
    found["noise"] = refused(optimizer.step)
    found["grads"] = [own.grad is None for own in model.parameters()]
    if rank == 0:
        engine.run.steps = steps
    x, y, _ = next(batches)
    nn.functional.cross_entropy(model(x), y).backward()
    if rank == 1:
        # An extra step that the others know nothing about.
        engine.run.group.place += 1
    found["place"] = refused(optimizer.step)
    alone = [dist.new_group([own]) for own in range(2)][rank]
    engine, _, _ = private(network(), process_group=alone)
    found["alone"] = engine.run.group is None and engine.certificate().verify()
    found["wrapped"] = refused(lambda: private(nn.parallel.DistributedDataParallel(network())))
    model = network()
    engine, optimizer, loader = private(model, lr=0.1 if rank == 0 else 0.2)
    epoch(engine, model, optimizer, loader, {})
    found["weights"] = refused(lambda: next(iter(loader)))
    return found


SCENARIOS = {
    "sums": sums,
    "parts": lambda rank, folder: sums(rank, folder, most=3),
    "units": lambda rank, folder: sums(rank, folder, batch_size=5, units=[place // 3 for place in range(40)]),
    "small": lambda rank, folder: sums(rank, folder, data=Numbered(3), batch_size=1),
    "workers": lambda rank, folder: sums(rank, folder, most=3, workers=1),
    "own-sample": lambda rank, folder: sums(rank, folder, twin="own sample"),
    "noise": noise,
    "noise-everywhere": lambda rank, folder: noise(rank, folder, 2.0),
    "noise-shared": lambda rank, folder: noise(rank, folder, 2.0 / 2**0.5),
    "training": training,
    "failures": failures,
}


#: Made before the processes meet.
private_early = []


def main():
    rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    torch.set_num_threads(1)
    model = network()
    engine, optimizer, loader = private(model)
    private_early.append((engine, model, optimizer, loader))
    dist.init_process_group(
        None if len(sys.argv) == 5 else "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size, timeout=datetime.timedelta(seconds=60)
    )
    for name in sys.argv[4:]:
        torch.save(SCENARIOS[name](rank, folder), folder / f"{name}-{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
