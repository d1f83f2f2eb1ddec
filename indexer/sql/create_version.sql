-- Which version the tables of this database were made for, as goose notes it.
CREATE TABLE IF NOT EXISTS goose_db_version
(
    version_id Int64,
    is_applied UInt8,
    date       Date DEFAULT now(),
    tstamp     DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY date
