-- +goose Up
-- Places lead to the updates of a party, of public history too.
DROP TABLE IF EXISTS party_offsets;
