-- The party with most movements, and its most frequent counterparty.
SELECT party, topKIf(1)(counterparty, counterparty != '')[1] AS other
FROM movements
WHERE stream = 'scan'
GROUP BY party
ORDER BY count() DESC
LIMIT 1
