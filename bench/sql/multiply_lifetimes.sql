-- Repeats the lifetimes of the newest migration from the %[1]d. to before the %[2]d. of %[3]d
-- copies, each a step further back in the %[4]d months before, under ids of their own, in table
-- %[5]s, of which each ends at %[6]s.
INSERT INTO %[5]s
    (stream, migration_id, created_at, contract_id, created_time, created_in, archived_at, synchronizer_id, template,
     template_id, package_name, encoding, argument_shape, argument_scalars, argument_ids, argument_parties, signatories, observers, lookup_key)
SELECT stream, migration_id, created_at - INTERVAL toInt64(back) SECOND,
       concat(substring(contract_id, 1, 2), lower(hex(SHA256(concat(contract_id, toString(copy))))), substring(contract_id, 67)),
       greatest(created_time, toDateTime64('2000-01-01 00:00:00', 6, 'UTC')) - INTERVAL toInt64(back) SECOND,
       created_in, %[6]s AS archived_at, synchronizer_id, template,
       template_id, package_name, encoding, argument_shape, argument_scalars, argument_ids, argument_parties, signatories, observers, lookup_key
FROM
(
    SELECT *, arrayJoin(range(%[1]d, %[2]d)) AS copy, toInt64(copy * %[4]d * 30 * 86400 / %[3]d) AS back
    FROM originals
)
