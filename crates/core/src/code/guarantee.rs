//! Errors about what no guarantee covers.

use super::Explanation;

pub(super) const UNSUPPORTED: Explanation = Explanation {
    title: "an accountant without a valid bound for this event",
    cause: "No theorem that the accountant rests on covers this event under this relation, and a number \
            without a proof is not printed.",
    remedy: "Use another accountant (--accountant), state the events under the other relation, or state the \
             event's own claim as a pure or approximate event.",
};

pub(super) const RELATION: Explanation = Explanation {
    title: "a theorem about other neighbours",
    cause: "The method is proven for data sets that differ in one row's presence (add-remove) or in one row's \
            content (replace-one), and the other relation was asked for.",
    remedy: "Give the other relation with --neighboring, or a method that is proven under this one.",
};

pub(super) const KIND: Explanation = Explanation {
    title: "a method that cannot give this guarantee",
    cause: "The method's theorem does not reach the epsilon and delta asked for, or it gives another kind of \
            guarantee.",
    remedy: "Use another method, such as objective, or another budget.",
};

pub(super) const NOT_CONVERGED: Explanation = Explanation {
    title: "the solver stopped too far from the minimum",
    cause: "The guarantee holds at the minimum up to a known distance, and the solver could not certify that \
            distance. Nothing was released.",
    remedy: "Raise --regularization, or use gradient or sgd, which need no minimum. The message depends on \
             the data: do not publish it.",
};

pub(super) const SPENT: Explanation = Explanation {
    title: "the budget is spent already",
    cause: "Everything that was charged to the budget before and this request together would exceed its limit. For a \
            training: what was counted before, such as the noisy number of rows or the steps of an interrupted run, has \
            used up its epsilon.",
    remedy: "Ask at a smaller epsilon, as the message says, or repeat an earlier question, whose answer is remembered. For \
             a training, give a larger epsilon, declare --dataset-size so nothing needs to be counted, or begin a new run.",
};

pub(super) const UNREACHABLE: Explanation = Explanation {
    title: "nothing stays within the budget",
    cause: "No noise, number of steps or sampling rate that is tried costs as little as the budget \
            allows.",
    remedy: "Give a larger epsilon or delta, more noise or fewer steps.",
};
