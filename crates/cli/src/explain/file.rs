//! Errors about files and tables.

use super::{Example, Explanation};

pub(super) const NOT_FOUND: Explanation = Explanation {
    title: "no such file",
    cause: "The path names nothing. Relative paths start at the current folder; paths in a run.toml start at \
            its folder.",
    remedy: "Check the spelling and the folder.",
    example: Some(Example {
        files: &[],
        wrong: "reticent release count peple.csv --epsilon 1",
        mended: "reticent release count people.csv --epsilon 1",
    }),
};

pub(super) const UNREADABLE: Explanation = Explanation {
    title: "a file that cannot be read",
    cause: "The operating system refused to read the file, or the file changed while it was being read.",
    remedy: "Check that it is a file and that you may read it, then run the command again.",
    example: Some(Example {
        files: &[],
        wrong: "reticent report audits --certificate audits",
        mended: "reticent report audits --certificate model/certificate.json",
    }),
};

pub(super) const UNWRITABLE: Explanation = Explanation {
    title: "a file or folder that cannot be written",
    cause: "The output cannot go there: its folder is not there, its name ends otherwise than its format, or \
            the operating system refused.",
    remedy: "Make the folder first, use the ending that the message names, or write elsewhere.",
    example: Some(Example {
        files: &[],
        wrong: "reticent schema infer people.csv --out drafts/draft.toml",
        mended: "reticent schema infer people.csv --out draft.toml",
    }),
};

pub(super) const TAKEN: Explanation = Explanation {
    title: "a place for output that something else has",
    cause: "There is a file or folder of that name already, and this command does not replace it.",
    remedy: "Give another name; --force replaces a file where the command has that flag, --resume goes on \
             with a run.",
    example: Some(Example {
        files: &[],
        wrong: "reticent schema infer people.csv --out schema.toml",
        mended: "reticent schema infer people.csv --out another.toml",
    }),
};

pub(super) const FORMAT: Explanation = Explanation {
    title: "a file of another format, or a broken one",
    cause: "The file is not what its name says, is empty or incomplete, or has a format or compression that \
            is not read. Tables are .csv files with a header line in UTF-8, or .parquet files.",
    remedy: "Convert the file, or write it again.",
    example: Some(Example {
        files: &[("people.txt", "age,sex\n30,F\n")],
        wrong: "reticent release count people.txt --epsilon 1",
        mended: "reticent release count people.csv --epsilon 1",
    }),
};

pub(super) const COLUMN: Explanation = Explanation {
    title: "a column that is not there, or there twice",
    cause: "The table has no column of that name, or two of the same name. Names are compared letter by \
            letter.",
    remedy: "Use one of the names that the message lists; quote a name that has spaces.",
    example: Some(Example {
        files: &[],
        wrong: "reticent release mean people.csv --column agee --bounds 17,90 --epsilon 1",
        mended: "reticent release mean people.csv --column age --bounds 17,90 --epsilon 1",
    }),
};

pub(super) const ROW: Explanation = Explanation {
    title: "a row or a cell that does not fit",
    cause: "A row has another number of fields than the header, a quote is not closed or has text after it, or a table that \
            nobody is protected in (scores, randomized answers) holds a cell that cannot be used. A cell of private data is \
            never an error.",
    remedy: "Fix the line. Rows are counted from 1 without the header, lines from 1 with it. A quote inside a quoted field is \
             written twice.",
    example: Some(Example {
        files: &[("ragged.csv", "age,sex\n30,F\n41,M,x\n")],
        wrong: "reticent release count ragged.csv --epsilon 1",
        mended: "reticent release count people.csv --epsilon 1",
    }),
};

pub(super) const NO_ROWS: Explanation = Explanation {
    title: "a table without rows",
    cause: "The table has a header and nothing else, where the command needs data.",
    remedy: "Give a table with rows.",
    example: Some(Example {
        files: &[("empty.csv", "age,sex,income\n")],
        wrong: "reticent release estimate empty.csv --column sex --categories F,M --epsilon 1",
        mended: "reticent release estimate people.csv --column sex --categories F,M --epsilon 1",
    }),
};

pub(super) const TYPE: Explanation = Explanation {
    title: "a column of a type that does not fit",
    cause: "A Parquet column holds dates, lists or other values that are neither numbers, text nor true and \
            false, or it holds true and false where the schema gives bounds.",
    remedy: "Convert the column to numbers or text, or declare categories = [\"false\", \"true\"].",
    example: Some(Example {
        files: &[(
            "flags.toml",
            "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nmember = { bounds = [0, 1] }\n",
        )],
        wrong: "reticent train flags.parquet --schema flags.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const DATASET: Explanation = Explanation {
    title: "a dataset that is not there",
    cause: "A name that is no file is looked up as a dataset in the folder that --data-dir or RETICENT_DATA \
            names, and there is none of that name, or no images in it.",
    remedy: "Set --data-dir, correct the name, or give the path of a table.",
    example: Some(Example {
        files: &[],
        wrong: "reticent train mnist --data-dir . --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const TOML_SYNTAX: Explanation = Explanation {
    title: "text that is not TOML",
    cause: "The file breaks a rule of TOML: text without quotes, a key twice, a bracket that is not closed. \
            The message shows the line.",
    remedy: "Correct the line. Text stands in double quotes, lists in square brackets.",
    example: Some(Example {
        files: &[("unquoted.toml", "unit = row\n\n[columns]\nage = { bounds = [17, 90] }\n")],
        wrong: "reticent train people.csv --schema unquoted.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const TOML_VALUE: Explanation = Explanation {
    title: "a value in a TOML file that means nothing",
    cause: "The file is TOML, but a value has the wrong type, is outside its range or contradicts another \
            one, or a key that must be there is missing. The message shows the line.",
    remedy: "Correct the value as the message says.",
    example: Some(Example {
        files: &[(
            "reversed.toml",
            "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nage = { bounds = [90, 17] }\n",
        )],
        wrong: "reticent train people.csv --schema reversed.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const TOML_KEY: Explanation = Explanation {
    title: "a key in a TOML file that means nothing",
    cause: "A key is misspelt or stands in the wrong table. Unknown keys are refused, since a misspelt \
            setting would silently have its default.",
    remedy: "Use one of the keys that the message lists; keys of a run.toml are the flags of 'reticent train' \
             without their dashes.",
    example: Some(Example {
        files: &[(
            "misspelt.toml",
            "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositve = \">50K\"\n\n[columns]\nage = { bounds = [17, 90] }\n",
        )],
        wrong: "reticent train people.csv --schema misspelt.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const JSON: Explanation = Explanation {
    title: "a file of events or a certificate that cannot be read",
    cause: "The JSON is broken, or it names an event or a field that is not known, or lacks what the question \
            needs.",
    remedy: "Correct the place that the message names; 'reticent account --help' shows the events.",
    example: Some(Example {
        files: &[
            (
                "misspelt.json",
                "{\"neighboring\": \"add-remove\", \"events\": [{\"gausian\": {\"noise_multiplier\": 1}}]}\n",
            ),
            (
                "events.json",
                "{\"neighboring\": \"add-remove\", \"events\": [{\"gaussian\": {\"noise_multiplier\": 1}}]}\n",
            ),
        ],
        wrong: "reticent account epsilon --events misspelt.json --delta 1e-6",
        mended: "reticent account epsilon --events events.json --delta 1e-6",
    }),
};

pub(super) const SCHEMA: Explanation = Explanation {
    title: "a schema that does not do for what is asked",
    cause: "The schema is sound, but training needs something that it does not say, such as a label or a \
            feature, or it was learnt for another unit.",
    remedy: "Add what the message names.",
    example: Some(Example {
        files: &[("unlabelled.toml", "unit = \"row\"\n\n[columns]\nage = { bounds = [17, 90] }\n")],
        wrong: "reticent train people.csv --schema unlabelled.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const VOCABULARY: Explanation = Explanation {
    title: "a vocabulary that is none",
    cause: "A vocabulary is a public file of UTF-8 text with one token per line, each once.",
    remedy: "Correct the line that the message names. A vocabulary made from the private texts would tell \
             their words.",
    example: Some(Example {
        files: &[
            ("texts.csv", "text,label\nhello you,ham\nbuy now,spam\nhello now,ham\nbuy you,spam\n"),
            ("twice.txt", "hello\nhello\n"),
            ("words.txt", "hello\nyou\nbuy\nnow\n"),
        ],
        wrong: "reticent train texts.csv --text-column text --vocabulary twice.txt --label label --classes \
                ham,spam --model lstm-text --non-private --steps 1 --out texts",
        mended: "reticent train texts.csv --text-column text --vocabulary words.txt --label label --classes \
                 ham,spam --model lstm-text --non-private --steps 1 --out texts",
    }),
};

pub(super) const TOO_LARGE: Explanation = Explanation {
    title: "a file that is too large",
    cause: "The file, or what it unpacks to, is larger than any such file should be. The limit keeps a broken \
            file from filling the memory.",
    remedy: "Check that it is the right file, or split it.",
    example: Some(Example {
        files: &[],
        wrong: "reticent train people.csv --schema large.toml --epsilon 1",
        mended: "reticent train people.csv --schema schema.toml --epsilon 1",
    }),
};

pub(super) const LAYER: Explanation = Explanation {
    title: "a layer that does not fit, or has no private gradient",
    cause: "A layer of a network cannot read what the one before it yields, has a setting outside its range, \
            or mixes the examples of a batch, so that no example has a gradient of its own to clip.",
    remedy: "Change the layer that the message names; layers are counted from 0. Use group-norm or layer-norm \
             in place of batch-norm.",
    example: Some(Example {
        files: &[
            (
                "mixing.toml",
                "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 8\n\n[[layer]]\nkind = \"batch-norm\"\n\n[[layer]]\nkind = \"linear\"\nout = 2\n",
            ),
            (
                "fitting.toml",
                "input = [6]\n\n[[layer]]\nkind = \"linear\"\nout = 8\n\n[[layer]]\nkind = \"layer-norm\"\n\n[[layer]]\nkind = \"linear\"\nout = 2\n",
            ),
        ],
        wrong: "reticent train people.csv --schema schema.toml --model mixing.toml --non-private --steps 1 \
                --out mixed",
        mended: "reticent train people.csv --schema schema.toml --model fitting.toml --non-private --steps 1 \
                 --out fitted",
    }),
};
