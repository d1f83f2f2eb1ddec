-- The columns of typed tables that have JSON.
SELECT DISTINCT table_name, column_name FROM projection_columns WHERE endsWith(path, '#json')
