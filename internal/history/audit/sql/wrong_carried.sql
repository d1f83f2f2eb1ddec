-- Contracts that a party signs and that were active at the end of one migration or were
-- carried over into the next, but not both. The hashes choose: one that two contracts share
-- hides one of them at worst.
SELECT contract_id, true AS carried
FROM imports
WHERE stream = {stream:String} AND migration_id = {next:Int64} AND has(signatories, {party:String})
  AND xxh3(contract_id) NOT IN (
      SELECT xxh3(contract_id) FROM contracts_live
      WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND archived_at >= toDateTime64('2299-12-31 00:00:00', 6, 'UTC'))
UNION ALL
SELECT contract_id, false AS carried
FROM contracts_live
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND has(signatories, {party:String})
  AND archived_at >= toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
  AND xxh3(contract_id) NOT IN (SELECT xxh3(contract_id) FROM imports WHERE stream = {stream:String} AND migration_id = {next:Int64})
LIMIT 1000
