-- Signs of life of the processes that write streams, see package lease: a row a second from each.
-- They are worth nothing after some seconds, so they are in memory, and the oldest make room for new
-- ones. No migration makes this table, as it has nothing to keep.
CREATE TABLE IF NOT EXISTS leases
(
    stream   String,
    writer   String,
    process  String,
    term     Int64,
    beat     Int64,
    released Bool,
    at       DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = Memory
SETTINGS min_rows_to_keep = 500, max_rows_to_keep = 1000
