package typed

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Source is what the rows of a table are of: contracts of a template, or exercises of a choice of a template
// or an interface.
type Source struct {
	Package string
	// Entity is Module:Name of the template or the interface.
	Entity string
	// Choice is "" for the contracts.
	Choice string
}

// String names the source, such as splice-amulet:Splice.Amulet:Amulet or, of a choice,
// splice-amulet:Splice.Amulet:Amulet/Amulet_Expire.
func (s Source) String() string {
	name := s.Package + ":" + s.Entity
	if s.Choice != "" {
		name += "/" + s.Choice
	}
	return name
}

// Title says what the rows are.
func (s Source) Title() string {
	if s.Choice != "" {
		return "Exercises of " + s.String()
	}
	return "Contracts of " + s.String()
}

// LifetimesView is the name of the view that has the contracts of a table with their ends.
func LifetimesView(table string) string { return "l" + table[1:] }

const maxTableName = 96

// TableName is the name of a source's table, such as t_splice_amulet__splice_amulet_amulet, or with c_ before
// and __CHOICE behind it for a choice. taken reports whether another source has a name: then, and where it is
// longer than 96 bytes, it ends with digits of the hash of the source.
func (s Source) TableName(taken func(name string) bool) string {
	name := "t_" + simple(s.Package) + "__" + simple(s.Entity)
	if s.Choice != "" {
		name = "c" + name[1:] + "__" + simple(s.Choice)
	}
	if len(name) <= maxTableName && !taken(name) {
		return name
	}
	sum := sha256.Sum256([]byte(s.String()))
	suffix := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxTableName-len(suffix))] + suffix
}

// simple is a name in lower-case letters, digits and underscores.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}
