CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    time INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    charges INTEGER NOT NULL,
    charged INTEGER NOT NULL,
    analyst TEXT,
    purpose TEXT,
    question BLOB,
    refers INTEGER,
    body TEXT NOT NULL,
    answer BLOB,
    state TEXT,
    analyst_state TEXT,
    purpose_state TEXT,
    digest BLOB NOT NULL
) STRICT;
CREATE TABLE answers (number INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE INDEX entries_analyst ON entries (analyst, number) WHERE analyst_state IS NOT NULL;
CREATE INDEX entries_purpose ON entries (purpose, number) WHERE purpose_state IS NOT NULL;
CREATE INDEX entries_question ON entries (question, number) WHERE answer IS NOT NULL;
CREATE INDEX entries_refers ON entries (refers) WHERE refers IS NOT NULL;
CREATE INDEX entries_rare ON entries (kind, number) WHERE kind <> 'reserved' AND kind <> 'committed';
