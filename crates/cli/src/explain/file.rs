//! Errors about files and tables.

use super::Example;

pub(super) const NOT_FOUND: Example = Example {
    files: &[],
    wrong: "reticent release count peple.csv --epsilon 1",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const UNREADABLE: Example = Example {
    files: &[],
    wrong: "reticent report audits --certificate audits",
    mended: "reticent report audits --certificate model/certificate.json",
};

pub(super) const UNWRITABLE: Example = Example {
    files: &[],
    wrong: "reticent schema infer people.csv --out drafts/draft.toml",
    mended: "reticent schema infer people.csv --out draft.toml",
};

pub(super) const TAKEN: Example = Example {
    files: &[],
    wrong: "reticent schema infer people.csv --out schema.toml",
    mended: "reticent schema infer people.csv --out another.toml",
};

pub(super) const FORMAT: Example = Example {
    files: &[("people.txt", "age,sex\n30,F\n")],
    wrong: "reticent release count people.txt --epsilon 1",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const COLUMN: Example = Example {
    files: &[],
    wrong: "reticent release mean people.csv --column agee --bounds 17,90 --epsilon 1",
    mended: "reticent release mean people.csv --column age --bounds 17,90 --epsilon 1",
};

pub(super) const ROW: Example = Example {
    files: &[("ragged.csv", "age,sex\n30,F\n41,M,x\n")],
    wrong: "reticent release count ragged.csv --epsilon 1",
    mended: "reticent release count people.csv --epsilon 1",
};

pub(super) const NO_ROWS: Example = Example {
    files: &[("empty.csv", "age,sex,income\n")],
    wrong: "reticent release estimate empty.csv --column sex --categories F,M --epsilon 1",
    mended: "reticent release estimate people.csv --column sex --categories F,M --epsilon 1",
};

pub(super) const TYPE: Example = Example {
    files: &[(
        "flags.toml",
        "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nmember = { bounds = [0, 1] }\n",
    )],
    wrong: "reticent train flags.parquet --schema flags.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const DATASET: Example = Example {
    files: &[],
    wrong: "reticent train mnist --data-dir . --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const TOML_SYNTAX: Example = Example {
    files: &[("unquoted.toml", "unit = row\n\n[columns]\nage = { bounds = [17, 90] }\n")],
    wrong: "reticent train people.csv --schema unquoted.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const TOML_VALUE: Example = Example {
    files: &[(
        "reversed.toml",
        "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n\n[columns]\nage = { bounds = [90, 17] }\n",
    )],
    wrong: "reticent train people.csv --schema reversed.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const TOML_KEY: Example = Example {
    files: &[(
        "misspelt.toml",
        "unit = \"row\"\n\n[label]\ncolumn = \"income\"\npositve = \">50K\"\n\n[columns]\nage = { bounds = [17, 90] }\n",
    )],
    wrong: "reticent train people.csv --schema misspelt.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const JSON: Example = Example {
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
};

pub(super) const SCHEMA: Example = Example {
    files: &[("unlabelled.toml", "unit = \"row\"\n\n[columns]\nage = { bounds = [17, 90] }\n")],
    wrong: "reticent train people.csv --schema unlabelled.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const VOCABULARY: Example = Example {
    files: &[
        ("texts.csv", "text,label\nhello you,ham\nbuy now,spam\nhello now,ham\nbuy you,spam\n"),
        ("twice.txt", "hello\nhello\n"),
        ("words.txt", "hello\nyou\nbuy\nnow\n"),
    ],
    wrong: "reticent train texts.csv --text-column text --vocabulary twice.txt --label label --classes \
                ham,spam --model lstm-text --non-private --steps 1 --out texts",
    mended: "reticent train texts.csv --text-column text --vocabulary words.txt --label label --classes \
                 ham,spam --model lstm-text --non-private --steps 1 --out texts",
};

pub(super) const TOO_LARGE: Example = Example {
    files: &[],
    wrong: "reticent train people.csv --schema large.toml --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --epsilon 1",
};

pub(super) const LAYER: Example = Example {
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
};
