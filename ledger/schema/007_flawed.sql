-- Calls of a turn's answer that were mended, no tool's, or dropped as unwanted.
ALTER TABLE turns ADD COLUMN flawed INTEGER NOT NULL DEFAULT 0;
