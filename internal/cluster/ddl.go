package cluster

import (
	"fmt"
	"regexp"
	"strings"
)

// Tables says how the tables of a server are made. The zero value is for those without replicas.
type Tables struct {
	database string
	// Replicated tables are made with a path in Keeper, Shared ones by a service that replicates them.
	Replicated, Shared bool
	// Follows says that another replica of the shard, which was before this one, changes rows and columns:
	// what it does comes here by replication.
	Follows bool
}

// Tables are those of a replica of a shard, both counted from 0. shared says that its servers make
// SharedMergeTree tables.
func (c *Cluster) Tables(shard, replica int, shared bool) Tables {
	has := len(c.Shards[shard]) > 1
	return Tables{database: c.ShardDatabase(), Replicated: has && !shared, Shared: has && shared, Follows: replica > 0}
}

// How long Keeper remembers the tokens of inserts: as blocks, ten times as many as a table without
// replicas does, and as time, for ten years. Versions of ClickHouse forget after an hour or a week,
// but a writer that was away for longer still has its last batch to repeat.
const tokens = "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000"

// noTokens is for tables of which equal rows are kept.
const noTokens = "replicated_deduplication_window = 0"

var (
	engine    = regexp.MustCompile(`(?m)^ENGINE = (\w*)MergeTree(?:\((.*)\))?$`)
	tableName = regexp.MustCompile(`(?m)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	window    = regexp.MustCompile(`non_replicated_deduplication_window = \d+`)
	quotes    = strings.NewReplacer("\\", "\\\\", "'", "\\'")
	changes   = regexp.MustCompile(`(?m)^ALTER TABLE `)
)

// DDL is a statement of a migration as it is for these tables; step is the number of the migration. It
// is "" for one that another replica runs.
//
// The path of a table in Keeper names the step that made it, so that a table that takes the name of
// another one, as new layouts do, has another path. It does not use {uuid}: statements are sent to each
// server, without ON CLUSTER, and each would choose another one.
func (t Tables) DDL(step, statement string) string {
	if !t.Replicated && !t.Shared {
		return statement
	}
	if changes.MatchString(statement) {
		if t.Follows {
			return ""
		}
		return statement
	}
	made := engine.FindStringSubmatch(statement)
	if made == nil { // a view, or a table of another kind
		return statement
	}
	if t.Replicated {
		path := "/clickhouse/tables/{shard}/" + t.database + "/" + step + "/" + tableName.FindStringSubmatch(statement)[1]
		arguments := "'" + quotes.Replace(path) + "', '{replica}'"
		if made[2] != "" {
			arguments += ", " + made[2]
		}
		statement = engine.ReplaceAllLiteralString(statement, fmt.Sprintf("ENGINE = Replicated%sMergeTree(%s)", made[1], arguments))
	}
	switch {
	case window.MatchString(statement):
		return window.ReplaceAllLiteralString(statement, tokens)
	case strings.Contains(statement, "\nSETTINGS "):
		return strings.Replace(statement, "\nSETTINGS ", "\nSETTINGS "+noTokens+", ", 1)
	}
	text := strings.TrimRight(statement, ";\n")
	return text + "\nSETTINGS " + noTokens + statement[len(text):]
}
