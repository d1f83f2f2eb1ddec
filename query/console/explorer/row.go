package explorer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// summary says in a line what an update does: what its first events without a parent do.
func summary(row *explore.Row) string {
	switch row.Kind {
	case schemas.Assignment:
		return "Assigns a contract that comes from " + page.Name(row.Source)
	case schemas.Unassignment:
		return "Unassigns a contract that goes to " + page.Name(row.Target)
	case "":
		return "Nothing of it is public"
	}
	var parts []string
	shown := int64(0)
	for _, event := range row.Events {
		if !slices.Contains(row.FirstRoots, uint32(event.Node)) {
			continue
		}
		shown++
		if text := did(&event); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "Nothing of it is public"
	}
	text := strings.Join(parts, ", ")
	if rest := row.Roots - shown; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// did says what an event does.
func did(e *explore.Brief) string {
	entity := page.Entity(e.Template)
	if e.Kind == schemas.Created {
		return "creates " + entity
	}
	return e.Choice + " on " + entity
}

// shownParties is how many parties a row of a list names.
const shownParties = 3

// partiesOf are the parties in the first events of an update, and how many there are beside the first ones.
func partiesOf(row *explore.Row) (first []string, more int) {
	var all []string
	for _, event := range row.Events {
		for _, party := range event.Parties {
			if !slices.Contains(all, party) {
				all = append(all, party)
			}
		}
	}
	if len(all) > shownParties {
		return all[:shownParties], len(all) - shownParties
	}
	return all, 0
}

// verdict is a result in words, and the class of its tag.
func verdict(result string) (text, class string) {
	switch strings.TrimPrefix(result, "VERDICT_RESULT_") {
	case "ACCEPTED":
		return "accepted", "tag good"
	case "REJECTED":
		return "rejected", "tag bad"
	case "":
		return "", ""
	}
	return "undecided", "tag warn"
}

// kindText is the kind of an update in words.
func kindText(kind schemas.UpdateKind) string {
	if kind == "" {
		return "private"
	}
	return string(kind)
}
