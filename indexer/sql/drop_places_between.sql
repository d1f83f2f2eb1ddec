-- Drops the places of a range of record times of a migration, at or below the watermark: of a node's
-- own stream also those of a range of offsets.
ALTER TABLE places DELETE
WHERE stream = {stream:String} AND if({mark_offset:Int64} > 0, node_offset <= {mark_offset:Int64},
        (migration_id, record_time) <= ({mark_migration:Int64}, fromUnixTimestamp64Micro({mark_time:Int64}, 'UTC')))
  AND (migration_id = {migration:Int64} AND record_time >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')
        AND record_time < fromUnixTimestamp64Micro({to:Int64}, 'UTC')
    OR node_offset > {after_offset:Int64} AND node_offset <= {through_offset:Int64})
SETTINGS mutations_sync = 2
