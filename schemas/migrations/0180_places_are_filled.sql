-- +goose Up
-- Drops the journals by which places were filled, step 172: writers write them with each batch.
ALTER TABLE batches DELETE WHERE endsWith(stream, '/places') SETTINGS mutations_sync = 2;
