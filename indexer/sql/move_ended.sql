-- Copies the ended lifetimes of a stream out of the live table, save those copied before. Not of
-- others: between this and the drop, other streams go on ending theirs.
INSERT INTO contracts_archived
    (stream, migration_id, created_at, contract_id, created_time, created_in, archived_at, synchronizer_id,
     template, template_id, package_name, encoding, signatories, observers,
     argument_shape, argument_scalars, argument_ids, argument_parties, created_offset, archived_offset, lookup_key)
SELECT stream, migration_id, created_at, contract_id, created_time, created_in, archived_at, synchronizer_id,
       template, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, created_offset, archived_offset, lookup_key
FROM contracts_live
WHERE stream = {stream:String} AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
  AND (stream, migration_id, contract_id, created_time) NOT IN (
      SELECT stream, migration_id, contract_id, created_time FROM contracts_archived
      WHERE (stream, migration_id, contract_id) IN (
          SELECT stream, migration_id, contract_id FROM contracts_live
          WHERE stream = {stream:String} AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC')))
