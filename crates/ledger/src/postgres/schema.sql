CREATE TABLE IF NOT EXISTS reticent_budgets (name text PRIMARY KEY, id bytea NOT NULL, version integer NOT NULL);
CREATE TABLE IF NOT EXISTS reticent_entries (
    budget text NOT NULL REFERENCES reticent_budgets (name),
    number bigint NOT NULL,
    kind text NOT NULL,
    time bigint NOT NULL,
    latest bigint NOT NULL,
    charges bigint NOT NULL,
    charged bigint NOT NULL,
    analyst text,
    purpose text,
    question bytea,
    refers bigint,
    body text NOT NULL,
    answer bytea,
    state text,
    analyst_state text,
    purpose_state text,
    digest bytea NOT NULL,
    PRIMARY KEY (budget, number)
);
CREATE TABLE IF NOT EXISTS reticent_answers (
    budget text NOT NULL,
    number bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (budget, number),
    FOREIGN KEY (budget, number) REFERENCES reticent_entries (budget, number)
);
CREATE INDEX IF NOT EXISTS reticent_analyst ON reticent_entries (budget, analyst, number) WHERE analyst_state IS NOT NULL;
CREATE INDEX IF NOT EXISTS reticent_purpose ON reticent_entries (budget, purpose, number) WHERE purpose_state IS NOT NULL;
CREATE INDEX IF NOT EXISTS reticent_question ON reticent_entries (budget, question, number) WHERE answer IS NOT NULL;
CREATE INDEX IF NOT EXISTS reticent_refers ON reticent_entries (budget, refers) WHERE refers IS NOT NULL;
CREATE INDEX IF NOT EXISTS reticent_rare ON reticent_entries (budget, kind, number)
    WHERE kind <> 'reserved' AND kind <> 'committed';
