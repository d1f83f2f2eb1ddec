-- Entries of the name service
-- table splice-amulet-name-service:Splice.Ans:AnsEntry
-- key migration_id record_time contract_id
-- column stream Stream that the row belongs to; scan is the public history
-- column migration_id Migration of the row, from 0
-- column record_time Record time from which the entry is there; 1900-01-01 if it was carried over
-- column contract_id Contract of the entry
-- column name The name
-- column owner Party that has it
-- column url Address that the owner gave
-- column description Text that the owner gave
-- column expires_at Until when it is paid for
-- column ended_at Record time at which the entry ended; 2299-12-31 if it has not
SELECT _stream AS stream, _migration_id AS migration_id, _record_time AS record_time, _contract_id AS contract_id, name, user AS owner, url, description,
       expiresAt AS expires_at, _archived_at AS ended_at
FROM l_splice_amulet_name_service__splice_ans_ansentry
