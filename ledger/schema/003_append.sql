-- Rows are appended: a random key would touch a page of its own for each.
-- The writer knows the rows that are to be replaced, and the raw turns' keys.
CREATE TABLE turns_3 (
  id              TEXT NOT NULL,
  at              INTEGER NOT NULL, -- ns since 1970, as every time here
  dialect         TEXT NOT NULL,
  harness         TEXT NOT NULL,
  session         TEXT NOT NULL,
  agent           TEXT NOT NULL,
  parent          TEXT NOT NULL,
  kind            TEXT NOT NULL,
  model           TEXT NOT NULL,
  stream          INTEGER NOT NULL,
  priority        INTEGER NOT NULL,
  strict_priority INTEGER NOT NULL,
  class           TEXT NOT NULL,
  messages        INTEGER NOT NULL,
  tools           INTEGER NOT NULL,
  max_tokens      INTEGER NOT NULL,
  worker          TEXT NOT NULL,
  decision        TEXT NOT NULL,
  overlap_tokens  INTEGER NOT NULL,
  prompt_tokens   INTEGER NOT NULL,
  cached_tokens   INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  thinking_tokens INTEGER NOT NULL,
  queue_ms        REAL NOT NULL,
  ttft_ms         REAL NOT NULL,
  total_ms        REAL NOT NULL,
  moved           INTEGER NOT NULL,
  outcome         TEXT NOT NULL,
  error           TEXT NOT NULL,
  tenant          TEXT NOT NULL,
  format          TEXT NOT NULL,
  edited          INTEGER NOT NULL
);
INSERT INTO turns_3 SELECT * FROM turns ORDER BY rowid;
DROP TABLE turns;
ALTER TABLE turns_3 RENAME TO turns;
CREATE INDEX turns_at ON turns (at);

-- What sessions and agents are follows from their turns.
DROP TABLE sessions;
DROP TABLE agents;
CREATE VIEW sessions AS
  SELECT session AS id, max(harness) AS harness, max(model) AS model, min(at) AS first_at, max(at) AS last_at
  FROM turns WHERE session <> '' GROUP BY session;
CREATE VIEW agents AS
  SELECT session, agent AS id, max(parent) AS parent, min(at) AS first_at, max(at) AS last_at
  FROM turns WHERE session <> '' GROUP BY session, agent;

CREATE TABLE leases_3 (
  id      TEXT NOT NULL,
  turn    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  session TEXT NOT NULL,
  agent   TEXT NOT NULL,
  model   TEXT NOT NULL,
  tokens  INTEGER NOT NULL,
  blocks  INTEGER NOT NULL,
  ttl_s   REAL NOT NULL,
  state   TEXT NOT NULL
);
INSERT INTO leases_3 SELECT * FROM leases ORDER BY rowid;
DROP TABLE leases;
ALTER TABLE leases_3 RENAME TO leases;
CREATE INDEX leases_at ON leases (at);

CREATE TABLE raw_turns_3 (
  model   TEXT NOT NULL,
  key     INTEGER NOT NULL, -- the last row of a model and key counts
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  bytes   INTEGER NOT NULL,
  data    BLOB NOT NULL -- see package blob
);
INSERT INTO raw_turns_3 SELECT * FROM raw_turns ORDER BY at;
DROP TABLE raw_turns;
ALTER TABLE raw_turns_3 RENAME TO raw_turns;
CREATE INDEX raw_turns_seek ON raw_turns (at, bytes, key, model);
