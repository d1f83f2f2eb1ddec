-- The lifetimes of a stream by bucket of contract ids: numbers of begins and ends with the
-- sums of their hashes, which are those of AppendBegin and AppendEnd. Of a lifetime that is
-- being moved the copy in the live table is left out.
SELECT id % {buckets:UInt64} AS bucket, count() AS begins,
       sum(xxh3(concat(toString(id), '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(created_time)), '\n', toString(created_offset), '\n',
                       if(created_time = toDateTime64('1900-01-01 00:00:00', 6, 'UTC'), '', created_in), '\n',
                       synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                       template, '\n', template_id, '\n', package_name, '\n',
                       arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n',
                       toString(xxh3(argument_shape)), '\n', argument_scalars, '\n',
                       arrayStringConcat(argument_ids, '\n'), '\n', arrayStringConcat(argument_parties, '\t')))) AS begin_hashes,
       countIf(ended) AS ends,
       sumIf(xxh3(concat(toString(id), '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(archived_at)), '\n', toString(archived_offset))), ended) AS end_hashes,
       countIf(if(created_offset > 0, ended AND archived_offset <= created_offset, archived_at <= created_time)) AS backwards
FROM
(
    SELECT xxh3(contract_id) AS id, migration_id, created_time, archived_at, created_offset, archived_offset, created_in,
           synchronizer_id, encoding, created_at, template, template_id, package_name, signatories, observers,
           argument_shape, argument_scalars, argument_ids, argument_parties,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended
    FROM contracts_archived
    WHERE stream = {stream:String}
    UNION ALL
    SELECT xxh3(contract_id) AS id, migration_id, created_time, archived_at, created_offset, archived_offset, created_in,
           synchronizer_id, encoding, created_at, template, template_id, package_name, signatories, observers,
           argument_shape, argument_scalars, argument_ids, argument_parties,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended
    FROM contracts_live
    WHERE stream = {stream:String}
      AND (archived_at = toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
           OR (migration_id, contract_id, created_time) NOT IN (
               SELECT migration_id, contract_id, created_time FROM contracts_archived
               WHERE stream = {stream:String} AND (migration_id, contract_id) IN (
                   SELECT migration_id, contract_id FROM contracts_live
                   WHERE stream = {stream:String} AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC'))))
)
GROUP BY bucket
