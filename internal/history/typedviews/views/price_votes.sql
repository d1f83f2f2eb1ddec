-- Prices that super-validators have voted for
-- table splice-dso-governance:Splice.DSO.AmuletPrice:AmuletPriceVote
-- key migration_id record_time contract_id
-- column stream Stream that the row belongs to; scan is the public history
-- column migration_id Migration of the row, from 0
-- column record_time Record time of the vote; 1900-01-01 if it was carried over
-- column contract_id Contract of the vote
-- column sv The super-validator
-- column price_usd Dollars for a coin, null if it has no opinion
-- column voted_at When it voted, by its own clock
-- column ended_at Record time at which another vote took its place; 2299-12-31 if none has
SELECT _stream AS stream, _migration_id AS migration_id, _record_time AS record_time, _contract_id AS contract_id, sv, amuletPrice AS price_usd, lastUpdatedAt AS voted_at, _archived_at AS ended_at
FROM l_splice_dso_governance__splice_dso_amuletprice_amuletpricevote
