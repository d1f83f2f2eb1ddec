package devnet

import (
	"crypto/ed25519"
	"sync"
	"time"
)

// wireUser is a user as requests and answers have it.
type wireUser struct {
	ID                         string     `json:"id"`
	PrimaryParty               string     `json:"primaryParty"`
	Deactivated                bool       `json:"isDeactivated"`
	Metadata                   objectMeta `json:"metadata"`
	IdentityProviderID         string     `json:"identityProviderId"`
	PrimaryPartyAuthentication bool       `json:"primaryPartyAuthentication"`
}

// objectMeta is what a client keeps with a user or a party.
type objectMeta struct {
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

type periodKind uint8

const (
	longestPeriod periodKind = iota
	periodByDuration
	periodByOffset
)

// keptUser is a user of the node in the journal.
type keptUser struct {
	wireUser
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

// keptCompletion is the part of a completion that the submission does not tell.
type keptCompletion struct {
	SubmissionID string        `json:"submissionId,omitempty"`
	Kind         periodKind    `json:"kind,omitempty"`
	Duration     time.Duration `json:"duration,omitempty"`
	Offset       int64         `json:"offset,omitempty"`
	Signed       []byte        `json:"signed,omitempty"`
}

type partyMeta struct {
	version     int64
	annotations map[string]string
}

// nodeParties is what is kept about parties beside where they are hosted: keys and
// annotations. Its methods may be called concurrently.
type nodeParties struct {
	mu   sync.Mutex
	meta map[string]partyMeta
	keys map[string]ed25519.PublicKey // of the parties that sign for themselves
	// journal, if not nil, keeps the annotations.
	journal *journal
}

func newNodeParties() *nodeParties {
	return &nodeParties{meta: map[string]partyMeta{}, keys: map[string]ed25519.PublicKey{}}
}

func (p *nodeParties) setKey(party string, key ed25519.PublicKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[party] = key
}

// key returns the key by which a party signs, false if it does not sign for itself.
func (p *nodeParties) key(party string) (ed25519.PublicKey, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, ok := p.keys[party]
	return key, ok
}

// metadata is what is kept with a party.
func (p *nodeParties) metadata(party string) partyMeta {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meta[party]
}

// annotate replaces the annotations of a party by what change returns.
func (p *nodeParties) annotate(party string, change func(partyMeta) (map[string]string, error)) (partyMeta, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.meta[party]
	annotations, err := change(m)
	if err != nil {
		return m, err
	}
	m.version, m.annotations = m.version+1, annotations
	if p.journal != nil {
		if err := p.journal.add(journalEntry{Annotated: &keptParty{party, m.version, m.annotations}}); err != nil {
			return m, err
		}
	}
	p.meta[party] = m
	return m, nil
}

// keptSubmission is a submission of the node's clients that was executed.
type keptSubmission struct {
	note       *keptCompletion
	submission *Submission
	done       Committed
}
