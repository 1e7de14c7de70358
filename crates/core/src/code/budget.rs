//! Errors about stored budgets.

use super::Explanation;

pub(super) const CLOSED: Explanation = Explanation {
    title: "a budget that is closed or expired",
    cause: "The budget was closed, or its time is over by the later of the clock and its last entry. Nothing \
            more is charged to it.",
    remedy: "Repeat a question that was answered before: its answer is remembered and costs nothing. A new \
             budget for the same people is a second limit beside the first: both costs add up.",
};

pub(super) const ALTERED: Explanation = Explanation {
    title: "a budget whose record was altered",
    cause: "The digests of the record do not follow from each other, or the record is behind what was seen \
            of it before: a row was changed, an older copy was put in its place, or two copies were used.",
    remedy: "Run 'reticent budget verify' to see where, and use the copy with the most entries. If none is \
             whole, treat the budget as spent.",
};

pub(super) const BUSY: Explanation = Explanation {
    title: "a budget that others keep locked",
    cause: "Another process kept the budget locked for longer than a charge waits. Nothing was charged.",
    remedy: "Run the command again. If it is always so, look for a process that hangs with the file open.",
};

pub(super) const SUB_BUDGET: Explanation = Explanation {
    title: "a sub-budget that is missing, or there already",
    cause: "The budget has sub-budgets, and the analyst or the purpose has none or was not named; or one is \
            added that exists. Sub-budgets are set once.",
    remedy: "Name an analyst and a purpose that have a sub-budget, or add one.",
};

pub(super) const OTHER_DATA: Explanation = Explanation {
    title: "data that do not belong to the budget",
    cause: "A budget is about some people and names the files that hold their data. The file of the request is not \
            one of them.",
    remedy: "If it holds data of the same people, add it with 'reticent budget add-data': it shares the budget. \
             Otherwise use the budget of the people whose data it holds.",
};
