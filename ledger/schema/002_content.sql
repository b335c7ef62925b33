ALTER TABLE turns ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN format TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;

CREATE TABLE raw_turns (
  model   TEXT NOT NULL,
  key     INTEGER NOT NULL,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  data    BLOB NOT NULL, -- see package blob
  PRIMARY KEY (model, key)
);
CREATE INDEX raw_turns_at ON raw_turns (at, bytes);
CREATE INDEX raw_turns_session ON raw_turns (session);

CREATE TABLE responses (
  id       TEXT PRIMARY KEY,
  tenant   TEXT NOT NULL,
  session  TEXT NOT NULL,
  previous TEXT NOT NULL,
  model    TEXT NOT NULL,
  at       INTEGER NOT NULL,
  expires  INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  input    BLOB NOT NULL,
  document BLOB NOT NULL
);
CREATE INDEX responses_at ON responses (at, bytes);
CREATE INDEX responses_expires ON responses (expires);
CREATE INDEX responses_session ON responses (session);
