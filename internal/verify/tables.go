package verify

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Tables are digests by table name: updates, events, imports, verdicts, traffic,
// app_activity, and a set of active contracts under active_contracts or acs. The
// rows behind each are the canonical JSON that the network's interface gives for them.
type Tables map[string]schemas.Digest

// Sum merges the digests of disjoint sets of rows. Every table of history is in the
// result, also when empty.
func Sum(parts ...Tables) Tables {
	sum := Tables{"updates": {}, "events": {}, "imports": {}, "verdicts": {}, "traffic": {}, "app_activity": {}}
	for _, part := range parts {
		sum.merge(part)
	}
	return sum
}

func (t Tables) merge(o Tables) {
	for table, digest := range o {
		merged := t[table]
		merged.Merge(digest)
		t[table] = merged
	}
}

// Differences lists, in words, where two sets of tables differ; none means equal.
// Only tables that both name are compared.
func Differences(aName string, a Tables, bName string, b Tables) []string {
	var list []string
	for _, table := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[table]; ok && other != a[table] {
			list = append(list, fmt.Sprintf("table %s: %s has %s, %s has %s", table, aName, a[table], bName, other))
		}
	}
	return list
}
