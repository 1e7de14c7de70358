//! Errors about the command line.

use super::Explanation;

pub(super) const UNKNOWN_WORD: Explanation = Explanation {
    title: "an unknown flag or command",
    cause: "A word on the command line is not a known flag, command or value. Often it is misspelt, or it belongs \
            to another command.",
    remedy: "Correct the word; the message names the nearest one where there is one. 'reticent COMMAND \
             --help' lists all flags of a command.",
};

pub(super) const MISSING: Explanation = Explanation {
    title: "a required flag is missing",
    cause: "The command cannot do without this flag or argument, or another flag makes it necessary: Gaussian \
            noise needs --delta, for instance.",
    remedy: "Add what the message names. Nothing that decides about privacy has a silent default.",
};

pub(super) const CONFLICT: Explanation = Explanation {
    title: "flags that do not go together",
    cause: "A flag contradicts another one, says what another one says already, or has no meaning for this \
            method or these data.",
    remedy: "Leave one of the two out, as the message says.",
};

pub(super) const WORDS: Explanation = Explanation {
    title: "a flag without its value",
    cause: "A flag that needs a value has none, or has more than one, or a word is not text.",
    remedy: "Write the value behind the flag. A value with spaces is put in quotes.",
};

pub(super) const UNEXPLAINED: Explanation = Explanation {
    title: "no error has that code",
    cause: "'reticent explain' was asked about a code that no error has.",
    remedy: "Copy the code from the error, or list all codes with 'reticent explain'.",
};
