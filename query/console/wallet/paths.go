package wallet

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// doPath is the address of the page that confirms an action.
func doPath(kind, action, id string) string {
	return "/wallet/do/" + kind + "/" + action + "/" + url.PathEscape(id)
}

// routeName is the part of a route's name that its path makes.
func routeName(path string) string {
	return strings.NewReplacer("/", ".", "{", "", "}", "").Replace(path)
}

// micros is an instant as a field of a form has it.
func micros(at schemas.Micros) string { return strconv.FormatInt(int64(at), 10) }

// describes is the id of the problem of a field, for aria-describedby.
func describes(field string) string { return field + "-problem" }
