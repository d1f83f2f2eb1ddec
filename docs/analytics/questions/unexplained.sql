-- Which changes of holdings does no rule explain?
-- group: Auditor
-- number: 23
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT record_time, update_id, party, amount, choice
FROM movements
WHERE stream = 'scan' AND cause = 'unexplained' AND record_time >= {from:Date} AND record_time < {to:Date}
ORDER BY migration_id, record_time, update_id, entry
