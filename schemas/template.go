package schemas

import "strings"

// TemplateName is how a template is named whatever the version of its package:
// PACKAGE_NAME:Module.Name:Entity, made from the package name and the template id
// <package id>:Module.Name:Entity.
func TemplateName(packageName, templateID string) string {
	_, name, ok := strings.Cut(templateID, ":")
	if !ok {
		return packageName + ":" + templateID
	}
	return packageName + ":" + name
}
