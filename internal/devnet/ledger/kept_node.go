package ledger

import (
	"crypto/ed25519"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
)

// WireUser is a user as requests and answers have it.
type WireUser struct {
	ID                         string     `json:"id"`
	PrimaryParty               string     `json:"primaryParty"`
	Deactivated                bool       `json:"isDeactivated"`
	Metadata                   ObjectMeta `json:"metadata"`
	IdentityProviderID         string     `json:"identityProviderId"`
	PrimaryPartyAuthentication bool       `json:"primaryPartyAuthentication"`
}

// ObjectMeta is what a client keeps with a user or a party.
type ObjectMeta struct {
	ResourceVersion string            `json:"resourceVersion"`
	Annotations     map[string]string `json:"annotations"`
}

// Right is something that a user may do.
type Right struct {
	// Kind is CanActAs, CanReadAs, CanExecuteAs, CanReadAsAnyParty, CanExecuteAsAnyParty,
	// ParticipantAdmin or IdentityProviderAdmin.
	Kind string
	// Party is the party of the first three.
	Party string
}

// PeriodKind says how a deduplication period is given.
type PeriodKind uint8

const (
	LongestPeriod PeriodKind = iota
	PeriodByDuration
	PeriodByOffset
)

// KeptUser is a user of the node in the journal.
type KeptUser struct {
	WireUser
	Version int64   `json:"version"`
	Rights  []Right `json:"rights"`
	Deleted bool    `json:"deleted,omitempty"`
}

// keptParty is what the node's clients keep with a party.
type keptParty struct {
	Party       string            `json:"party"`
	Version     int64             `json:"version"`
	Annotations map[string]string `json:"annotations"`
}

// KeptCompletion is the part of a completion that the submission does not tell.
type KeptCompletion struct {
	SubmissionID string        `json:"submissionId,omitempty"`
	Kind         PeriodKind    `json:"kind,omitempty"`
	Duration     time.Duration `json:"duration,omitempty"`
	Offset       int64         `json:"offset,omitempty"`
	Signed       []byte        `json:"signed,omitempty"`
}

// PartyMeta are the annotations of a party; the version counts their changes.
type PartyMeta struct {
	Version     int64
	Annotations map[string]string
}

// NodeParties is what is kept about parties beside where they are hosted: keys and
// annotations. Its methods may be called concurrently.
type NodeParties struct {
	mu   sync.Mutex
	meta map[string]PartyMeta
	keys map[string]ed25519.PublicKey // of the parties that sign for themselves
	// journal, if not nil, keeps the annotations.
	journal *Journal
}

func newNodeParties() *NodeParties {
	return &NodeParties{meta: map[string]PartyMeta{}, keys: map[string]ed25519.PublicKey{}}
}

func (p *NodeParties) setKey(party string, key ed25519.PublicKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[party] = key
}

// Key returns the key by which a party signs, false if it does not sign for itself.
func (p *NodeParties) Key(party string) (ed25519.PublicKey, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, ok := p.keys[party]
	return key, ok
}

// Metadata is what is kept with a party.
func (p *NodeParties) Metadata(party string) PartyMeta {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meta[party]
}

// Annotate replaces the annotations of a party by what change returns.
func (p *NodeParties) Annotate(party string, change func(PartyMeta) (map[string]string, error)) (PartyMeta, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.meta[party]
	annotations, err := change(m)
	if err != nil {
		return m, err
	}
	m.Version, m.Annotations = m.Version+1, annotations
	if p.journal != nil {
		if err := p.journal.Add(JournalEntry{Annotated: &keptParty{party, m.Version, m.Annotations}}); err != nil {
			return m, err
		}
	}
	p.meta[party] = m
	return m, nil
}

// KeptSubmission is a submission of the node's clients that was executed.
type KeptSubmission struct {
	Note       *KeptCompletion
	Submission *choices.Submission
	Done       Committed
}
