-- The elements of /v0/events as they came, a column per member.
CREATE TABLE raw_events
(
    update               String,
    verdict              String,
    traffic_summary      String,
    app_activity_records String
)
ENGINE = MergeTree
ORDER BY tuple()
