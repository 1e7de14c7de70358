"""The questions that events answer."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import _native
from .._refusals import missing, one_of
from .._core import PrivacyWarning, load
from ..errors import ReticentError
from .results import (
    Beliefs,
    Comparison,
    DeltaBounds,
    EpsilonBounds,
    GroupGuarantee,
    OutcomeBounds,
    ReconstructionRates,
    RenyiCurve,
    Statement,
    Tradeoff,
)
from .shown import caution
from .values import ACCOUNTANTS, optional, real, reals, renamed, unit_of, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def asked(
    question: str,
    happened: str | None = None,
    accountant: str | None = None,
    names: Mapping[str, str] | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """The answer to a question about what happened.

    Cautions are shown as warnings at the line that asked, unless it is quiet. ``names`` has the arguments
    that requests call otherwise.
    """
    about = "" if happened is None else f',"happened":{happened}'
    by = "" if accountant is None else f',"accountant":"{one_of("accountant", accountant, ACCOUNTANTS)}"'
    try:
        answer = load(_native.account(f'{{"question":{question}{about}{by}}}'))
    except ReticentError as error:
        if names is None:
            raise
        raise renamed(error, names) from None
    if "warnings" in answer and not quiet:
        for warning in answer["warnings"]:
            warnings.warn(caution(warning), PrivacyWarning, stacklevel=4)
    return answer


def question_of(question: str, **numbers: Any) -> str:
    """A question with the numbers that are given."""
    given = {name: value for name, value in numbers.items() if value is not None}
    return json.dumps({question: given}, separators=(",", ":"))


class Questions:
    """What can be asked about events."""

    __slots__ = ("_happened",)

    #: The part of requests that says what happened, once it is needed.
    _happened: str | None

    def _describe(self) -> str:
        """What happened, as requests say it."""
        raise NotImplementedError

    def _ask(
        self,
        question: str,
        accountant: str | None = None,
        names: Mapping[str, str] | None = None,
        quiet: bool = False,
    ) -> dict[str, Any]:
        happened = self._happened
        if happened is None:
            happened = self._describe()
            object.__setattr__(self, "_happened", happened)
        return asked(question, happened, accountant, names, quiet)

    def epsilon(
        self, delta: float, *, accountant: str | None = None, width: float | None = None
    ) -> EpsilonBounds:
        """Upper and lower bounds on the ε of all events together at this δ.

        ``accountant`` is ``"pld"`` (the tightest, and the default), ``"rdp"``, ``"moments"``,
        ``"optimal"``, ``"advanced"`` or ``"basic"``. ``width`` is how far apart the bounds may be, relative
        to the upper one.

        >>> from reticent.accounting import Gaussian
        >>> epsilon = (Gaussian(1.1).poisson(0.01) * 1000).epsilon(delta=1e-5)
        >>> f"{epsilon:.4f}", epsilon.lower <= epsilon.upper
        ('1.5154', True)
        """
        at = real("delta", delta)
        within = "" if width is None else f',"width":{real("width", width)!r}'
        return EpsilonBounds(self._ask(f'{{"epsilon":{{"delta":{at!r}{within}}}}}', accountant))

    def delta(
        self, epsilon: float, *, accountant: str | None = None, width: float | None = None
    ) -> DeltaBounds:
        """Upper and lower bounds on the δ of all events together at this ε.

        >>> from reticent.accounting import Pure
        >>> Pure(0.5).delta(epsilon=0.5) < 1e-12
        True
        """
        at = real("epsilon", epsilon)
        within = "" if width is None else f',"width":{real("width", width)!r}'
        return DeltaBounds(self._ask(f'{{"delta":{{"epsilon":{at!r}{within}}}}}', accountant))

    def rdp(self, orders: Any = (), *, delta: float | None = None) -> RenyiCurve:
        """Upper bounds on Rényi divergences at ``orders`` from 1 to infinity.

        With ``delta``, also the ε at that δ, at the best order of all.

        >>> from reticent.accounting import Gaussian
        >>> curve = (Gaussian(1.1).poisson(0.01) * 1000).rdp(orders=[2, 32], delta=1e-5)
        >>> len(curve.rdp), curve.epsilon < 2
        (2, True)
        """
        listed: list[Any] = reals("orders", orders, infinite=True)
        listed = ["inf" if order == math.inf else order for order in listed]
        return RenyiCurve(self._ask(question_of("rdp", orders=listed, delta=optional("delta", delta))))

    def tradeoff(self, fpr: Any = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)) -> Tradeoff:
        """What an attacker can achieve at these false-positive rates.

        >>> from reticent.accounting import Pure
        >>> [round(rate, 3) for rate in Pure(1).tradeoff(fpr=[0, 0.1, 1]).fnr]
        [1.0, 0.728, 0.0]
        """
        return Tradeoff(self._ask(question_of("tradeoff", fpr=reals("fpr", fpr))))

    def reconstruction(self, prior: Any = (0.001, 0.01, 0.1)) -> ReconstructionRates:
        """How often any attack can recover a record, or an attribute of it, from the release.

        ``prior`` is the probability that the attack succeeds against a release without the record: what
        public knowledge, the other records and luck give, not the rate of anything in a population. Under
        replace-one it is that against a release with another, independent record in its place.

        >>> from reticent.accounting import Gaussian
        >>> round(Gaussian(1).reconstruction(0.01).success[0], 4)
        0.0924
        """
        return ReconstructionRates(self._ask(question_of("reconstruction", prior=reals("prior", prior))))

    @overload
    def beta(self, alpha: float) -> float: ...
    @overload
    def beta(self, alpha: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]: ...
    def beta(self, alpha: Any) -> Any:
        """The trade-off function: no test of type I error ``alpha`` has a smaller type II error.

        A lower bound.

        A number gives a number, and several give an array.

        >>> from reticent.accounting import Gaussian
        >>> round(Gaussian(1).beta(0.05), 3)
        0.74
        """
        rates = reals("alpha", alpha)
        if not rates:
            raise missing("alpha", "give type I errors from 0 to 1, such as 0.05")
        answer = self._ask(question_of("tradeoff", fpr=rates), names={"fpr": "alpha"})
        if hasattr(alpha, "__len__") and getattr(alpha, "ndim", True):
            import numpy as np

            return np.array(answer["fnr"], dtype=np.float64)
        return answer["fnr"][0]

    def compare(self, delta: float, *, curves: bool = False) -> Comparison:
        """ε by every accountant at this δ; with ``curves``, also ε against the number of steps.

        >>> from reticent.accounting import Laplace
        >>> sorted((Laplace(20) * 100).compare(delta=1e-6).epsilons)
        ['advanced', 'basic', 'moments', 'optimal', 'pld', 'rdp']
        """
        return Comparison(self._ask(question_of("compare", delta=real("delta", delta), curves=bool(curves))))

    def statement(self, delta: float, *, unit: str | None = None, accountant: str | None = None) -> Statement:
        """The paragraph about the guarantee for a paper or a model card.

        ``unit`` is what one unit of protection is, such as ``"patient"``.

        >>> from reticent.accounting import dpsgd
        >>> print(str(dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000).statement(delta=1e-5))[:39])
        Trained with differential privacy: in e
        """
        question = question_of("statement", delta=real("delta", delta), unit=unit_of(unit))
        return Statement(self._ask(question, accountant))

    def group(
        self, size: int, delta: float | None = None, *, accountant: str | None = None
    ) -> GroupGuarantee:
        """The guarantee of ``size`` people, or records of one person, that change together.

        ``delta`` is the δ of the guarantee to the group; events that state a claim do not need it.

        >>> from reticent.accounting import Pure
        >>> Pure(0.1).group(3).epsilon < 0.3001
        True
        """
        question = question_of("group", size=whole("size", size, 1), delta=optional("delta", delta))
        return GroupGuarantee(self._ask(question, accountant))

    def outcome(
        self, probability: float, *, delta: float | None = None, accountant: str | None = None
    ) -> OutcomeBounds:
        """Bounds on the probability of an outcome without a person's record, from that with it.

        >>> from reticent.accounting import Pure
        >>> bounds = Pure(1).outcome(0.05)
        >>> bounds.lower < 0.05 < bounds.upper < 0.14
        True
        """
        given = real("probability", probability)
        question = question_of("outcome", probability=given, delta=optional("delta", delta))
        return OutcomeBounds(self._ask(question, accountant))

    def posterior(
        self, prior: Any, *, delta: float | None = None, orders: Any = (), accountant: str | None = None
    ) -> Beliefs:
        """How far an output can move the belief of somebody who knows everybody else, from each ``prior``.

        ``delta`` is the probability with which the bound may fail; events of bounded loss do not need it.
        ``orders`` ask for means of (posterior odds / prior odds)^(order − 1).

        >>> from reticent.accounting import Pure
        >>> belief = Pure(1).posterior(0.5).claims[0]["beliefs"][0]
        >>> round(belief["upper"], 3)
        0.731
        """
        question = question_of(
            "posterior",
            prior=reals("prior", prior),
            delta=optional("delta", delta),
            orders=reals("orders", orders),
        )
        return Beliefs(self._ask(question, accountant))


def posterior(prior: Any, *, epsilon: Any) -> Beliefs:
    """How far an ε-differentially private output can move a belief about one person.

    There is one claim for each ``epsilon``, with a belief for each ``prior``.

    >>> from reticent.accounting import posterior
    >>> [round(claim["beliefs"][0]["upper"], 3) for claim in posterior(0.5, epsilon=[0.1, 1]).claims]
    [0.525, 0.731]
    """
    question = question_of("posterior", prior=reals("prior", prior), epsilon=reals("epsilon", epsilon))
    return Beliefs(asked(question))
