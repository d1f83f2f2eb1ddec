-- Labelled events in DuckDB, over the published objects and a file with table labels of the store:
--
--   ledgerlake sql -o labels.parquet "SELECT * FROM labels FINAL"
--
-- Needs a view events of the objects: SELECT * FROM read_parquet('lake/events/v1/**/*.parquet').

-- The values in a JSON text, in its order, and what is left of it.
CREATE MACRO values_of(text) AS regexp_extract_all(text, ':(-?[0-9]+|"(?:[^"\\]|\\.)*")', 1);
CREATE MACRO shape_of(text) AS regexp_replace(regexp_replace(text, ':"(?:[^"\\]|\\.)*"', ':"' || chr(3) || '"', 'g'), ':-?[0-9]+', ':' || chr(3), 'g');

CREATE MACRO instant_of(moment) AS strftime(moment, '%Y-%m-%dT%H:%M:%S')
    || CASE WHEN epoch_us(moment) % 1000000 = 0 THEN '' WHEN epoch_us(moment) % 1000 = 0 THEN strftime(moment, '.%g') ELSE strftime(moment, '.%f') END || 'Z';
CREATE MACRO value_at(held, hole) AS CASE
    WHEN hole < 65536 THEN held[hole]
    WHEN hole < 131072 THEN instant_of(make_timestamp(held[hole - 65536]::BIGINT))
    ELSE strftime(DATE '1970-01-01' + held[hole - 131072]::INTEGER, '%Y-%m-%d') END;
CREATE MACRO fill_in(pieces, holes, held) AS
    list_aggregate(list_transform(list_zip(pieces, holes), lambda part: part[1] || value_at(held, part[2])), 'string_agg', '');

CREATE VIEW labelled_events AS
WITH
    stored AS
    (
        SELECT *, coalesce(create_arguments, choice_argument) AS stored_argument,
               list_prepend('', list_transform(values_of(stored_argument || coalesce(exercise_result, '')), lambda v: CASE WHEN v[1] = '"' THEN v[2:-2] ELSE v END)) AS held,
               left(md5(shape_of(stored_argument) || chr(10) || coalesce(shape_of(exercise_result), '')), 16) AS shape
        FROM events
        WHERE kind <> 'unassignment'
    ),
    -- Of a shape with constructors on which the labels depend there are several.
    labels AS
    (
        SELECT package_name, template_id, interface_id, choice, objects_shape, list(l) AS options
        FROM read_parquet('labels.parquet') AS l
        GROUP BY ALL
    ),
    joined AS
    (
        SELECT e.*, CASE WHEN len(options[1].objects_structure) = 0 THEN options[1]
                         ELSE list_filter(options, lambda o: list_transform(o.objects_structure, lambda place: e.held[place]) = o.constructors)[1] END AS label
        FROM stored AS e
        LEFT JOIN labels AS l
        ON e.package_name = l.package_name AND e.template_id = l.template_id AND coalesce(e.interface_id, '') = l.interface_id
           AND coalesce(e.choice, '') = l.choice AND e.shape = l.objects_shape
    )
SELECT * EXCLUDE (stored_argument, held, shape, label),
       coalesce(fill_in(label.argument, label.objects_argument_holes, held), stored_argument)::JSON AS argument,
       coalesce(fill_in(label.result, label.objects_result_holes, held), exercise_result)::JSON AS result
FROM joined;
