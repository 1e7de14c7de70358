"""The engine: a module, an optimizer and a loader become private."""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from .. import _native
from .._budget import Budget
from .._core import Certificate, brief, finite, load, request
from .._refusals import conflict, invalid, missing, one_of
from ..errors import ReticentError
from . import refusals
from .accountants import Accountant
from .clipping import Clipping
from .distributed import Group, Mirror, group_of
from .run import Run
from .sampling import (
    PoissonBatches,
    SharedBatches,
    blank_like,
    check_collate,
    check_loader,
    plain_loader,
    private_loader,
)
from .validate import check_layers, fix


@dataclass(frozen=True)
class _Prepared:
    """What a training is made of, checked."""

    names: dict[nn.Parameter, str]
    rule: Clipping
    examples: int
    ids: Any
    rate: float
    per_epoch: int
    #: What the criterion may compare outputs with, made up.
    targets: list[Any]


class PrivacyEngine:
    """Makes the training of a module private: Poisson sampling, per-example clipping, noise, and a certificate of what they add up to.

    The module, the optimizer and the loop stay what they are. Samples and noise come from a cryptographically secure generator; the
    accounting is tight.

    >>> import torch
    >>> from torch import nn
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> from reticent.torch import PrivacyEngine
    >>> data = TensorDataset(torch.randn(200, 4), torch.randint(0, 2, (200,)))
    >>> model = nn.Linear(4, 2)
    >>> engine = PrivacyEngine()
    >>> model, optimizer, loader = engine.make_private_with_epsilon(
    ...     module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    ...     data_loader=DataLoader(data, batch_size=50), target_epsilon=3, target_delta=1e-5, epochs=2,
    ...     max_grad_norm=1.0)
    >>> for epoch in range(2):
    ...     for x, y in loader:
    ...         loss = nn.functional.cross_entropy(model(x), y)
    ...         loss.backward()
    ...         _ = optimizer.step()
    ...         optimizer.zero_grad()
    >>> engine.get_epsilon(1e-5) <= 3
    True
    """

    def __init__(self, *, budget: Budget | None = None, accountant: str = "prv", secure_mode: bool = True) -> None:
        # Noise is always secure and the accounting always tight, whatever is asked for.
        one_of("accountant", accountant, ("prv", "rdp", "gdp"))
        self.budget = budget
        self.run: Run | None = None
        self.accountant = Accountant(self)
        self.secure_mode = True
        self._request: dict[str, Any] = {}

    @staticmethod
    def is_compatible(*, module: nn.Module, optimizer: Any = None, data_loader: Any = None) -> bool:
        """Whether these can be made private, as far as that is known before the first step."""
        try:
            PrivacyEngine.validate(module=module, optimizer=optimizer, data_loader=data_loader)
        except ReticentError:
            return False
        return True

    @staticmethod
    def validate(*, module: nn.Module, optimizer: Any = None, data_loader: Any = None) -> None:
        """Refuses what cannot be made private, as far as that is known before the first step."""
        check_module(module)
        check_layers(module)
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise invalid("optimizer", brief(optimizer), "give a torch.optim.Optimizer", "R202")
        if data_loader is not None:
            check_loader(plain_loader(data_loader), group_of(None))

    @staticmethod
    def get_compatible_module(module: nn.Module) -> nn.Module:
        """A repaired copy of a module: batch norms become group norms."""
        return fix(copy.deepcopy(module))

    def make_private_with_epsilon(
        self,
        *,
        module: nn.Module,
        optimizer: Optimizer,
        data_loader: DataLoader[Any],
        target_epsilon: float,
        target_delta: float,
        epochs: float | None = None,
        steps: int | None = None,
        max_grad_norm: float | Sequence[float],
        criterion: Any = None,
        **options: Any,
    ) -> Any:
        """Makes a training private with the least noise that keeps all its epochs within (ε, δ). See :meth:`make_private` for the other
        arguments."""
        finite(target_epsilon=target_epsilon, target_delta=target_delta)
        if epochs is None and steps is None:
            raise missing("epochs", "give the number of epochs, or of steps, that the budget is for")
        return self._make(
            module=module,
            optimizer=optimizer,
            data_loader=data_loader,
            max_grad_norm=max_grad_norm,
            criterion=criterion,
            epochs=epochs,
            steps=steps,
            delta=target_delta,
            epsilon=target_epsilon,
            **options,
        )

    def make_private(
        self,
        *,
        module: nn.Module,
        optimizer: Optimizer,
        data_loader: DataLoader[Any],
        noise_multiplier: float,
        max_grad_norm: float | Sequence[float],
        criterion: Any = None,
        epochs: float | None = None,
        steps: int | None = None,
        delta: float | None = None,
        **options: Any,
    ) -> Any:
        """Makes a training private with noise of standard deviation ``noise_multiplier`` times ``max_grad_norm`` on every sum.

        Without ``epochs`` or ``steps`` the training may go on for as long as it likes; its certificate then states the premise that the
        number of steps does not depend on what the run showed.

        ``clipping``
            ``"flat"``, ``"per_layer"`` or ``"automatic"`` (with ``stability``). With ``"per_layer"`` every layer has an equal share of
            ``max_grad_norm``, or ``max_grad_norm`` is a list with the norm of every trained parameter.
        ``loss_reduction``
            ``"mean"`` or ``"sum"``: how the loss adds the examples of a batch up. Gradients are then divided by the expected batch
            size, or not at all; never by the number of examples that happened to be sampled.
        ``criterion``
            The loss. If it is given, the check on made-up inputs goes through it.
        ``check``
            Whether the module is checked on made-up inputs before the first step.
        ``units``, ``examples_per_unit``
            The unit of every example (such as its user), as integers: whole units are sampled and protected, with at most so many
            examples of each in a step. ``batch_size`` of the loader then counts units.
        ``dataset_size``
            The public number of units; that of the dataset, if it is not given, which is then taken as public.
        ``neighboring``
            ``"add-remove"`` or ``"replace-one"``.
        ``record``, ``resume``
            A file that counts the steps that may have been seen, and whether the run in it goes on.
        ``process_group``
            The processes that train the module together: those of ``torch.distributed``'s default group, if it is initialized. Call
            this in each of them, with the module itself and the same dataset. Process 0 draws one sample for all, adds the noise
            once, and has the budget, the record and the certificate.
        """
        finite(noise_multiplier=noise_multiplier)
        return self._make(
            module=module,
            optimizer=optimizer,
            data_loader=data_loader,
            max_grad_norm=max_grad_norm,
            criterion=criterion,
            epochs=epochs,
            steps=steps,
            delta=delta,
            noise_multiplier=noise_multiplier,
            **options,
        )

    def _make(
        self,
        *,
        module: nn.Module,
        optimizer: Optimizer,
        data_loader: DataLoader[Any],
        max_grad_norm: float | Sequence[float],
        criterion: Any,
        epochs: float | None,
        steps: int | None,
        delta: float | None,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
        clipping: str = "flat",
        stability: float = 0.01,
        loss_reduction: str = "mean",
        batch_first: bool = True,
        check: bool = True,
        units: Sequence[int] | None = None,
        examples_per_unit: int | None = None,
        unit: str | None = None,
        dataset_size: int | None = None,
        neighboring: str = "add-remove",
        record: str | os.PathLike[str] | None = None,
        resume: bool = False,
        poisson_sampling: bool = True,
        noise_generator: Any = None,
        grad_sample_mode: str = "hooks",
        process_group: Any = None,
        wrap_model: bool = True,
        rand_on_empty: bool = False,
    ) -> Any:
        group, data_loader = group_of(process_group), plain_loader(data_loader)

        def prepare() -> _Prepared:
            if self.run is not None:
                raise conflict("module", "private already", "make another PrivacyEngine for another training")
            if not poisson_sampling:
                raise invalid("poisson_sampling", "False", "the guarantee is that of Poisson samples: leave it out")
            if noise_generator is not None:
                remedy = "noise comes from a cryptographically secure generator: leave it out"
                raise invalid("noise_generator", brief(noise_generator), remedy)
            check_module(module)
            if not isinstance(optimizer, Optimizer):
                raise invalid("optimizer", brief(optimizer), "give a torch.optim.Optimizer", "R202")
            if isinstance(criterion, nn.Module) and any(own.requires_grad for own in criterion.parameters()):
                remedy = "it has weights of its own, which would be trained without noise: make them part of the module"
                raise conflict("criterion", type(criterion).__name__, remedy)
            if grad_sample_mode == "no_op":
                remedy = "gradients of single examples come from the module itself: leave it out"
                raise invalid("grad_sample_mode", grad_sample_mode, remedy)
            one_of("loss_reduction", loss_reduction, ("mean", "sum"))
            finite(stability=stability, epochs=epochs)
            rule = Clipping.of(clipping, max_grad_norm, stability)
            batch_size = check_loader(data_loader, group)
            examples = len(data_loader.dataset)  # type: ignore[arg-type]
            ids = _units(units, examples)
            check_collate(data_loader, ids is not None)
            count = examples if ids is None else len(np.unique(ids))
            size = count if dataset_size is None else int(dataset_size)
            rate = min(1.0, batch_size / size) if size > 0 else 1.0
            per_epoch = max(1, math.ceil(size / batch_size))
            targets = _targets(data_loader) if criterion is not None and check else []
            names = trained(module, optimizer)
            rule.check_count(len(names))
            check_layers(module)
            self._request = {
                "unit": unit or ("example" if ids is None else "user"),
                "neighboring": neighboring,
                "size": size,
                "sampling_rate": rate,
                "steps": _planned(epochs, steps, per_epoch),
                "clipping": rule.request(),
                "dimension": sum(own.numel() for own in names),
                "epsilon": epsilon,
                "delta": min(1e-5, 0.1 / size) if delta is None else delta,
                "noise_multiplier": noise_multiplier,
                "examples_per_unit": examples_per_unit,
                "premise": _premise(loss_reduction, check, criterion, len(targets) == 1, group),
                "record": None if record is None else os.fspath(record),
                "resume": bool(resume),
            }
            return _Prepared(names, rule, examples, ids, rate, per_epoch, targets)

        own = prepare() if group is None else group.together(prepare)
        run_options = (loss_reduction, batch_first)
        course = self._begin(own, group, (run_options, epochs is None and steps is None))
        run = Run(module, own.names, own.rule, *run_options)
        run.targets = own.targets
        run.steps, run.is_open, run.criterion = course, epochs is None and steps is None, criterion
        run.is_checked, run.is_trusted, run.group, run.rate = False, not check, group, own.rate
        run.is_alone = process_group is not None and group is None
        self.run = run
        run.step_handle = optimizer.register_step_pre_hook(run.before_step)
        batches = (
            PoissonBatches(run.draw, own.per_epoch, own.ids is not None)
            if group is None
            else SharedBatches(run.draw, own.per_epoch, own.ids is not None, group, run.begin)
        )
        run.shown = {
            "noise_multiplier": self.noise_multiplier,
            "max_grad_norm": own.rule.norm,
            "expected_batch_size": run.standing()["expected_batch"],
        }
        for name, value in run.shown.items():
            setattr(optimizer, name, value)
        if not hasattr(module, "_module"):
            # What Opacus wraps: here it is the module itself.
            module.__dict__["_module"] = module
        if group is not None:
            group.level(module)
        try:
            loader = private_loader(data_loader, batches, run)
        except BaseException:
            self.detach()
            self.run = None
            raise
        if criterion is not None and "ghost" in grad_sample_mode:
            return module, optimizer, criterion, loader
        return module, optimizer, loader

    def _begin(self, own: _Prepared, group: Group | None, more: Any) -> _native.PrivateSteps | Mirror:
        """Charges all steps, in one process. The others follow its count."""

        def begin() -> _native.PrivateSteps:
            native = None if self.budget is None else self.budget._native
            return _native.PrivateSteps(request(self._request), own.examples, own.ids, native)

        if group is None:
            return begin()
        weights = [(name, tuple(parameter.shape), str(parameter.dtype)) for parameter, name in own.names.items()]
        group.same("module", weights, "give the same module and the same optimizer in every process")
        remedy = "give the same arguments and the same dataset in every process"
        for name, value in {**_settled(self._request), "examples": own.examples, "options": more}.items():
            group.same(name, value, remedy)
        group.same("units", None if own.ids is None else hashlib.sha256(own.ids.tobytes()).hexdigest(), remedy)
        course = group.together(lambda: begin() if group.is_main else None)
        standing = group.send(None if course is None else load(course.standing()))
        return Mirror(self._request, own.examples, own.ids, standing) if course is None else course

    def __reduce__(self) -> Any:
        raise refusals.misuse("engine", "it cannot be copied or pickled, since its steps count once: use state_dict()")

    @property
    def own_run(self) -> Run:
        """The run."""
        if self.run is None:
            raise refusals.misuse("engine", "nothing is private yet: call make_private first")
        return self.run

    @property
    def noise_multiplier(self) -> float:
        """The noise's standard deviation over the clipping norm."""
        return float(self.own_run.standing()["noise_multiplier"])

    @property
    def steps(self) -> int:
        """Steps that count, those of earlier processes included."""
        return int(self.own_run.standing()["counted"])

    @property
    def steps_left(self) -> int | None:
        """Steps that the plan has left; none for a training without an end."""
        standing = self.own_run.standing()
        return None if self.own_run.is_open else int(standing["allowed"] - standing["counted"])

    def get_epsilon(self, delta: float | None = None) -> float:
        """ε of the steps so far at this δ, an upper bound."""
        finite(delta=delta)
        return self.own_run.own_steps.epsilon(delta)

    def certificate(self, stopped_by: str | None = None) -> Certificate:
        """What is guaranteed for everything that was computed from the noisy gradients.

        A training that ends before its last planned step claims all planned steps, since the moment may depend on what it showed; if it
        ended by a limit that was set before (``"time-limit"``) or by a ``"crash"``, the steps taken count, and the premise is stated.
        """
        return Certificate(load(self.own_run.own_steps.certificate(stopped_by)))

    def state_dict(self) -> dict[str, Any]:
        """What a later process needs to go on: the plan, and how many steps count."""
        run = self.own_run
        run.own_steps.settle()
        return {"format": 1, "plan": _settled(self._request), "counted": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on with the count of an earlier process. The plan must be the same; the count never falls."""
        if not isinstance(state, dict) or state.get("format") != 1:
            raise invalid("state", brief(state), "give what state_dict returned", "R202")
        for key, value in _settled(self._request).items():
            if state["plan"].get(key) != value:
                remedy = f"the run was begun with {state['plan'].get(key)}: make it private with the same"
                raise conflict(key, value, remedy)
        self.own_run.own_steps.count_from(int(state["counted"]))

    def save_checkpoint(
        self, path: str | os.PathLike[str], *, module: nn.Module, optimizer: Optimizer | None = None,
        checkpoint_dict: dict[str, Any] | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """Writes module, optimizer and engine to a file, replacing it as a whole. Of several processes, process 0 writes it."""
        if isinstance(self.own_run.steps, Mirror):
            return
        state = {
            "module": module.state_dict(),
            "optimizer": None if optimizer is None else optimizer.state_dict(),
            "engine": self.state_dict(),
            "more": {**(checkpoint_dict or {}), **more},
        }
        beside = f"{os.fspath(path)}.new"
        torch.save(state, beside)
        os.replace(beside, path)

    def load_checkpoint(
        self, path: str | os.PathLike[str], *, module: nn.Module, optimizer: Optimizer | None = None
    ) -> dict[str, Any]:
        """Reads what :meth:`save_checkpoint` wrote; what was stored beside it."""
        state = torch.load(path, weights_only=True)
        module.load_state_dict(state["module"])
        if optimizer is not None and state["optimizer"] is not None:
            optimizer.load_state_dict(state["optimizer"])
        self.load_state_dict(state["engine"])
        more: dict[str, Any] = state["more"]
        return more

    def detach(self) -> None:
        """Takes the hooks away: the module is an ordinary one again, whose further training is not private."""
        run = self.own_run
        run.own_steps.settle()
        run.taps.remove()
        for own in run.names:
            own.requires_grad_(True)
            own.grad = None
            own.__dict__.pop("_is_reticent", None)
        if run.step_handle is not None:
            run.step_handle.remove()
        run.module.__dict__.pop("_module", None)


def check_module(module: Any) -> None:
    """Refuses what is not the module itself."""
    if not isinstance(module, nn.Module):
        raise invalid("module", brief(module), "give a torch.nn.Module", "R202")
    if isinstance(module, nn.DataParallel):
        raise invalid("module", "DataParallel", "give the module itself, in one process for each device (torch.distributed)")
    if isinstance(module, nn.parallel.DistributedDataParallel):
        remedy = "give the module itself (module.module) in every process: the engine adds up what they compute"
        raise invalid("module", "DistributedDataParallel", remedy)
    if any(getattr(own, "_is_reticent", False) for own in module.parameters()):
        raise conflict("module", "private already", "another engine trains it: call that engine's detach() first")
    for name, own in module.named_modules():
        if hasattr(own, "_orig_mod") or getattr(own, "_compiled_call_impl", None) is not None:
            remedy = "it was compiled, and then its layers' hooks are not called: make the module private as it is"
            raise invalid("module", name or type(own).__name__, remedy)


def _premise(reduction: str, check: bool, criterion: Any, is_target_known: bool, group: Group | None) -> dict[str, Any]:
    """Why the gradients are those of single units. Where batches have several parts, the criterion is checked, but not surely with the one
    that the loop gives it."""
    checked = "module-and-loss" if criterion is not None and is_target_known else "module"
    return {
        "loss_reduction": reduction,
        "check": checked if check else "declared",
        "counts_all_targets": reduction == "mean" and hasattr(criterion, "ignore_index"),
        "processes": None if group is None else group.size,
    }


def trained(module: nn.Module, optimizer: Optimizer) -> dict[nn.Parameter, str]:
    """The parameters that are trained, with their names: those that the optimizer has and that require gradients."""
    own = {parameter for group in optimizer.param_groups for parameter in group["params"]}
    named = dict(module.named_parameters())
    known = set(named.values())
    if not own <= known:
        raise conflict("optimizer", "other parameters", "give an optimizer of the module's parameters alone")
    found = {parameter: name for name, parameter in named.items() if parameter in own and parameter.requires_grad}
    if not found:
        raise conflict("optimizer", "nothing to train", "give an optimizer of parameters that require gradients")
    for parameter in known - set(found):
        parameter.requires_grad_(False)
    for parameter, name in found.items():
        if type(parameter.data) is not torch.Tensor or parameter.is_sparse or hasattr(parameter, "_flat_param"):
            remedy = "a parameter that is divided among devices (FSDP, DTensor) or of another kind has no tapped gradient: give "
            raise refusals.layer(name, f"{remedy}the module itself in every process")
    if len({parameter.device for parameter in found}) > 1:
        raise invalid("module", "on several devices", "put all trained parameters on one device")
    for parameter, name in found.items():
        if not parameter.is_floating_point():
            raise refusals.layer(name, "parameters that are not real numbers cannot be trained privately")
    return found


def _units(units: Any, examples: int) -> Any:
    if units is None:
        return None
    ids = np.asarray(units)
    if ids.shape != (examples,) or not np.issubdtype(ids.dtype, np.integer):
        remedy = f"give one integer for each of the {examples} examples"
        raise invalid("units", f"{ids.dtype} of shape {ids.shape}", remedy)
    return np.ascontiguousarray(ids, dtype=np.int64)


def _planned(epochs: float | None, steps: int | None, per_epoch: int) -> int:
    if epochs is not None and steps is not None:
        raise conflict("steps", steps, "give either epochs or steps")
    if steps is not None:
        return int(steps)
    return per_epoch if epochs is None else max(1, round(epochs * per_epoch))


#: What batches call the target, where their parts have names.
TARGETS = ("labels", "label", "targets", "target")


def _targets(loader: DataLoader[Any]) -> list[Any]:
    """The parts of a batch that a criterion may compare outputs with, made up: those after the first, or the one of such a name."""
    blank = blank_like(loader.collate_fn([loader.dataset[0]]))
    if isinstance(blank, Mapping):
        found = [blank[name] for name in TARGETS if name in blank]
        if len(found) == 1:
            return found
        remedy = f"batches have {len(found) or 'no'} parts named {', '.join(TARGETS[:-1])} or {TARGETS[-1]}, where one is the target"
    elif isinstance(blank, (list, tuple)) and len(blank) > 1:
        return list(blank[1:])
    else:
        remedy = "batches have no part after the first"
    raise conflict("criterion", "given", f"{remedy}, so it cannot be checked: leave it out")


def _settled(request: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key not in ("record", "resume", "premise")}
