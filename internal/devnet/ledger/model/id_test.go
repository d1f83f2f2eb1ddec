package model

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

func TestUpdateIDsLeadBack(t *testing.T) {
	ids := NewIDSpaces(99)
	for _, n := range []uint64{0, 1, 2, 1 << 20, 1<<40 + 7} {
		id := string(ids.AppendUpdateID(nil, n))
		if got, ok := ids.UpdateNumber(id); !ok || got != n {
			t.Errorf("number of %s: got %d, %v, want %d", id, got, ok, n)
		}
		for _, foreign := range []string{"", id[:60], strings.ToUpper(id), id[:67] + "g", flipLast(id), id + "0"} {
			if n, ok := ids.UpdateNumber(foreign); ok {
				t.Errorf("foreign id %q has number %d", foreign, n)
			}
		}
	}
}

func flipLast(id string) string {
	if strings.HasSuffix(id, "0") {
		return id[:len(id)-1] + "1"
	}
	return id[:len(id)-1] + "0"
}

func TestContractIDs(t *testing.T) {
	ids := NewIDSpaces(3)
	form := regexp.MustCompile(`^00[0-9a-f]{64}ca101220[0-9a-f]{64}$`)
	numbers := make([]uint64, 500)
	seen := map[string]bool{}
	for i := range numbers {
		numbers[i] = uint64(i)
		id := string(ids.AppendContractID(nil, uint64(i)))
		if !form.MatchString(id) || len(id) != contractIDLength || seen[id] {
			t.Fatalf("contract %d has id %q", i, id)
		}
		seen[id] = true
	}
	slices.SortFunc(numbers, func(a, b uint64) int {
		if ids.Contracts.Rank(a) < ids.Contracts.Rank(b) {
			return -1
		}
		return 1
	})
	if !sort.SliceIsSorted(numbers, func(i, j int) bool {
		return string(ids.AppendContractID(nil, numbers[i])) < string(ids.AppendContractID(nil, numbers[j]))
	}) {
		t.Error("rank does not order like the text of the ids")
	}
}
