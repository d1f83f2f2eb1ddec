-- Gives many parties so many coins each, a tenth of them locked: a coin of the history under
-- other ids. Every party also has some that have ended since the last housekeeping.
INSERT INTO wallet_contracts
    (stream, party, template, contract_id, node_offset, ended, created_at, created_in, template_id, package_name, encoding,
     synchronizer_id, signatories, observers, argument_shape, argument_scalars, argument_ids, argument_parties, owner, amount, rate, round,
     expires_at)
SELECT stream, holder, if(n %% 10 = 0, 'splice-amulet:Splice.Amulet:LockedAmulet', template),
       concat('00', lower(hex(SHA256(toString(n)))), substring(contract_id, 67)), 1 + ended, ended, created_at + toIntervalSecond(n %% 1000000),
       created_in, template_id, package_name, encoding, synchronizer_id, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, holder, toDecimal128(n %% 997, 10), rate, round, expires_at
FROM
(
    SELECT * EXCEPT ended, arrayJoin(range(%[1]d, %[2]d)) AS n, concat('holder-', toString(intDiv(n, %[3]d)), '::1220', lower(hex(SHA256(toString(intDiv(n, %[3]d)))))) AS holder,
           arrayJoin(if(n %% %[4]d = 0, [false, true], [false])) AS ended
    FROM (SELECT * FROM wallet_contracts WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND NOT ended LIMIT 1)
)
