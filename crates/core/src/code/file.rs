//! Errors about files and tables.

use super::Explanation;

pub(super) const NOT_FOUND: Explanation = Explanation {
    title: "no such file",
    cause: "The path names nothing. Relative paths start at the current folder; paths in a run.toml start at \
            its folder.",
    remedy: "Check the spelling and the folder.",
};

pub(super) const UNREADABLE: Explanation = Explanation {
    title: "a file that cannot be read",
    cause: "The operating system refused to read the file, or the file changed while it was being read.",
    remedy: "Check that it is a file and that you may read it, then run the command again.",
};

pub(super) const UNWRITABLE: Explanation = Explanation {
    title: "a file or folder that cannot be written",
    cause: "The output cannot go there: its folder is not there, its name ends otherwise than its format, or \
            the operating system refused.",
    remedy: "Make the folder first, use the ending that the message names, or write elsewhere.",
};

pub(super) const TAKEN: Explanation = Explanation {
    title: "the output exists already",
    cause: "There is a file or folder of that name already, and this command does not replace it.",
    remedy: "Give another name; --force replaces a file where the command has that flag, --resume goes on \
             with a run.",
};

pub(super) const FORMAT: Explanation = Explanation {
    title: "a file of another format, or a broken one",
    cause: "The file is not what its name says, is empty or incomplete, or has a format or compression that \
            is not read. Tables are CSV files with a header line, Parquet files or Arrow files; --encoding, --separator and \
            --format say what a file does not tell.",
    remedy: "Convert the file, or write it again.",
};

pub(super) const COLUMN: Explanation = Explanation {
    title: "a column that is not there, or there twice",
    cause: "The table has no column of that name, or two of the same name. Names are compared letter by \
            letter.",
    remedy: "Use one of the names that the message lists; quote a name that has spaces.",
};

pub(super) const ROW: Explanation = Explanation {
    title: "a row or a cell that does not fit",
    cause: "A row has another number of fields than the header, a quote is not closed or has text after it, or a table that \
            nobody is protected in (scores, randomized answers) holds a cell that cannot be used. A cell of private data is \
            never an error.",
    remedy: "Fix the line. Rows are counted from 1 without the header, lines from 1 with it. A quote inside a quoted field is \
             written twice.",
};

pub(super) const NO_ROWS: Explanation = Explanation {
    title: "a table without rows",
    cause: "The table has a header and nothing else, where the command needs data.",
    remedy: "Give a table with rows.",
};

pub(super) const TYPE: Explanation = Explanation {
    title: "a column of a type that does not fit",
    cause: "A Parquet column holds lists, decimals or other values that are neither numbers, text, dates nor true and \
            false, or it holds true and false where the schema gives bounds.",
    remedy: "Convert the column to numbers or text, or declare categories = [\"false\", \"true\"].",
};

pub(super) const DATASET: Explanation = Explanation {
    title: "a dataset that is not there",
    cause: "A name that is not a file is looked up as a dataset in the folder that --data-dir or RETICENT_DATA \
            names. There is no dataset of that name, or it has no images.",
    remedy: "Set --data-dir, correct the name, or give the path of a table.",
};

pub(super) const TOML_SYNTAX: Explanation = Explanation {
    title: "text that is not TOML",
    cause: "The file breaks a rule of TOML: text without quotes, a key twice, a bracket that is not closed. \
            The message shows the line.",
    remedy: "Correct the line. Text stands in double quotes, lists in square brackets.",
};

pub(super) const TOML_VALUE: Explanation = Explanation {
    title: "a value in a TOML file that means nothing",
    cause: "The file is TOML, but a value has the wrong type, is outside its range or contradicts another \
            one, or a key that must be there is missing. The message shows the line.",
    remedy: "Correct the value as the message says.",
};

pub(super) const TOML_KEY: Explanation = Explanation {
    title: "a key in a TOML file that means nothing",
    cause: "A key is misspelt or stands in the wrong table. Unknown keys are refused, since a misspelt \
            setting would silently have its default.",
    remedy: "Use one of the keys that the message lists; keys of a run.toml are the flags of 'reticent train' \
             without their dashes.",
};

pub(super) const JSON: Explanation = Explanation {
    title: "a file of events or a certificate that cannot be read",
    cause: "The JSON is broken, or it names an event or a field that is not known, or lacks what the question \
            needs.",
    remedy: "Correct the place that the message names; 'reticent account --help' shows the events.",
};

pub(super) const SCHEMA: Explanation = Explanation {
    title: "a schema that lacks something",
    cause: "The schema is sound, but training needs something that it does not say, such as a label or a \
            feature, or it was learnt for another unit.",
    remedy: "Add what the message names.",
};

pub(super) const VOCABULARY: Explanation = Explanation {
    title: "invalid vocabulary",
    cause: "A vocabulary is a public file of UTF-8 text with one token per line, each once.",
    remedy: "Correct the line that the message names. A vocabulary made from the private texts would reveal \
             their words.",
};

pub(super) const TOO_LARGE: Explanation = Explanation {
    title: "a file that is too large",
    cause: "The file, or what it unpacks to, is larger than any such file should be. The limit keeps a broken \
            file from filling the memory.",
    remedy: "Check that it is the right file, or split it.",
};

pub(super) const LAYER: Explanation = Explanation {
    title: "a layer that does not fit, or has no private gradient",
    cause: "A layer of a network cannot read what the one before it yields, has a setting outside its range, \
            or mixes the examples of a batch, so no example has a gradient of its own to clip.",
    remedy: "Change the layer that the message names; layers are counted from 0. Use group-norm or layer-norm \
             in place of batch-norm.",
};
