-- The turns that have begun and not ended, few at any time.
CREATE INDEX turns_open ON turns (at) WHERE outcome = '';
