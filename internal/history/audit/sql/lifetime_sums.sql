-- The lifetimes of a stream by bucket of contract ids: numbers of begins and ends with the
-- sums of their hashes, which are those of BeginHash and EndHash. Texts are hashed as they are
-- stored, those of low cardinality once for each dictionary. Of a lifetime that is being moved
-- the copy in the archived table is left out: so only what has ended and not been moved need
-- be remembered.
WITH
    (list -> arraySum(arrayMap((text, n) -> xxh3(text) * n, list, arrayEnumerate(list)))) AS list_hash,
    intHash64(id + toUInt64(migration_id)) AS contract,
    intHash64(intHash64(contract + toUInt64(toUnixTimestamp64Micro(created_time))) + toUInt64(created_offset)) AS at,
    intHash64(intHash64(at + xxh3(if(toUnixTimestamp64Micro(created_time) = -2208988800000000, '', created_in))) + xxh3(synchronizer_id)) AS place,
    intHash64(place + xxh3(encoding)) AS encoded,
    intHash64(intHash64(intHash64(encoded + xxh3(template)) + xxh3(template_id)) + xxh3(package_name)) AS typed,
    intHash64(intHash64(typed + xxh3(argument_shape)) + xxh3(argument_scalars)) AS scalars,
    intHash64(intHash64(intHash64(toUInt64(toUnixTimestamp64Micro(created_at))) + list_hash(signatories)) + list_hash(observers)) AS known,
    intHash64(scalars + intHash64(intHash64(known + list_hash(argument_ids)) + list_hash(argument_parties))) AS begin_hash,
    intHash64(intHash64(contract + toUInt64(toUnixTimestamp64Micro(archived_at))) + toUInt64(archived_offset)) AS end_hash
SELECT id % {buckets:UInt64} AS bucket, count() AS begins, sum(begin_hash) AS begin_hashes,
       countIf(ended) AS ends, sumIf(end_hash, ended) AS end_hashes,
       countIf(if(created_offset > 0, ended AND archived_offset <= created_offset, archived_at <= created_time)) AS backwards
FROM
(
    SELECT xxh3(contract_id) AS id, migration_id, created_time, archived_at, created_offset, archived_offset, created_in,
           synchronizer_id, encoding, created_at, template, template_id, package_name, signatories, observers,
           argument_shape, argument_scalars, argument_ids, argument_parties,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended
    FROM contracts_archived
    WHERE stream = {stream:String}
      AND intHash64(intHash64(xxh3(contract_id) + toUInt64(migration_id)) + toUInt64(toUnixTimestamp64Micro(created_time))) NOT IN (
          SELECT intHash64(intHash64(xxh3(contract_id) + toUInt64(migration_id)) + toUInt64(toUnixTimestamp64Micro(created_time)))
          FROM contracts_live
          WHERE stream = {stream:String} AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC'))
    UNION ALL
    SELECT xxh3(contract_id) AS id, migration_id, created_time, archived_at, created_offset, archived_offset, created_in,
           synchronizer_id, encoding, created_at, template, template_id, package_name, signatories, observers,
           argument_shape, argument_scalars, argument_ids, argument_parties,
           archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS ended
    FROM contracts_live
    WHERE stream = {stream:String}
)
GROUP BY bucket
