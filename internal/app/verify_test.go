package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/verify"
)

func TestVerifyFlags(t *testing.T) {
	names := append(verify.Names(), ObjectsCheck)
	for _, c := range []struct {
		name    string
		flags   VerifyConfig
		scanURL []string
		want    []string // checks
		peer    string
		err     string
	}{
		{name: "all but days", want: []string{verify.Batches, verify.Hashes, verify.Verdicts, verify.Lifetimes, verify.Coins, verify.Rewards, verify.Lookups, verify.Indexes, ObjectsCheck}},
		{name: "a scan to ingest from is not asked unless named", scanURL: []string{"http://scan"}, want: []string{verify.Batches, verify.Hashes, verify.Verdicts, verify.Lifetimes, verify.Coins, verify.Rewards, verify.Lookups, verify.Indexes, ObjectsCheck}},
		{name: "all with a peer", flags: VerifyConfig{Peer: "http://peer"}, want: names, peer: "http://peer"},
		{name: "days with the scan", flags: VerifyConfig{Checks: []string{verify.Days}}, scanURL: []string{"http://scan"}, want: []string{verify.Days}, peer: "http://scan"},
		{name: "days with a peer", flags: VerifyConfig{Checks: []string{verify.Days}, Peer: "http://peer"}, scanURL: []string{"http://scan"}, want: []string{verify.Days}, peer: "http://peer"},
		{name: "days with nothing", flags: VerifyConfig{Checks: []string{verify.Days}}, err: "--peer"},
		{name: "a check that is none", flags: VerifyConfig{Checks: []string{"batch"}}, err: "--check batch"},
	} {
		err := c.flags.check(names, c.scanURL)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want one that names %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(c.flags.Checks, c.want) || c.flags.Peer != c.peer {
			t.Errorf("%s: %v, peer %q, error %v; want %v, peer %q", c.name, c.flags.Checks, c.flags.Peer, err, c.want, c.peer)
		}
	}
}
