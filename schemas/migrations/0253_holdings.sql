-- +goose Up
-- What parties hold after all movements.
CREATE VIEW IF NOT EXISTS holdings AS
SELECT stream, party, instrument, sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked, sum(amount) AS total,
       max(record_time) AS moved_at
FROM movements
GROUP BY stream, party, instrument
HAVING unlocked != 0 OR locked != 0;
