-- Gives events_next the parts of events, without copying them.
ALTER TABLE events_next ATTACH PARTITION ALL FROM events
