ALTER TABLE projections DELETE WHERE table_name IN {tables:Array(String)} SETTINGS mutations_sync = 2
