-- The contracts carried over into a migration, in a range of ids, with the update that created
-- each one, or assigned it last, where an earlier migration knows it. Lifetimes that have ended do
-- not count: whether they are still in the table depends on housekeeping.
SELECT i.created_at AS created_at, i.contract_id AS contract_id, ifNull(e.created_in, '') AS created_in,
       i.template_id AS template_id, i.package_name AS package_name, i.encoding AS encoding,
       i.signatories AS signatories, i.observers AS observers,
       i.argument_shape AS argument_shape, i.argument_scalars AS argument_scalars, i.argument_ids AS argument_ids, i.argument_parties AS argument_parties,
       i.migration_id AS migration_id, i.node_offset AS node_offset, i.synchronizer_id AS synchronizer_id
FROM
(
    SELECT * FROM imports
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND update_id > {after_id:String} AND update_id <= {through_id:String}
) AS i
LEFT ANY JOIN
(
    SELECT contract_id, argMax(contracts_live.created_in, (migration_id, created_time)) AS created_in FROM contracts_live
    WHERE stream = {stream:String} AND migration_id < {migration:Int64} AND contracts_live.created_in != ''
      AND archived_at = toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
      AND contract_id IN (SELECT contract_id FROM imports
                          WHERE stream = {stream:String} AND migration_id = {migration:Int64}
                            AND update_id > {after_id:String} AND update_id <= {through_id:String})
    GROUP BY contract_id
) AS e ON i.contract_id = e.contract_id
ORDER BY contract_id
