-- Scratch space of one stream: streams are derived side by side, with the same contracts.
CREATE TABLE IF NOT EXISTS {table:Identifier} AS contract_ends
