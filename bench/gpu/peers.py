"""Times training steps of one network on a GPU in PyTorch and Opacus: one line of JSON for each batch size and mode.

    python3 peers.py MODEL [--batches 1024] [--modes eager,ghost] [--blocks 7] [--seconds 0.15] [--limit 20]
                     [--deadline 90] [--device cuda]

The networks are those of `bench/dpsgd`. Everything is on the device before the clock starts: weights, and one batch
that every step uses. Steps are issued back to back in blocks that last at least the seconds; a block ends when the
device has done its work. A mode that fails, does not fit into memory or takes longer than the limit has a line with the
reason. No blocks: the first steps alone, which compile. `--device cpu` is for trials without a GPU.
"""

import argparse
import contextlib
import gc
import json
import signal
import statistics
import sys
import time
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "dpsgd"))
import models  # noqa: E402
import peers as dpsgd  # noqa: E402

# The batch size for modes in which a larger one does not fit into memory.
SMALLER = {"transformer": 256, "lstm": 256}
# Single precision without TF32, unless the name says otherwise. In this order, which leaves what compiles to the end.
MODES = (
    "eager",
    "eager_searched",  # cuDNN tries all its algorithms for convolutions and keeps the fastest
    "eager_default",  # PyTorch's own settings: TF32 in cuDNN
    "hooks",
    "ghost",
    "functorch",
    "ew",
    "vmap",
    "compiled",
    "compiled_graphs",  # mode "reduce-overhead": CUDA graphs
)
OPACUS = ("hooks", "ghost", "functorch", "ew")
CONVOLUTIONS = ("mnist_cnn", "cifar_cnn")
COMPILING = 2.5  # times the limit for modes that compile
MOST_STEPS = 1 << 14  # of a block


class Late(Exception):
    """The limit of a mode has passed."""


@contextlib.contextmanager
def within(seconds):
    """Raises `Late` in what takes longer."""

    def stop(*_):
        raise Late(f"no result within {seconds:.0f} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Place:
    """The device: where tensors are made, when its work is done, and how much memory that took."""

    def __init__(self, name):
        self.name, self.is_gpu = name, name == "cuda"

    def wait(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def forget(self):
        """Frees what the last mode left."""
        torch.compiler.reset()
        gc.collect()
        if self.is_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def peak_mb(self):
        return torch.cuda.max_memory_allocated() / 2**20 if self.is_gpu else None


def set_precision(mode):
    """What the mode says of TF32 and of the search for algorithms."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = mode == "eager_default"
    torch.backends.cudnn.benchmark = mode == "eager_searched"


def batch(name, size, place):
    """The batch of `bench/dpsgd`, over and over up to the size, on the device."""
    inputs, classes = models.batch(name)
    which = torch.arange(size) % len(inputs)
    return inputs[which].to(place.name), classes[which].to(place.name)


def stepper(name, size, mode, place):
    """A function that makes one step of training."""
    torch.manual_seed(0)
    inputs, classes = batch(name, size, place)
    if mode == "vmap":
        return vmapped(name, inputs, classes, place)
    network = models.make(name, private=mode in OPACUS).to(place.name)
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=dpsgd.RATE)
    criterion = nn.CrossEntropyLoss()
    if mode in OPACUS:
        network, optimizer, criterion = dpsgd.private(network, optimizer, criterion, inputs, classes, mode)

    def loss(inputs, classes):
        return criterion(network(inputs), classes)

    if mode.startswith("compiled"):
        loss = torch.compile(loss, mode="reduce-overhead" if mode == "compiled_graphs" else None, dynamic=False)

    def step():
        if mode == "compiled_graphs":
            torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        loss(inputs, classes).backward()
        optimizer.step()

    return step


def vmapped(name, inputs, classes, place):
    """A private step by `torch.func`: the gradient of every example, clipped, summed and made noisy."""
    from torch.func import functional_call, grad, vmap
    from torch.nn.attention import SDPBackend, sdpa_kernel

    # The recurrent layer of PyTorch has no rule for `vmap`; Opacus's is made of linear ones.
    network = models.make(name, private=name == "lstm").to(place.name)
    weights = {key: value.detach() for key, value in network.named_parameters()}

    def loss(weights, one, label):
        return nn.functional.cross_entropy(functional_call(network, weights, (one[None],)), label[None])

    per_example = vmap(grad(loss), in_dims=(None, 0, 0))

    def step():
        with sdpa_kernel(SDPBackend.MATH):
            gradients = per_example(weights, inputs, classes)
        norms = sum(each.flatten(1).square().sum(1) for each in gradients.values()).sqrt()
        factors = (dpsgd.CLIP / norms.clamp(min=1e-12)).clamp(max=1.0)
        for key, each in gradients.items():
            noise = dpsgd.NOISE * dpsgd.CLIP * torch.randn_like(weights[key])
            noisy = (factors @ each.flatten(1)).view_as(noise) + noise
            weights[key].sub_(noisy, alpha=dpsgd.RATE / len(inputs))

    return step


def block(step, size, place):
    """Seconds for so many steps."""
    place.wait()
    begun = time.perf_counter()
    for _ in range(size):
        step()
    place.wait()
    return time.perf_counter() - begun


def times(name, size, mode, place, asked):
    """The line of one mode at one batch size."""
    set_precision(mode)
    begun = time.perf_counter()
    step = stepper(name, size, mode, place)
    for _ in range(3):
        block(step, 1, place)
    start = time.perf_counter() - begun
    count, found = 1, []
    if asked.blocks:
        while block(step, count, place) < asked.seconds and count < MOST_STEPS:
            count *= 2
        found = [block(step, count, place) / count for _ in range(asked.blocks)]
    return {
        "parameters": models.MODELS[name][-1],
        "first_steps_s": start,
        "steps_in_block": count,
        "block_step_s": found,
        "step_s": statistics.median(found) if found else None,
        "best_step_s": min(found, default=None),
        "peak_mb": place.peak_mb(),
    }


def reason(error):
    """An error in one line."""
    if isinstance(error, torch.OutOfMemoryError):
        return "out of memory"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else "no message"
    return text if isinstance(error, Late) else f"{type(error).__name__}: {text}"[:300]


def measured(name, size, mode, place, asked, seconds):
    row = {"model": name, "batch": size, "mode": mode}
    try:
        with within(seconds):
            row |= times(name, size, mode, place, asked)
    except Exception as error:  # noqa: BLE001 - whatever a mode fails with is its result
        row["error"] = reason(error)
    place.forget()
    return row


def rows(asked):
    """All lines; a mode that does not fit is tried with the smaller batch too."""
    place, begun = Place(asked.device), time.monotonic()
    for mode in asked.modes:
        if mode == "eager_searched" and asked.model not in CONVOLUTIONS:
            continue
        sizes = list(asked.batches)
        while sizes:
            size = sizes.pop(0)
            left = asked.deadline - (time.monotonic() - begun)
            limit = asked.limit * (COMPILING if mode.startswith("compiled") else 1)
            if left < 2:
                yield {"model": asked.model, "batch": size, "mode": mode, "error": "no time left"}
                continue
            row = measured(asked.model, size, mode, place, asked, min(limit, left))
            smaller = SMALLER.get(asked.model, size)
            if row.get("error") == "out of memory" and smaller < size:
                sizes.append(smaller)
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--batches", type=lambda text: [int(size) for size in text.split(",")], default=[1024])
    parser.add_argument("--modes", type=lambda text: text.split(","), default=list(MODES))
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.15, help="of a block, at least")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for a mode; more for those that compile")
    parser.add_argument("--deadline", type=float, default=1e9, help="seconds for everything")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    asked = parser.parse_args()
    unknown = [mode for mode in asked.modes if mode not in MODES]
    if unknown:
        parser.error(f"--modes {unknown[0]}: give some of {','.join(MODES)}")
    for row in rows(asked):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
