"""Several processes that train one module: one sample a step, the clipped sums added up, noise once.

Process 0 of the group draws the samples, adds the noise and keeps the count. Each unit of a sample is computed by exactly one process.
Sums are added in double precision, so that the number of processes adds no rounding beyond that of one addition in single precision.
What the processes send each other is private: their connections belong to the trusted side.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .. import _native
from .._core import brief, load, request
from .._refusals import invalid
from . import refusals
from .terms import finest

T = TypeVar("T")

#: How far sums of weights may be apart, relatively, before they are taken for different weights.
CLOSE = 1e-4


def _let_go() -> None:
    """Lets the threads of a process group let go of their last tensors: one that still holds a tensor when the interpreter ends aborts
    the process."""
    time.sleep(0.2)


class Group:
    """The processes of a training."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.rank, self.size = dist.get_rank(own), dist.get_world_size(own)
        self.main = dist.get_global_rank(own, 0)
        self.is_cpu = "nccl" not in str(dist.get_backend(own)) or not torch.cuda.is_available()
        #: Steps that are complete.
        self.place = 0
        atexit.unregister(_let_go)
        atexit.register(_let_go)

    @property
    def is_main(self) -> bool:
        """Whether this process adds the noise."""
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """What every process has."""
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value, group=self.own)
        return found

    def send(self, value: Any) -> Any:
        """What process 0 has."""
        box = [value if self.is_main else None]
        dist.broadcast_object_list(box, src=self.main, group=self.own)
        return box[0]

    def together(self, work: Callable[[], T]) -> T:
        """Does something in every process. If one of them refuses, all do."""
        failure: Exception | None = None
        value: Any = None
        try:
            value = work()
        except Exception as error:
            failure = error
        words = self.gather(None if failure is None else f"{type(failure).__name__}: {failure}")
        if failure is not None:
            raise failure
        for rank, word in enumerate(words):
            if word is not None:
                raise refusals.misuse("process_group", f"process {rank} refused: {word}")
        result: T = value
        return result

    def same(self, name: str, value: Any, remedy: str) -> None:
        """Refuses, in every process, values that are not the same in all of them."""
        found = self.gather(value)
        for rank, other in enumerate(found):
            if other != found[0]:
                text = f"{brief(other)} in process {rank} and {brief(found[0])} in process 0: {remedy}"
                raise refusals.misuse(name, text)

    def _placed(self, values: Tensor) -> Tensor:
        return values.cpu() if self.is_cpu else values

    def vote(self, failure: Exception | None) -> None:
        """Before a step: every process is ready for the same one, or none takes it."""
        device = torch.device("cpu") if self.is_cpu else torch.device("cuda", torch.cuda.current_device())
        ballot = torch.tensor([int(failure is None), self.place, -self.place], device=device)
        dist.all_reduce(ballot, op=dist.ReduceOp.MIN, group=self.own)
        ready, least, most = (int(own) for own in ballot.tolist())
        if failure is not None:
            raise failure
        if not ready:
            raise refusals.misuse("process_group", "another process refused this step, so none takes it")
        if least != -most:
            remedy = f"process {self.rank} is at step {self.place}, others at steps {least} to {-most}"
            raise refusals.misuse("process_group", f"{remedy}: take the same number of steps in every process")

    def add(self, total: Tensor) -> Tensor:
        """The sum of all processes' numbers; in process 0 only."""
        placed = self._placed(total.to(finest(total.device), copy=True))
        dist.reduce(placed, dst=self.main, op=dist.ReduceOp.SUM, group=self.own)
        return placed

    def spread(self, values: Tensor) -> Tensor:
        """The numbers of process 0."""
        placed = self._placed(values.contiguous())
        dist.broadcast(placed, src=self.main, group=self.own)
        return placed

    def tell(self, standing: tuple[int, int] | None, device: torch.device) -> tuple[int, int]:
        """Whether the noise was added, and how many steps count then and are allowed."""
        words = torch.tensor([0, 0, 0] if standing is None else [1, *standing], device="cpu" if self.is_cpu else device)
        ok, counted, allowed = (int(own) for own in self.spread(words).tolist())
        if not ok and not self.is_main:
            raise refusals.misuse("process_group", "process 0 could not add the noise, so the step is not taken")
        return counted, allowed

    def level(self, module: nn.Module) -> None:
        """Gives every process the weights and buffers of process 0."""
        with torch.no_grad():
            for own in [*module.parameters(), *module.buffers()]:
                flat = own.detach().reshape(-1).contiguous()
                if flat.numel():
                    received = self.spread(flat.view(torch.uint8))
                    own.copy_(received.to(own.device).view(own.dtype).reshape(own.shape))

    def begin(self, module: nn.Module, most: int | None) -> None:
        """Before an epoch: the processes are at the same step with the same weights."""
        self.same("process_group", self.place, "take the same number of steps in every process")
        self.same("max_physical_batch_size", most, "give the same in every process")
        with torch.no_grad():
            total = sum(float(own.detach().to(finest(own.device)).abs().sum()) for own in module.parameters())
        for rank, other in enumerate(self.gather(total)):
            if not abs(other - total) <= CLOSE * abs(total) and other == other:
                remedy = "load the same checkpoint, and change the learning rate in the same way, in every process"
                raise refusals.misuse("module", f"its weights are not those of process {rank}: {remedy}")


def group_of(process_group: Any) -> Group | None:
    """The processes that train together: those of the default group where there is one; none where a process is by itself."""
    if not (dist.is_available() and dist.is_initialized()):
        if process_group is not None:
            raise invalid("process_group", brief(process_group), "call torch.distributed.init_process_group first")
        return None
    own = dist.group.WORLD if process_group is None else process_group
    if dist.get_rank(own) < 0:
        raise invalid("process_group", "another", "this process is not in it: make the module private in its processes")
    return Group(own) if dist.get_world_size(own) > 1 else None


def DifferentiallyPrivateDistributedDataParallel(module: nn.Module, *_: Any, **__: Any) -> nn.Module:  # noqa: N802
    """The module itself: ``make_private`` gives every process the same weights and adds up what they compute."""
    return module


class Mirror:
    """What the other processes know of the steps of process 0: the plan and the count. It has no noise and makes no certificate."""

    def __init__(self, settings: dict[str, Any], examples: int, ids: Any, standing: dict[str, Any]) -> None:
        own = {"epsilon": None, "noise_multiplier": standing["noise_multiplier"], "record": None, "resume": False}
        self._plan = _native.PrivateSteps(request({**settings, **own}), examples, ids, None)
        self.follow(standing["counted"], standing["allowed"])

    def follow(self, counted: int, allowed: int) -> None:
        """Takes over the count of process 0."""
        self._plan.count_from(counted)
        while self._plan.count()[1] < allowed:
            self._plan.extend()

    def standing(self) -> str:
        """The public numbers of the plan, as JSON."""
        return self._plan.standing()

    def count(self) -> tuple[int, int]:
        """How many steps count, and how many were paid for."""
        return self._plan.count()

    def epsilon(self, delta: float | None = None) -> float:
        """ε of the counted steps."""
        return self._plan.epsilon(delta)

    def count_from(self, steps: int) -> None:
        """Counts at least so many steps."""
        self._plan.count_from(steps)

    def settle(self) -> None:
        """The file of the count is that of process 0."""

    def certificate(self, cause: str | None = None) -> str:
        """Process 0 has it."""
        raise refusals.misuse("certificate", "process 0 makes it: call certificate() there")


def shares(units: int, size: int) -> Iterable[tuple[int, int]]:
    """The units of every process: each in exactly one."""
    for rank in range(size):
        yield units * rank // size, units * (rank + 1) // size
