package schemas

import "strings"

// TemplateName is how a template is named whatever the version of its package:
// PACKAGE_NAME:Module.Name:Entity, made from the package name and the template id
// <package id>:Module.Name:Entity.
func TemplateName(packageName, templateID string) string {
	return packageName + ":" + localName(templateID)
}

// AppendTemplateName appends the same.
func AppendTemplateName(dst []byte, packageName, templateID string) []byte {
	return append(append(append(dst, packageName...), ':'), localName(templateID)...)
}

// localName leaves the package id out.
func localName(templateID string) string {
	if _, name, ok := strings.Cut(templateID, ":"); ok {
		return name
	}
	return templateID
}
