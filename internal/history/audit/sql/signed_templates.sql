-- Those of some templates of which every contract that history knows is signed by a party.
SELECT template
FROM
(
    SELECT template, signatories FROM contracts_live
    WHERE stream = {stream:String} AND has({templates:Array(String)}, template)
    UNION ALL
    SELECT template, signatories FROM contracts_archived
    WHERE stream = {stream:String} AND has({templates:Array(String)}, template)
)
GROUP BY template
HAVING min(has(signatories, {party:String}))
ORDER BY template
