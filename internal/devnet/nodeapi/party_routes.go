package nodeapi

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

func (n *partyServer) listParties(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := n.checkIdentityProvider(query.Get("identity-provider-id")); err != nil {
		return nil, err
	}
	p, err := pageOf(r, maxPartiesPage)
	if err != nil {
		return nil, err
	}
	found, more := n.partiesAfter(p.after, query.Get("filter-party"), p.limit)
	answer := map[string]any{"partyDetails": append([]PartyDetails{}, found...), "nextPageToken": ""}
	if more {
		answer["nextPageToken"] = nextPage(found[len(found)-1].Party)
	}
	return answer, nil
}

// getParties answers with the parties that are known of those named in the path and in the
// query.
func (n *partyServer) getParties(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := n.checkIdentityProvider(query.Get("identity-provider-id")); err != nil {
		return nil, err
	}
	found := []PartyDetails{}
	names := append([]string{r.PathValue("party")}, query["parties"]...)
	for i, name := range names {
		if n.knowsParty(name) && !slices.Contains(names[:i], name) {
			found = append(found, n.detailsOf(name))
		}
	}
	return map[string]any{"partyDetails": found}, nil
}

type allocatePartyRequest struct {
	Hint               string            `json:"partyIdHint"`
	Metadata           ledger.ObjectMeta `json:"localMetadata"`
	IdentityProviderID string            `json:"identityProviderId"`
	SynchronizerID     string            `json:"synchronizerId"`
	UserID             string            `json:"userId"`
}

func (n *partyServer) allocateParty(r *http.Request, q *allocatePartyRequest) (any, error) {
	if err := n.checkNewParty(q.IdentityProviderID, q.SynchronizerID, q.UserID); err != nil {
		return nil, err
	}
	if q.Metadata.ResourceVersion != "" {
		return nil, invalidField("local_metadata.resource_version", "it must be empty")
	}
	if err := checkMeta(q.Metadata); err != nil {
		return nil, err
	}
	if q.Hint != "" { // else the ledger makes one up
		if err := checkPartyHint(q.Hint); err != nil {
			return nil, err
		}
	}
	id, err := n.addParty(r, q.Hint, nil, q.UserID)
	if err != nil {
		return nil, err
	}
	if len(q.Metadata.Annotations) > 0 {
		if _, err := annotate(n.parties, id, q.Metadata); err != nil {
			return nil, err
		}
	}
	return map[string]any{"partyDetails": n.detailsOf(id)}, nil
}

// checkNewParty verifies where a party is to live and who is to act as it.
func (n *partyServer) checkNewParty(identityProvider, synchronizer, user string) error {
	if err := n.checkIdentityProvider(identityProvider); err != nil {
		return err
	}
	if synchronizer != "" && !slices.Contains(n.view.Names.Synchronizers, synchronizer) {
		return invalidArgument("this participant is not connected to synchronizer %q", synchronizer)
	}
	if user == "" {
		return nil
	}
	_, _, err := n.users.get(user)
	return err
}

// addParty allocates a party, external if it has a key, and lets a user act as it.
func (n *partyServer) addParty(r *http.Request, hint string, key ed25519.PublicKey, user string) (string, error) {
	// A client that goes away does not leave half a party.
	allocated, err := n.ledger.AllocateParty(context.WithoutCancel(r.Context()), hint, key)
	if err != nil {
		return "", asNodeError(err)
	}
	id := allocated.Party
	if user != "" {
		if _, err := n.users.grant(user, []ledger.Right{{Kind: "CanActAs", Party: id}}); err != nil {
			return "", err
		}
	}
	return id, nil
}

type updatePartyRequest struct {
	Details *PartyDetails `json:"partyDetails"`
	Mask    *fieldMask    `json:"updateMask"`
}

func (n *partyServer) updateParty(r *http.Request, q *updatePartyRequest) (any, error) {
	id := r.PathValue("party")
	switch {
	case q.Details == nil:
		return nil, reply.BadRequest("invalid body: partyDetails is required")
	case q.Mask == nil || len(q.Mask.Paths) == 0:
		return nil, missingField("update_mask")
	case q.Details.Party != "" && q.Details.Party != id:
		return nil, invalidArgument("party_details.party %q is not the party of the path, %q", q.Details.Party, id)
	case !n.knowsParty(id):
		return nil, nodeRefusal("PARTY_NOT_FOUND", "Party %q was not found", id)
	}
	for _, path := range q.Mask.Paths {
		if !slices.Contains([]string{"local_metadata", "localMetadata", "local_metadata.annotations", "localMetadata.annotations"}, path) {
			return nil, invalidField("update_mask", "the update path %q is unknown", path)
		}
	}
	if _, err := annotate(n.parties, id, q.Details.Metadata); err != nil {
		return nil, err
	}
	return map[string]any{"partyDetails": n.detailsOf(id)}, nil
}

type topologyRequest struct {
	Synchronizer     string   `json:"synchronizer"`
	Hint             string   `json:"partyHint"`
	Key              *wireKey `json:"publicKey"`
	ObservationOnly  bool     `json:"localParticipantObservationOnly"`
	OtherConfirming  []string `json:"otherConfirmingParticipantUids"`
	Threshold        int32    `json:"confirmationThreshold"`
	OtherObservation []string `json:"observingParticipantUids"`
}

// generateTopology answers with what a new external party has to sign.
func (n *partyServer) generateTopology(_ *http.Request, q *topologyRequest) (any, error) {
	if q.Key == nil {
		return nil, reply.BadRequest("invalid body: publicKey is required")
	}
	if q.Synchronizer == "" {
		return nil, missingField("synchronizer")
	}
	if q.ObservationOnly || len(q.OtherConfirming) > 0 || len(q.OtherObservation) > 0 || q.Threshold < 0 || q.Threshold > 1 {
		return nil, invalidArgument("external parties are hosted by this participant alone, which confirms for them")
	}
	if err := n.checkNewParty("", q.Synchronizer, ""); err != nil {
		return nil, err
	}
	if err := checkPartyHint(q.Hint); err != nil {
		return nil, err
	}
	key, err := q.Key.decode()
	if err != nil {
		return nil, err
	}
	p := externalParty{q.Hint, key}
	transactions, err := p.transactions(n.view.Uid(), q.Synchronizer)
	return map[string]any{"partyId": p.id(), "publicKeyFingerprint": model.Fingerprint(key),
		"topologyTransactions": transactions, "multiHash": multiHash(transactions)}, err
}

// allocateExternalParty allocates a party that has signed its topology.
func (n *partyServer) allocateExternalParty(r *http.Request, q *onboardingRequest) (any, error) {
	if q.Synchronizer == "" {
		return nil, missingField("synchronizer")
	}
	if len(q.Transactions) == 0 {
		return nil, missingField("onboarding_transactions")
	}
	if err := n.checkNewParty(q.IdentityProviderID, q.Synchronizer, q.UserID); err != nil {
		return nil, err
	}
	p, err := partyOf(q.bytes(), n.view.Uid(), q.Synchronizer)
	if err != nil {
		return nil, err
	}
	if err := q.verify(p.key); err != nil {
		return nil, err
	}
	id, err := n.addParty(r, p.hint, p.key, q.UserID)
	return map[string]string{"partyId": id}, err
}

// onboardingRequest asks for an external party.
type onboardingRequest struct {
	Synchronizer string `json:"synchronizer"`
	Transactions []struct {
		Transaction []byte          `json:"transaction"`
		Signatures  []wireSignature `json:"signatures"`
	} `json:"onboardingTransactions"`
	Signatures         []wireSignature `json:"multiHashSignatures"`
	IdentityProviderID string          `json:"identityProviderId"`
	UserID             string          `json:"userId"`
}

func (q *onboardingRequest) bytes() [][]byte {
	list := make([][]byte, len(q.Transactions))
	for i := range q.Transactions {
		list[i] = q.Transactions[i].Transaction
	}
	return list
}

// verify checks that a key signed the transactions: all of them at once, or each.
func (q *onboardingRequest) verify(key ed25519.PublicKey) error {
	if len(q.Signatures) > 0 {
		return verifyAll(q.Signatures, key, multiHash(q.bytes()))
	}
	for _, t := range q.Transactions {
		if len(t.Signatures) == 0 {
			return invalidArgument("an onboarding transaction is not signed by key %s", model.Fingerprint(key))
		}
		if err := verifyAll(t.Signatures, key, TopologyHash(t.Transaction)); err != nil {
			return err
		}
	}
	return nil
}

// verifyAll checks that every signature is one by the key.
func verifyAll(signatures []wireSignature, key ed25519.PublicKey, hash []byte) error {
	for i := range signatures {
		if err := signatures[i].verify(key, hash); err != nil {
			return err
		}
	}
	return nil
}
