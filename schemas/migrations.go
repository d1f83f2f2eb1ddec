package schemas

import "embed"

// Migrations holds the store's table definitions as numbered goose migrations below
// "migrations", one repeatable statement per file. A released file is never edited.
//
//go:embed migrations/*.sql
var Migrations embed.FS
