-- All labels of a stream, each row as it was written last.
SELECT stream, package_name, template_id, interface_id, choice, shape, constructors, body_shape, structure, argument, argument_holes, result, result_holes,
       objects_shape, objects_structure, objects_argument_holes, objects_result_holes, catalog, labelled_at
FROM labels FINAL
WHERE stream = {stream:String}
