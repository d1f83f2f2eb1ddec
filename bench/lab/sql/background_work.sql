-- Running merges, and a number that changes whenever a part comes or goes.
SELECT (SELECT count() FROM system.merges) AS merges,
       (SELECT sumWithOverflow(cityHash64(table, name)) FROM system.parts WHERE active AND database = currentDatabase()) AS parts
