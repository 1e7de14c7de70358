//! Errors about values.

use super::Explanation;

pub(super) const RANGE: Explanation = Explanation {
    title: "a value outside its range",
    cause: "The number, count or text has no meaning for its flag: a probability above 1, a count of 0, an \
            empty name.",
    remedy: "Give a value in the range that the message states.",
};

pub(super) const NOT_A_NUMBER: Explanation = Explanation {
    title: "text instead of a number",
    cause: "The flag takes a number, and its value cannot be read as one.",
    remedy: "Give a number such as 1, 0.5 or 1e-6, with a point and without separators between thousands.",
};

pub(super) const UNKNOWN_NAME: Explanation = Explanation {
    title: "an unknown name",
    cause: "The flag chooses among names, such as mechanisms, methods, accountants, models or attacks, and \
            this is not one of them.",
    remedy: "Choose one of those that the message lists.",
};

pub(super) const BOUNDS: Explanation = Explanation {
    title: "invalid bounds",
    cause: "Public bounds are two different finite numbers, the lower one first. They may also be too close \
            together or too large for the question.",
    remedy: "Give the lower bound first, such as --bounds 17,90. Bounds come from public knowledge, never \
             from the data.",
};

pub(super) const LIST: Explanation = Explanation {
    title: "a list that cannot be used",
    cause: "The list has too few or too many items, an empty one, one twice, or items out of order.",
    remedy: "Write the items with single commas between; quote an item that has a comma itself.",
};

pub(super) const FILTER: Explanation = Explanation {
    title: "a filter or a derived column that cannot be read",
    cause: "--where takes conditions joined by and, or, not, such as age>=18, sex='Male', carrier in (AA, UA), \
            date between 2013-05-01 and 2013-05-31, age is missing, or arithmetic: arr_delay - dep_delay > 15. --derive \
            takes a name, an expression and public bounds: 'bmi = weight / (height*height) in 10,60'. Names and declared \
            types of columns must fit.",
    remedy: "Write every comparison in full. Put a value that has signs, and, or, not into quotes ('Trinidad and Tobago'), \
             and a column that has them, or that stands on the right of =, into backquotes (`net/gross`).",
};

pub(super) const USELESS: Explanation = Explanation {
    title: "an epsilon that protects nobody, or whose answer is all noise",
    cause: "Above epsilon 50 a release is practically unprotected; far below the least useful value an answer \
            would be noise alone, and its budget lost.",
    remedy: "Give an epsilon between the limits that the message states. With --error, allow a larger error.",
};
