-- What agents do between their turns, as hooks tell it or as it was seen.
CREATE TABLE agent_events (
  at      INTEGER NOT NULL,
  session TEXT NOT NULL,
  agent   TEXT NOT NULL,
  model   TEXT NOT NULL,
  event   TEXT NOT NULL,
  tool    TEXT NOT NULL,
  ms      REAL NOT NULL, -- that a tool took; -1 is unknown
  source  TEXT NOT NULL, -- "hook", "seen" or "hint"
  detail  TEXT NOT NULL
);
CREATE INDEX agent_events_at ON agent_events (at);
