package schemas

import (
	"embed"
	"strconv"
	"strings"
)

// Migrations holds the store's table definitions as numbered goose migrations below
// "migrations", one repeatable statement per file. A released file is never edited.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// StoreVersion is the version of the tables that this binary makes: the number of the newest
// migration, as it is in goose's own table in the store.
func StoreVersion() int {
	files, err := Migrations.ReadDir("migrations") // sorted by name
	if err != nil {
		panic(err) // they are part of the binary
	}
	number, _, _ := strings.Cut(files[len(files)-1].Name(), "_")
	version, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return version
}
