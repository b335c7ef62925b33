-- Where a turn's prompt parted from the one before, as JSON; '' is nowhere.
ALTER TABLE turns ADD COLUMN break TEXT NOT NULL DEFAULT '';

-- They are few.
CREATE INDEX turns_broken ON turns (at) WHERE break <> '';
