"""One private training: from batches to noisy gradients. Samples, noise and counts come from the native library."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from operator import attrgetter, is_
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from .. import _native
from .._core import load
from . import joint, refusals
from .clipping import Clipping
from .distributed import Group, Mirror, group_of
from .joint import Column
from .layers import attach_all
from .outsiders import Outsiders
from .sampling import Batch
from .sums import GradientSum
from .settling import settle_after_backward, wait_for
from .taps import Place, Taker, Taps
from .terms import Term, is_launched
from .threads import lend


#: The parameters and the layers of a layer.
_PARTS = attrgetter("_parameters", "_modules")


class Run:
    """The state of a training between its loader, its module and its optimizer."""

    def __init__(
        self,
        module: nn.Module,
        names: dict[nn.Parameter, str],
        clipping: Clipping,
        loss_reduction: str,
        batch_first: bool,
    ) -> None:
        self.module, self.names, self.clipping = module, names, clipping
        self.loss_reduction, self.batch_first = loss_reduction, batch_first
        self.taps = Taps(module, names)
        self.taps.listener = self.collect
        self.outsiders = Outsiders(names)
        self.taps.on_backward = self.outsiders.check
        self.sum = GradientSum(list(names))
        self.groups = self._groups()
        self.count_of_groups = max(self.groups.values()) + 1
        self.steps: _native.PrivateSteps | Mirror | None = None
        #: The processes that train together, if there are several.
        self.group: Group | None = None
        #: Whether the process trains by itself although there are others.
        self.is_alone = False
        self.is_open = False
        self.rate = 1.0
        #: What the optimizer shows of the plan.
        self.shown: dict[str, float] = {}
        self.batch: Batch | None = None
        self.is_collected = False
        #: Whether the batch before this one was given and not trained on, so that the loop may be reading ahead.
        self.is_ahead = False
        self.process = os.getpid()
        #: The thread that called the module last.
        self.thread = get_ident()
        #: Whether the check on made-up inputs is done.
        self.is_checked = True
        #: Whether there is no check, and only the layouts are to be found.
        self.is_trusted = False
        self.criterion: Any = None
        #: What the criterion may compare outputs with, made up.
        self.targets: list[Any] = []
        #: What gradients that were released here are known by.
        self.mark = object()
        #: Adds gradients of the batch to the sum, where that was not done yet.
        self._waiting: Callable[[], None] | None = None
        #: Tells whether there are factors of 0.
        self.later = Later()
        #: What takes the hook off the optimizer.
        self.step_handle: Any = None
        #: What noisy sums are divided by.
        self._divisor: float | None = None
        self._ahead: Future[None] | None = None
        self._drawer: ThreadPoolExecutor | None = None
        self._layers = list(module.modules())
        self._structure = self._form()
        self._parameters = list(module.parameters())
        self._known = {id(own) for own in names}
        self.mixing = [own for own in module.modules() if isinstance(own, nn.modules.batchnorm._BatchNorm)]
        attach_all(self.taps)
        for own in names:
            own.requires_grad_(False)
            own._is_reticent = True  # type: ignore[attr-defined]
        self.taps.handles.append(module.register_forward_pre_hook(self.enter, with_kwargs=True, prepend=True))
        self.taps.seal()
        self._settle_in_time()
        lend()

    def _settle_in_time(self) -> None:
        if is_launched(self.sum.device):
            settle_after_backward()

    def _move(self) -> None:
        """The module is on another device than before, or of another precision: so is the sum."""
        if self.batch is None or not self.batch.is_first or not self.sum.is_empty:
            raise refusals.misuse("module", "it was moved in the middle of a step: move it before a batch is taken from the loader")
        self.sum = GradientSum(list(self.names))
        self.is_checked = False
        self._settle_in_time()

    def _groups(self) -> dict[nn.Parameter, int]:
        """The group of every parameter: all in one, those of a layer together, or each by itself."""
        if self.clipping.shares:
            return {own: place for place, own in enumerate(self.names)}
        if self.clipping.kind != "per_layer":
            return dict.fromkeys(self.names, 0)
        layers: dict[str, int] = {}
        return {own: layers.setdefault(name.rpartition(".")[0], len(layers)) for own, name in self.names.items()}

    def _form(self) -> tuple[list[int], list[str], list[Any]]:
        """How many parameters and layers every layer has, their names, and what they are."""
        own = list(chain.from_iterable(map(_PARTS, self._layers)))
        # Those of scripted layers are no dictionaries.
        own = [parts if isinstance(parts, dict) else dict(parts.items()) for parts in own]
        return list(map(len, own)), list(chain.from_iterable(own)), list(chain.from_iterable(map(dict.values, own)))

    def _is_changed(self) -> bool:
        """Whether there are other layers and parameters than those that were made private."""
        counts, names, values = self._form()
        known_counts, known_names, known = self._structure
        return counts != known_counts or names != known_names or not all(map(is_, values, known))

    # Forward.

    def announce(self, batch: Batch | None) -> None:
        """A batch that the loader gives next; none at its end."""
        if batch is not None and not batch.is_first:
            self.settle()
        self._waiting = None
        self.is_ahead = batch is not None and self.batch is not None and not self.is_collected
        self.batch, self.is_collected = batch, False
        self.taps.token = object()
        self.taps.rows = None if batch is None else batch.rows
        self.taps.drop()
        if batch is None or batch.is_first:
            self.sum.clear()

    @property
    def is_pending(self) -> bool:
        """Whether a batch was announced whose step is not taken."""
        return self.batch is not None

    @property
    def sample_rate(self) -> float:
        """The probability of a unit to be in a step."""
        return self.rate

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """Before the module is called."""
        self.taps.start()
        self.thread = get_ident()
        if self.batch is None or not self.taps.is_on:
            return
        if self._is_changed():
            raise refusals.misuse(
                "module", "its layers or parameters changed after make_private: change the module first, and make it private then"
            )
        if self.sum.is_elsewhere:
            self._move()
        if torch.compiler.is_compiling() or _is_compiled():
            raise refusals.misuse("module", "torch.compile is not supported for private training: call the module as it is")
        if any(own.requires_grad for own in self._parameters):
            name = next((name for name, own in self.module.named_parameters() if own.requires_grad), "a parameter")
            remedy = "requires_grad was set after make_private, so it would be trained without noise: make the module private anew"
            raise refusals.misuse(name, remedy)
        self._check_rows(args, kwargs)
        for norm in self.mixing:
            if norm.training:
                remedy = "a batch norm is in training mode, so examples change each other: call its eval(), or use fix(module)"
                raise refusals.layer(self.taps.name(norm), remedy)
        if not self.is_checked:
            from .checks import check, find_layouts

            self.is_checked = True
            try:
                (find_layouts if self.is_trusted else check)(self, args, kwargs)
            except BaseException:
                self.is_checked = False
                raise

    def _check_rows(self, args: Any, kwargs: Any) -> None:
        """Refuses inputs that are not the loader's batch."""
        axis, rows = 0 if self.batch_first else 1, self.taps.rows or 1
        first = args[0] if len(args) == 1 and not kwargs and isinstance(args[0], Tensor) else None
        if first is not None and first.dim() > axis and first.shape[axis] == rows and not self.is_ahead:
            return
        given = [item for item in tree_flatten((args, kwargs))[0] if isinstance(item, Tensor) and item.dim() > axis]
        if given and all(item.shape[axis] != rows for item in given):
            raise refusals.misuse(
                "module",
                f"called with {given[0].shape[axis]} examples where the loader gave {rows}: give it the loader's batch, and "
                "other data in eval mode or under torch.no_grad()",
            )

        batch = self.batch
        is_whole = batch is not None and batch.is_first and batch.is_last and batch.unit is None and rows > 1
        if self.is_ahead and not is_whole:
            raise refusals.misuse(
                "data_loader",
                "the batch before was given and not trained on, so this one may not be the module's input: train on every batch "
                "before the next one is taken",
            )

    # Backward.

    def collect(self, give: Callable[[Taker], None]) -> None:
        """Takes the gradients of a backward pass. Those on a GPU are clipped and added to the sum when ``backward()`` returns, at the latest
        when the step is taken: a thread of PyTorch's own calls this, and the thread of the loop does it faster."""
        batch = self.batch
        if batch is None:
            return
        if self.is_collected:
            raise refusals.misuse(
                "backward",
                "called twice for one batch, so its examples would count twice: call it once, with the sum of all "
                "losses; for parts of a batch use BatchMemoryManager",
            )
        if not self.is_checked and not (self.is_trusted and not self.taps.has_copies):
            raise refusals.misuse(
                "module",
                "a part of it was called, and not the module that was made private, so it could not be checked: call the "
                "module itself, make the part private, or train with check=False on your word that examples do not mix",
            )
        self.is_collected = True
        if batch.is_blank:
            return

        def add() -> None:
            try:
                give(lambda found: self.add_clipped(found, batch))
            except BaseException:
                # What is there of the batch serves nothing.
                self.sum.clear()
                self.is_collected = False
                raise

        if is_launched(self.sum.device):
            self._waiting = add
            wait_for(self.thread, self)
        else:
            add()

    def settle(self) -> None:
        """Adds gradients that wait for that."""
        add, self._waiting = self._waiting, None
        if add is not None:
            add()

    def add_clipped(self, found: list[tuple[Place, Term]], batch: Batch) -> None:
        """The clipped sum of a batch."""
        self.sum.join()
        with full_precision():
            self.sum.check_products()
            found_by: list[list[tuple[Place, Term]]] = [found]
            if self.count_of_groups > 1:
                found_by = [[] for _ in range(self.count_of_groups)]
                for place, term in found:
                    found_by[self.groups[place[0]]].append((place, term))
            # A mean over the batch is the sum of single losses over their number.
            scale = float(batch.rows) if self.loss_reduction == "mean" else 1.0
            was_empty, is_launching = self.sum.is_empty, is_launched(self.sum.device)
            left, zeros = self._clipped(found_by, batch, scale)
            if was_empty and is_launching:
                # A GPU adds up before the CPU knows whether there are zeros: what is alone at its place can be written anew.
                for place, term, weights in left:
                    self._add(place, term, weights)
                if left and zeros():
                    for place, term, weights in left:
                        term.without(weights == 0).write(weights, self.sum.view(place)[0])
                return
            has_zeros = bool(left) and zeros() > 0
            if not is_launching:
                # Gradients are let go once they are added.
                for own in (found, *found_by):
                    own.clear()
            left.reverse()
            while left:
                place, term, weights = left.pop()
                self._add(place, term.without(weights == 0) if has_zeros else term, weights)

    def _clipped(
        self, columns: Sequence[Column], batch: Batch, scale: float
    ) -> tuple[list[tuple[Place, Term, Tensor]], Callable[[], float]]:
        """Adds gradients to the sum. Those that are left are given back with the factors of their examples, and what tells how many of these
        are 0: such gradients count for nothing, and may not be finite."""
        gpu = self.sum.clipping()
        if gpu is not None and self.clipping.is_flat and batch.unit is None:
            _, left = gpu.clip(columns[0], batch.rows, self.clipping.bound, scale, self.sum.address)
            return left, gpu.zeros
        if gpu is not None:
            squared = gpu.squared(columns, batch.rows)
        else:
            squared = torch.stack([joint.squared(own, batch.rows, self.sum.device) for own in columns], 1)
        unit = None if batch.unit is None else batch.unit.to(squared.device)
        factors = self.clipping.row_factors(squared, scale, unit, batch.units).to(self.sum.kind)
        zeros = self.later.after((factors == 0).sum()).read
        if gpu is not None:
            return gpu.add(columns, factors, self.sum.address), zeros
        pairs = zip(columns, factors.unbind(1), strict=True)
        return [(place, term, weights) for column, weights in pairs for place, term in column], zeros

    def _add(self, place: Place, term: Term, weights: Tensor) -> None:
        """Adds gradients times factors to the sum."""
        into, is_blank = self.sum.view(place)
        term.write(weights, into) if is_blank else term.add(weights, into)

    # Step.

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> Any:
        """Before the optimizer moves the weights: puts noisy gradients in place, or none where more parts of the step follow. A closure
        is called once, here; the optimizer gets what it returned."""
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
            self._ready(optimizer)
            return (args[0],), {**kwargs, "closure": lambda: loss}
        self._ready(optimizer)
        return None

    def _ready(self, optimizer: torch.optim.Optimizer) -> None:
        """Releases the gradients of a step that is complete. Several processes are ready together, or none is."""
        batch = self.batch
        if self.group is None or (batch is not None and not batch.is_last):
            self._check_ready(optimizer)
        else:
            failure: Exception | None = None
            try:
                self._check_ready(optimizer)
            except Exception as error:
                failure = error
            self.group.vote(failure)
        self.batch, self.taps.rows = None, None
        if batch is not None and batch.is_last:
            self.finish()

    def _check_ready(self, optimizer: torch.optim.Optimizer) -> None:
        """Refuses a step that is not the one of this batch's gradients."""
        self.settle()
        self._check_optimizer(optimizer)
        if self.group is None and not self.is_alone and group_of(None) is not None:
            remedy = "it was initialized after make_private, so every process would train by itself: initialize it first"
            raise refusals.misuse("process_group", remedy)
        if os.getpid() != self.process:
            raise refusals.misuse("step", "this process was forked from the one that made the module private: train there")
        if self.batch is None or not self.is_collected:
            raise refusals.misuse(
                "step",
                "no gradients of this batch: call backward() once for every batch of the loader, and then step()",
            )
        for own in self.names:
            if own.requires_grad:
                raise refusals.misuse(
                    self.names[own], "requires_grad was set after make_private: leave it to the engine"
                )
            if own.grad is not None and getattr(own.grad, "_released_by", None) is not self.mark:
                raise refusals.misuse(self.names[own], "its grad was set by hand: leave gradients to the engine")
            own.grad = None

    def finish(self) -> None:
        """Adds the noise of a step and releases its gradients."""
        self.sum.join()
        group = self.group
        total = None if group is None else group.add(self.sum.total())
        if group is None:
            noisy = self._noisy()
        elif group.is_main:
            noisy = self._noisy_for(group, total)
        else:
            steps = self.steps
            assert isinstance(steps, Mirror)
            steps.follow(*group.tell(None, self.sum.device))
            self.sum.take(group.spread(torch.empty_like(self.sum.total())))
            noisy = self.sum.shown()
        for own, gradient in zip(self.sum.parameters, self.sum.parts(noisy), strict=True):
            gradient._released_by = self.mark  # type: ignore[attr-defined]
            own.grad = gradient
        if group is not None:
            group.place += 1
        if self.sum.is_noised_elsewhere and (group is None or group.is_main):
            self._draw_ahead()

    def _noisy(self) -> Tensor:
        """The noisy gradients of the sum, in one piece."""
        steps = self.own_steps
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.result()
        counted, allowed = steps.count()
        if self.is_open and counted >= allowed:
            steps.extend()
        if self._divisor is None:
            self._divisor = float(self.standing()["expected_batch"]) if self.loss_reduction == "mean" else 1.0
        return self.sum.add_noise(steps, max(1, torch.get_num_threads())).mul_(1.0 / self._divisor)

    def _noisy_for(self, group: Group, total: Any) -> Tensor:
        """The noisy gradients of the sum of all processes, sent to all of them. Where no noise could be added, they are told so."""
        try:
            self.sum.take(total)
            noisy = self._noisy()
        except BaseException:
            self.sum.clear()
            group.tell(None, self.sum.device)
            raise
        group.tell(self._count(), self.sum.device)
        group.spread(noisy)
        return noisy

    def _draw_ahead(self) -> None:
        """Draws the noise of the next step while the device computes."""
        if self._drawer is None:
            self._drawer = ThreadPoolExecutor(1, thread_name_prefix="reticent-noise")
        threads = max(1, torch.get_num_threads() - 1)
        self._ahead = self._drawer.submit(self.own_steps.draw, threads)

    def _check_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        for name, value in self.shown.items():
            if getattr(optimizer, name, value) != value:
                remedy = "it belongs to the plan that is paid for, and cannot change while training: set it back"
                raise refusals.misuse(f"optimizer.{name}", remedy)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) not in self._known and parameter.grad is not None:
                    raise refusals.misuse(
                        "optimizer", "it has parameters with gradients that are not the private module's: use another one"
                    )

    # Samples and counts.

    @property
    def own_steps(self) -> _native.PrivateSteps:
        """The native steps."""
        assert self.steps is not None
        return self.steps  # type: ignore[return-value]

    def standing(self) -> dict[str, Any]:
        """The public numbers of the plan, and how many steps count."""
        return load(self.own_steps.standing())

    def begin(self, most: int | None) -> int:
        """Before an epoch of several processes: they are at the same step. How many steps there are left."""
        group = self.group
        assert group is not None
        group.begin(self.module, most)
        counted, allowed, is_open = group.send((*self._count(), self.is_open))
        if isinstance(self.steps, Mirror):
            self.steps.follow(counted, allowed)
        return 1 << 62 if is_open else max(0, allowed - counted)

    def _count(self) -> tuple[int, int]:
        return self.own_steps.count()

    def draw(self) -> tuple[Any, Any] | None:
        """The examples of the next step; none when all steps are taken."""
        counted, allowed = self._count()
        if counted >= allowed:
            if not self.is_open:
                return None
            self.own_steps.extend()
        return self.own_steps.sample()


class Later:
    """A number that the CPU reads after it has given a GPU more work."""

    def __init__(self) -> None:
        self._number: Tensor | None = None
        self._pinned: Tensor | None = None
        self._event: Any = None

    def after(self, number: Tensor) -> Later:
        """Names the number."""
        if number.is_cuda:
            if self._pinned is None:
                self._pinned = torch.empty((), dtype=torch.float32, device="cpu", pin_memory=True)
                self._event = torch.cuda.Event()
            self._number = self._pinned.copy_(number, non_blocking=True)
            self._event.record(torch.cuda.current_stream(number.device))
        else:
            self._number = number
        return self

    def read(self) -> float:
        """The number, when it has been computed."""
        assert self._number is not None
        if self._number is self._pinned:
            self._event.synchronize()
        return float(self._number)


def _is_compiled() -> bool:
    """Whether the module is called through torch.compile."""
    frames = getattr(torch._C, "_dynamo", None)
    found = getattr(getattr(frames, "eval_frame", None), "get_eval_frame_callback", None)
    return found is not None and callable(found())


class full_precision:
    """Products in full single precision while norms and sums are computed."""

    def __enter__(self) -> None:
        self.by_backend: list[tuple[Any, str]] = []
        try:
            self.before, self.cudnn = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
        except RuntimeError:
            # PyTorch does not tell where it was set backend by backend.
            own: Any = torch.backends
            places = (own.cuda.matmul, own.cudnn.conv, own.cudnn.rnn, own.mkldnn.matmul, own.mkldnn.conv)
            self.by_backend = [(place, place.fp32_precision) for place in places]
            for place in places:
                place.fp32_precision = "ieee"
            return
        if self.before != "highest":
            torch.set_float32_matmul_precision("highest")
        if self.cudnn:
            torch.backends.cudnn.allow_tf32 = False

    def __exit__(self, *_: object) -> None:
        if self.by_backend:
            for place, precision in self.by_backend:
                place.fp32_precision = precision
            return
        if self.before != "highest":
            torch.set_float32_matmul_precision(self.before)
        if self.cudnn:
            torch.backends.cudnn.allow_tf32 = True
