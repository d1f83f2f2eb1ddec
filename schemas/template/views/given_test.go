package views_test

import (
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestGivenByNodesIsWhatNoRuleComputes(t *testing.T) {
	catalog := values.Default().Learning()
	requests := []string{"#" + template.AllocationRequest, "#" + template.AllocationRequestV2}
	if got := views.Given(catalog); !slices.Equal(got, requests) {
		t.Errorf("without packages of apps, nodes give %q, want %q", got, requests)
	}
	const holding, other = "Splice.Api.Token.HoldingV1:Holding", "App.Own:Interface"
	catalog.Learn([]values.Definition{
		{Entry: values.Entry{PackageName: "bond", Entity: "Bond:Bond", Implements: []string{holding, other, "Splice.Api.Token.Unknown:Interface"}}},
		{Entry: values.Entry{PackageName: "bond", Entity: other, Interface: true}},
	}, 7)
	if got, want := views.Given(catalog), append(slices.Clone(requests), "#splice-api-token-holding-v1:"+holding); !slices.Equal(got, want) {
		t.Errorf("with an app's holdings, nodes give %q, want %q", got, want)
	}
	for _, c := range []struct {
		packageName, id string
		computed        bool
	}{
		{"splice-amulet", "1220ab:Splice.Amulet:Amulet", true},
		{"bond", "1220cd:Bond:Bond", false},
		{"bond", "1220cd:Splice.Amulet:Amulet", false},
	} {
		if got := views.Computes(c.packageName, c.id, holding); got != c.computed {
			t.Errorf("a view of %s of %s is computed: %v", c.id, c.packageName, got)
		}
	}
}
