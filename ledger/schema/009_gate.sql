-- How long the router's gate held a turn, of its queue_ms.
ALTER TABLE turns ADD COLUMN gate_ms REAL NOT NULL DEFAULT 0;
