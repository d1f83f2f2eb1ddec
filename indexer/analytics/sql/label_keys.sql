-- What the labels of a stream are for.
SELECT DISTINCT package_name, template_id, interface_id, choice, shape, constructors
FROM labels
WHERE stream = {stream:String}
