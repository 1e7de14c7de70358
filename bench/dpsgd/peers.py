"""Times the training step of one network in one mode, in a process of its own: one line of JSON.

    python peers.py MODEL torch|hooks|ghost [--threads 2] [--seconds 2.5] [--least-steps 8]

`torch` is plain PyTorch SGD; `hooks` and `ghost` are Opacus. The batch is fixed and synthetic, and there is no data
loader: three steps to warm up, then at least the seconds and the least steps.
"""

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path

import models
import torch
from torch import nn

WARM_UP = 3
NOISE, CLIP, RATE = 1.0, 1.0, 0.1


def stepper(name, mode):
    """A function that makes one step of training."""
    torch.manual_seed(0)
    network = models.make(name, private=mode != "torch")
    network.train()
    inputs, classes = models.batch(name)
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
    criterion = nn.CrossEntropyLoss()
    if mode != "torch":
        network, optimizer, criterion = private(network, optimizer, criterion, inputs, classes, mode)

    def step():
        optimizer.zero_grad(set_to_none=True)
        criterion(network(inputs), classes).backward()
        optimizer.step()

    return step


def private(network, optimizer, criterion, inputs, classes, mode):
    """The same three, made private by Opacus. The loader tells the size of a batch and is not read from."""
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    made = PrivacyEngine().make_private(
        module=network,
        optimizer=optimizer,
        criterion=criterion,
        data_loader=DataLoader(TensorDataset(inputs, classes), batch_size=len(inputs)),
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
        poisson_sampling=False,
        grad_sample_mode=mode,
    )
    if mode == "ghost":
        network, optimizer, criterion, _ = made
    else:
        network, optimizer, _ = made
    if optimizer.expected_batch_size != len(inputs):
        raise ValueError(f"Opacus divides by {optimizer.expected_batch_size} instead of {len(inputs)}")
    return network, optimizer, criterion


def memory_mb(field):
    """A field of the process's own status, such as VmHWM, the most memory that it ever held."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"/proc/self/status has no {field}")


class Window:
    """How much of the machine's time others used since this was made, and how much this process did."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        idle = ticks[3] + ticks[4]
        return sum(ticks), sum(ticks) - idle, time.process_time()

    def read(self):
        """Share of others in all the machine's time, and CPU seconds of this process."""
        everything, busy, own = (after - before for before, after in zip(self.start, self.now()))
        return max(0.0, busy - own * os.sysconf("SC_CLK_TCK")) / max(1, everything), own


def measure(model, mode, threads, seconds, least_steps):
    torch.set_num_threads(threads)
    step = stepper(model, mode)
    base = memory_mb("VmRSS")
    for _ in range(WARM_UP):
        step()
    window, begun, times = Window(), time.perf_counter(), []
    while time.perf_counter() - begun < seconds or len(times) < least_steps:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    others, own = window.read()
    _, batch, *_, parameters = models.MODELS[model]
    median = statistics.median(times)
    return {
        "model": model,
        "mode": mode,
        "batch": batch,
        "parameters": parameters,
        "threads": threads,
        "steps": len(times),
        "step_s": median,
        "best_step_s": min(times),
        "cpu_s_per_step": own / len(times),
        "examples_per_s": batch / median,
        "peak_mb": memory_mb("VmHWM"),
        "base_mb": base,
        "other_cpu": others,
        "python": platform.python_version(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("mode", choices=["torch", "hooks", "ghost"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.5)
    parser.add_argument("--least-steps", type=int, default=8)
    asked = parser.parse_args()
    print(json.dumps(measure(**vars(asked))))


if __name__ == "__main__":
    main()
