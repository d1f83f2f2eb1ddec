ALTER TABLE packages DELETE WHERE package_id IN {ids:Array(String)} SETTINGS mutations_sync = 2
