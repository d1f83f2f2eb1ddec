package state

import "context"

// Blobs finds the blobs of contracts, by contract id, with which parties that do not see a contract
// can use it. Public history does not have them. Contracts whose blobs are not found are left out.
type Blobs interface {
	// Known has those that are at hand.
	Known(ctx context.Context, ids ...string) (map[string]string, error)
	// Find is Known, and asks a scan for contracts of a template. key is the party by which
	// contracts of some templates are asked for: the receiver of a preapproval, the provider of
	// an app.
	Find(ctx context.Context, template, key string, ids ...string) (map[string]string, error)
	// Registry has a scan answer a request to the registry of the token standard; ok is false if
	// there is none to ask. What blobs the answer has, Known has from now on.
	Registry(ctx context.Context, path string, body []byte) (status int, answer []byte, ok bool, err error)
}

// addBlobs gives contracts the blobs that are at hand.
func (s *contracts) addBlobs(ctx context.Context, list []contract) error {
	return s.fill(list, func(ids []string) (map[string]string, error) { return s.blobs.Known(ctx, ids...) })
}

// findBlobs gives contracts of a template their blobs, of which a scan is asked for those that are
// not at hand; see Blobs.Find.
func (s *contracts) findBlobs(ctx context.Context, template, key string, list []contract) error {
	return s.fill(list, func(ids []string) (map[string]string, error) { return s.blobs.Find(ctx, template, key, ids...) })
}

func (s *contracts) fill(list []contract, find func(ids []string) (map[string]string, error)) error {
	if s.blobs == nil || len(list) == 0 {
		return nil
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].Event.ContractID
	}
	found, err := find(ids)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].blob == "" {
			list[i].blob = found[list[i].Event.ContractID]
		}
	}
	return nil
}
