CREATE TABLE sessions (
  id       TEXT PRIMARY KEY,
  harness  TEXT NOT NULL,
  model    TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
  session  TEXT NOT NULL,
  id       TEXT NOT NULL,
  parent   TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;

CREATE TABLE turns (
  id              TEXT NOT NULL UNIQUE,
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
  error           TEXT NOT NULL
);
CREATE INDEX turns_at ON turns (at);
CREATE INDEX turns_agent ON turns (session, agent, at);

CREATE TABLE workers (
  name     TEXT PRIMARY KEY,
  model    TEXT NOT NULL,
  pid      INTEGER NOT NULL,
  url      TEXT NOT NULL,
  event    TEXT NOT NULL, -- the last one
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE leases (
  id      TEXT NOT NULL,
  turn    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  session TEXT NOT NULL,
  agent   TEXT NOT NULL,
  model   TEXT NOT NULL,
  tokens  INTEGER NOT NULL,
  blocks  INTEGER NOT NULL,
  ttl_s   REAL NOT NULL,
  state   TEXT NOT NULL,
  UNIQUE (id, turn)
);
CREATE INDEX leases_at ON leases (at);

CREATE TABLE worker_events (
  at     INTEGER NOT NULL,
  worker TEXT NOT NULL,
  model  TEXT NOT NULL,
  pid    INTEGER NOT NULL,
  url    TEXT NOT NULL,
  event  TEXT NOT NULL,
  detail TEXT NOT NULL
);
CREATE INDEX worker_events_at ON worker_events (at);
