-- Who are the beneficiaries of the coupons of an app?
-- group: App operator
-- number: 27
-- party String: the app's provider
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=app-provider-3::122012d3aeec429f899b3ec7f67e8934a089bc67cf62b44a6a8e76cf933345d98f98 from=2026-07-01 to=2026-07-02

SELECT if(argument.beneficiary::String IN ('', 'null'), argument.provider::String, argument.beneficiary::String) AS beneficiary,
    count() AS coupons, sum(toDecimal128(argument.amount::String, 10)) AS amount
FROM labelled_events
WHERE stream = 'scan' AND kind = 'created' AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Amulet:AppRewardCoupon')
    AND has(observers, {party:String}) AND argument.provider::String = {party:String}
    AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY beneficiary
ORDER BY amount DESC, beneficiary

-- DuckDB
SELECT coalesce(create_arguments->>'$.record.fields[5].value.optional.value.party', create_arguments->>'$.record.fields[1].value.party') AS beneficiary,
    count(*) AS coupons, sum((create_arguments->>'$.record.fields[3].value.numeric')::DECIMAL(38, 10)) AS amount
FROM events
WHERE kind = 'created' AND template_name = 'splice-amulet:Splice.Amulet:AppRewardCoupon'
    AND (create_arguments->>'$.record.fields[1].value.party') = getvariable('party')
    AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
GROUP BY beneficiary
ORDER BY amount DESC, beneficiary
