-- +goose Up
-- What parties held at an instant: SELECT * FROM holdings_at(instant = '2026-07-02 00:00:00').
CREATE VIEW IF NOT EXISTS holdings_at AS
SELECT stream, party, instrument, sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked, sum(amount) AS total,
       max(record_time) AS moved_at
FROM movements
WHERE record_time <= {instant:DateTime64(6, 'UTC')}
GROUP BY stream, party, instrument
HAVING unlocked != 0 OR locked != 0;
