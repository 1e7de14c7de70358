"""What audits find."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context as Decimals
from pathlib import Path
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._core import Certificate, Result, finite, number, percent, worded
from ..errors import AuditError, InvalidValueError, RequestError
from .arrays import Bools, out_folder
from .files import PathLike, refusal
from .reports import Report, report_of, report_place


class Estimate(Result):
    """A measured number with an interval that covers the true one with the stated ``confidence``."""

    _title: ClassVar[str] = "Estimate"

    def __float__(self) -> float:
        return float(self._data["value"])

    def __repr__(self) -> str:
        own = self._data
        return (
            f"{number(own['value'])} ({down(own['lower'])} to {up(own['upper'])}, "
            f"{percent(own['confidence'])} confidence)"
        )


class EpsilonLower(Result):
    """A lower bound on ε: under the ``premise``, a claim of a smaller ε is false, at the ``confidence``.

    The confidence is that of **one run, chosen beforehand**. The bound uses random splits of its own, so it
    differs from call to call on the same scores: repeating the call and keeping the largest bound voids the
    confidence.
    """

    _title: ClassVar[str] = "Lower bound on epsilon"

    def __float__(self) -> float:
        return float(self._data["value"])

    def __str__(self) -> str:
        own = self._data
        unit = "" if own["unit"] == "unknown" else f" for each {own['unit']}"
        return (
            f"ε ≥ {down(own['value'])} at δ = {number(own['delta'])}{unit} "
            f"({percent(own['confidence'])} confidence, {own['method']})"
        )


class Comparison(Result):
    """What a certificate and a lower bound say together.

    ``upper`` is what the certificate allows for the audit's unit, neighboring relation and δ, by ``theorem``;
    ``contradiction`` is whether the audit proves more. If no theorem leads from one to the other, these are
    ``None`` and ``why`` says why.
    """

    _title: ClassVar[str] = "Certificate and audit"

    def __str__(self) -> str:
        own = self._data
        if own["upper"] is None:
            return f"not compared: {own['why']}"
        verdict = "the lower bound contradicts it" if own["contradiction"] else "not contradicted"
        return f"ε ≤ {up(own['upper'])} ({verdict})"


class AttackResult(Result):
    """What one attack achieved."""

    _title: ClassVar[str] = "Attack"

    @property
    def auc(self) -> Estimate:
        """The area under the ROC curve; 0.5 is guessing."""
        return Estimate(self._data["performance"]["auc"])

    @property
    def epsilon_lower(self) -> EpsilonLower | None:
        """What the attack proves about ε; ``None`` if nothing follows."""
        bound = self._data["epsilon_lower"]
        return None if bound is None else EpsilonLower(bound)

    @property
    def roc(self) -> NDArray[np.float64]:
        """Corners of the ROC curve: false-positive rates and true-positive rates."""
        return np.array(self._data["performance"]["roc"], dtype=np.float64).reshape(-1, 2)

    def tpr_at(self, fpr: float) -> Estimate | None:
        """The true-positive rate at a false-positive rate; ``None`` where the records are too few."""
        rates = self._data["performance"]["rates"]
        for rate in rates:
            if _is_close(rate["fpr"], fpr):
                return None if rate["tpr"] is None else Estimate(rate["tpr"])
        known = ", ".join(number(rate["fpr"]) for rate in rates)
        raise refusal(InvalidValueError, "R201", "fpr", fpr, f"not measured: give one of {known}")

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("name", str(self.name)), ("about", str(self.about)), ("AUC", repr(self.auc)), *_rates(self)]
        if self.epsilon_lower is not None:
            rows.append(("lower bound", str(self.epsilon_lower)))
        return rows


class ObservedRounds(Result):
    """How well the learned ``attack`` tells members from non-members after seeing the models of ``rounds``.

    It is judged by ``records`` whose membership it did not know, half of them members.
    """

    _title: ClassVar[str] = "Observed rounds"

    @property
    def accuracy(self) -> Estimate:
        """The share of records that it was right about; 0.5 is guessing."""
        return Estimate(self._data["accuracy"])

    @property
    def auc(self) -> Estimate:
        """The area under the ROC curve; 0.5 is guessing."""
        return Estimate(self._data["auc"])

    def _rows(self) -> list[tuple[str, str]]:
        rounds = ", ".join(str(number) for number in self.rounds)
        return [("rounds", rounds), ("accuracy", repr(self.accuracy)), ("AUC", repr(self.auc))]


class Trajectory(Result):
    """How ``what`` develops over ``at``, a list of ``unit`` numbers.

    ``lines`` are dictionaries with ``label``, ``value``, ``lower`` and ``upper``, the ends of the intervals.
    """

    _title: ClassVar[str] = "Trajectory"

    def _rows(self) -> list[tuple[str, str]]:
        ends = [(str(line["label"]), f"{line['value'][-1]:.3f} at the end") for line in self.lines]
        return [("about", str(self.about)), *ends]


class AccessResult(Result):
    """The strongest ``attack`` of an attacker who sees ``access`` of the model, chosen without the target.

    ``access`` is ``"predictions"``, ``"activations"``, ``"gradients"`` or ``"snapshots"``; each level includes
    those before it.
    """

    _title: ClassVar[str] = "By access"

    @property
    def auc(self) -> Estimate:
        """The area under the ROC curve; 0.5 is guessing."""
        return Estimate(self._data["performance"]["auc"])

    @property
    def balanced_accuracy(self) -> Estimate:
        """The best mean of true-positive and true-negative rate over all thresholds."""
        return Estimate(self._data["performance"]["balanced_accuracy"])

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("access", str(self.access)), ("attack", str(self.attack)), ("AUC", repr(self.auc))]
        return [*rows, ("balanced accuracy", repr(self.balanced_accuracy)), ("chosen", str(self.chosen))]


class AuthorPage(Result):
    """What may be shared about one author; the name is a pseudonym."""

    _title: ClassVar[str] = "Author"

    @property
    def accuracy(self) -> Estimate | None:
        """How often a reference model is told to be one with the author or without."""
        found = self._data["accuracy"]
        return None if found is None else Estimate(found)


class AuthorsResult(Result):
    """An audit by author: on whom its figures rest, and who is most at risk."""

    _title: ClassVar[str] = "Authors"

    @property
    def pages(self) -> list[AuthorPage]:
        """The authors most at risk, the worst first."""
        return [AuthorPage(page) for page in self._data["pages"]]


class Audit(Result):
    """What an audit found. The fields are those of the command's ``audit.json``.

    ``headline`` names the attack that ``auc``, :meth:`tpr_at` and ``epsilon_lower`` are about; it is chosen
    without looking at the target. Nothing in these fields says of any record whether it was a member;
    :attr:`worst` and :attr:`member` do.

    >>> from reticent.audit import audit
    >>> found = audit([0.9, 0.8, 0.7, 0.6, 0.3, 0.2], [1, 1, 0, 1, 0, 0])
    >>> found.headline, found.epsilon_lower
    ('given-score', None)
    >>> found.attacks[0].auc.upper > found.auc
    True
    >>> print(found.epsilon_lower_reason)
    it is not declared how members were drawn, and a table cannot show it: ...
    """

    _title: ClassVar[str] = "Audit"
    _context: Context

    def __init__(self, data: Mapping[str, Any], context: Context | None = None) -> None:
        super().__init__({**data, "warnings": [_worded(text) for text in data["warnings"]]})
        object.__setattr__(self, "_context", context or Context())

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self._data, "context": self._context}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", state["data"])
        object.__setattr__(self, "_context", state["context"])

    @property
    def authors(self) -> AuthorsResult | None:
        """On whom an audit by author rests; ``None`` if every row is a record."""
        found = self._data.get("authors")
        return None if found is None else AuthorsResult(found)

    @property
    def observed(self) -> list[ObservedRounds]:
        """What an observer of parties that train together learns from which rounds."""
        return [ObservedRounds(row) for row in self._data.get("observed") or []]

    @property
    def trajectories(self) -> list[Trajectory]:
        """How losses, and what the honest side sees, develop under an active attacker."""
        return [Trajectory(row) for row in self._data.get("trajectories") or []]

    @property
    def attacks(self) -> list[AttackResult]:
        """All attacks that were run."""
        return [AttackResult(attack) for attack in self._data["attacks"]]

    def attack(self, name: str | None = None) -> AttackResult:
        """An attack by its name; the headline's if none is given."""
        wanted = self._data["headline"] if name is None else name
        for found in self.attacks:
            if isinstance(wanted, str) and found.name == wanted:
                return found
        known = ", ".join(found.name for found in self.attacks)
        raise refusal(InvalidValueError, "R203", "name", name, f"not run: give one of {known}")

    @property
    def by_access(self) -> list[AccessResult]:
        """The strongest attack by what the attacker sees; empty where attacks saw only predictions."""
        performance = {attack["name"]: attack["performance"] for attack in self._data["attacks"]}
        found = self._data.get("by_access") or []
        return [AccessResult({**row, "performance": performance[row["attack"]]}) for row in found]

    @property
    def epsilon_lower(self) -> EpsilonLower | None:
        """The headline attack's lower bound on ε; ``None`` if none follows: :attr:`epsilon_lower_reason`.

        It is valid at its confidence for one run chosen beforehand, not for the largest of several.
        """
        bound = self._data["epsilon_lower"]
        return None if bound is None else EpsilonLower(bound)

    @property
    def epsilon_lower_reason(self) -> str | None:
        """Why there is no lower bound on ε; ``None`` if there is one."""
        if self._data["epsilon_lower"] is not None:
            return None
        start = "no bound on epsilon: "
        for text in self._data["warnings"]:
            if text.startswith(start):
                return str(text).removeprefix(start)
        return "no bound was asked for, or the headline attack supports none"

    @property
    def comparison(self) -> Comparison | None:
        """What the certificate and the lower bound say together; ``None`` unless there are both."""
        return self._context.comparison

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the audited model, if it is one of this package and private."""
        return self._context.certificate

    @property
    def out(self) -> Path | None:
        """The folder that the audit was written to."""
        return self._context.out

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The records most at risk, by id and with whether they were members: for the auditor only."""
        records = self._context.private.get("records") or {}
        return list(records.get("worst") or [])

    @property
    def member(self) -> Bools | None:
        """Who was in the training data, for the auditor only; ``None`` for files and stored models."""
        member = self._context.member
        return None if member is None else member.copy()

    def tpr_at(self, fpr: float) -> Estimate | None:
        """The headline attack's true-positive rate at a false-positive rate; ``None`` if not measurable."""
        return self.attack().tpr_at(fpr)

    @overload
    def plot(self, ax: None = None) -> str: ...

    @overload
    def plot(self, ax: Any) -> Any: ...

    def plot(self, ax: Any = None) -> Any:
        """The ROC curves: an SVG, or drawn into ``ax`` (Matplotlib), which is then returned.

        The curve of the headline attack is drawn on top and thickest.
        """
        headline = self._data["headline"]
        others = [attack for attack in self._data["attacks"] if attack["name"] != headline]
        first = [attack for attack in self._data["attacks"] if attack["name"] == headline]
        if ax is None:
            drawn = _native.roc(json.dumps({**self._data, "attacks": [*first, *others]}))
            return _emphasised(drawn, headline)
        for place, attack in enumerate(map(AttackResult, [*first, *others])):
            false, true = attack.roc.T
            # The first of ten colours is the headline's alone.
            style: dict[str, Any] = {"color": f"C{place and 1 + (place - 1) % 9}"}
            style["linestyle"] = "-" if place < 10 else "--"
            style |= {"linewidth": 2.5, "zorder": 3} if attack.name == headline else {"linewidth": 0.9}
            ax.plot(false, true, label=f"{attack.name} (AUC {number(float(attack.auc), 3)})", **style)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="guessing")
        ax.set(xlabel="false-positive rate", ylabel="true-positive rate", xlim=(0, 1), ylim=(0, 1))
        ax.legend(loc="lower right", fontsize="small")
        return ax

    def report(
        self,
        path: PathLike | None = None,
        *,
        declared: Mapping[str, Any] | PathLike | None = None,
        certificate: Certificate | PathLike | None = None,
        pictures: bool = False,
        compare: Iterable[PathLike] = (),
    ) -> Report:
        """The audit as one page for a data-protection assessment, saved to ``path`` if one is given.

        ``path`` ends in ``.html`` or ``.json``, or is a folder for both; other endings are refused.
        ``declared`` has facts that the data do not contain, as a mapping or a TOML file: ``title``,
        ``model``, ``purpose``, ``release``, ``prior``, ``subjects``, ``records_per_subject``,
        ``sensitivity``, ``author``, ``contact``, ``notes``.
        ``certificate`` is set beside the lower bound; by default the model's own.
        ``pictures`` declares that training records which :func:`reconstruct` recovered may be shown to every
        reader: the page shows them.
        ``compare`` names folders of other audited models, for an audit that is stored in a folder: the page
        shows accuracy against leakage, one curve per defence, compared where the curves overlap.
        """
        if path is not None:
            report_place(path)
        own = None if self.out is None or not self._is_in(self.out) else self.out
        beside = self.certificate if certificate is None else certificate
        if not isinstance(pictures, bool):
            raise refusal(InvalidValueError, "R202", "pictures", pictures, "give True or False")
        others = _folders(compare)
        made = report_of(self._data, own, declared, beside, pictures, others)
        if path is not None:
            made.save(path)
        return made

    def _is_in(self, folder: Path) -> bool:
        """Whether a folder still holds this audit."""
        try:
            return load(folder) == self
        except AuditError:
            return False

    def _rows(self) -> list[tuple[str, str]]:
        own = self.attack()
        performance = own.performance
        unit = {"user": "users", "record": "records"}.get(performance["unit"], "rows")
        rows = [
            ("headline attack", f"{own.name}: {own.about}"),
            (unit, f"{performance['members']} members, {performance['non_members']} non-members"),
            ("AUC", repr(own.auc)),
            *_rates(own),
            ("lower bound", str(self.epsilon_lower or f"none: {self.epsilon_lower_reason}")),
        ]
        if self.comparison is not None:
            rows.append(("certificate", str(self.comparison)))
        others = [attack for attack in self.attacks if attack.name != own.name]
        if others:
            shown = [f"{attack.name} {number(float(attack.auc), 3)}" for attack in others]
            rows.append(("AUC of others", ", ".join(shown)))
        if self.out is not None:
            rows.append(("folder", str(self.out)))
        hidden = "no bound on epsilon: "
        rows += [("note", text) for text in self.warnings if not text.startswith(hidden)]
        return rows

    def _repr_html_(self) -> str:
        return f"<div>{super()._repr_html_()}{self.plot()}</div>"


def _emphasised(svg: str, name: str) -> str:
    """ROC curves with one as a thick line and all others as thin ones."""
    curve = r'stroke="#[0-9a-f]{6}" stroke-width="2.25"(?: stroke-dasharray="[0-9 ]+")?/>'
    # Its style is known from the legend: no other curve has the same colour and the same dashes.
    style = re.search(rf"({curve})\s*<text [^>]*>{re.escape(name)}</text>", svg)

    def weighed(found: re.Match[str]) -> str:
        is_thick = style is not None and found.group() == style[1]
        return found.group().replace("2.25", "3.5" if is_thick else "1.25")

    return svg if style is None else re.sub(curve, weighed, svg)


@dataclass(frozen=True)
class Context:
    """What an audit is about besides its findings."""

    comparison: Comparison | None = None
    certificate: Certificate | None = None
    out: Path | None = None
    private: Mapping[str, Any] = field(default_factory=dict)
    member: Bools | None = None


def _rates(attack: AttackResult) -> list[tuple[str, str]]:
    """The measured true-positive rates, the lowest false-positive rate last."""
    measured = [rate for rate in attack.performance["rates"] if rate["tpr"] is not None]
    return [
        (f"TPR at {number(100 * rate['fpr'])} % FPR", repr(Estimate(rate["tpr"])))
        for rate in sorted(measured, key=lambda rate: -rate["fpr"])
    ]


def down(value: float, digits: int = 4) -> str:
    """A lower bound for people: rounded down."""
    return _rounded(value, digits, ROUND_FLOOR)


def up(value: float, digits: int = 4) -> str:
    """An upper bound for people: rounded up."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if not np.isfinite(value):
        return str(value)
    exact = Decimals(prec=digits, rounding=rounding).create_decimal(repr(float(value))).normalize()
    is_plain = exact == 0 or -4 <= exact.adjusted() <= 14
    return format(exact, "f") if is_plain else format(exact, "e")


def _is_close(a: float, b: object) -> bool:
    finite(fpr=b)  # type: ignore[arg-type]
    return abs(a - float(b)) <= 1e-9 * a  # type: ignore[arg-type]


def _worded(text: str) -> str:
    """A message with arguments instead of flags."""
    text = worded(text).replace("'reticent attack canary'", "`audit_canaries`")
    text = text.replace("--drawn P", "`drawn=P`").replace("`inclusion` probability", "probability as `drawn`")
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: f"`{flag[1].replace('-', '_')}`", text)


def load(folder: PathLike) -> Audit:
    """An audit that was written to a folder (``out=``), by this package or by the command."""
    place = out_folder(folder, "folder")
    remedy = "no audit can be read there: give the folder that an audit was written to"
    if place is None:
        raise refusal(RequestError, "R104", "folder", "None", remedy)
    try:
        data = json.loads((place / "audit.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refusal(AuditError, "R604", "folder", str(folder), remedy) from error
    if not isinstance(data, dict) or not str(data.get("schema", "")).startswith("reticent-audit/"):
        raise refusal(AuditError, "R604", "folder", str(folder), "audit.json is not the findings of an audit")
    data.pop("model", None)
    return Audit(data, Context(out=place, private=private_of(place)))


def private_of(folder: Path) -> dict[str, Any]:
    """The records most at risk."""
    try:
        found: dict[str, Any] = json.loads((folder / "private.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _folders(compare: Iterable[PathLike]) -> list[Path]:
    """The folders of other audited models."""
    is_one = isinstance(compare, (str, bytes)) or not isinstance(compare, Iterable)
    given: list[Any] = [compare] if is_one else list(compare)
    places = [out_folder(place, "compare") for place in given]
    return [place for place in places if place is not None]
