-- The lifetimes of a stream by bucket of contract ids: numbers of begins and ends with the
-- sums of their hashes. Of a lifetime that is being moved the copy in the live table is
-- left out.
SELECT bucket, count() AS begins, sum(begin_hash) AS begin_hashes,
       countIf(ended) AS ends, sumIf(end_hash, ended) AS end_hashes,
       countIf(if(created_offset > 0, ended AND archived_offset <= created_offset, archived_at <= created_time)) AS backwards
FROM
(
    SELECT xxh3(contract_id) % {buckets:UInt64} AS bucket, created_time, archived_at, created_offset, archived_offset,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(created_time)), '\n', toString(created_offset), '\n',
                       if(created_time = toDateTime64('1900-01-01 00:00:00', 6, 'UTC'), '', created_in), '\n',
                       synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                       template, '\n', template_id, '\n', package_name, '\n',
                       arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n', argument)) AS begin_hash,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(archived_at)), '\n', toString(archived_offset))) AS end_hash
    FROM contracts_archived
    WHERE stream = {stream:String}
    UNION ALL
    SELECT xxh3(contract_id) % {buckets:UInt64} AS bucket, created_time, archived_at, created_offset, archived_offset,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(created_time)), '\n', toString(created_offset), '\n',
                       if(created_time = toDateTime64('1900-01-01 00:00:00', 6, 'UTC'), '', created_in), '\n',
                       synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                       template, '\n', template_id, '\n', package_name, '\n',
                       arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n', argument)) AS begin_hash,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(archived_at)), '\n', toString(archived_offset))) AS end_hash
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
