-- Gives verdicts_next the parts of verdicts, without copying them.
ALTER TABLE verdicts_next ATTACH PARTITION ALL FROM verdicts
