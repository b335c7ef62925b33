-- Why a turn went to its worker's own chat API; '' is by token ids.
ALTER TABLE turns ADD COLUMN chat TEXT NOT NULL DEFAULT '';
