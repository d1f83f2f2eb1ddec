-- The templates of all events. It must stay in the form of projection "templates", which answers it.
SELECT package_name AS package, template_id AS template_of
FROM events
WHERE stream = {stream:String}
GROUP BY stream, package_name, template_id, interface_id
