package wallet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// ScanBlobs asks a scan service for the blobs with which parties that do not see public contracts
// can use them: history doesn't have the blobs. It is safe for concurrent use.
type ScanBlobs struct {
	base, name string
	client     *http.Client
	known      *memo.LRU[string, string] // by contract id, which never changes
}

const (
	blobTimeout = 10 * time.Second
	maxBlobs    = 10_000   // remembered
	maxBlobPage = 64 << 20 // bytes of one answer
)

// NewScanBlobs asks a scan service at a base URL. client defaults to one of its own.
func NewScanBlobs(base string, client *http.Client) (*ScanBlobs, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("scan service %q is not an http or https URL", remote.Redact(u))
	}
	if client == nil {
		client = &http.Client{}
	}
	return &ScanBlobs{base: strings.TrimRight(base, "/"), name: remote.Redact(u), client: client, known: memo.NewLRU(maxBlobs, func(string, string) int64 { return 1 })}, nil
}

// blobOperation is the operation of a scan service that returns the contracts of a template; body
// is nil for a GET. ok is false for templates that no operation returns.
func blobOperation(name, key string) (path string, body []byte, ok bool) {
	switch name {
	case template.CoinRules:
		return "/v0/amulet-rules", []byte(`{}`), true
	case template.NameRules:
		return "/v0/ans-rules", []byte(`{}`), true
	case template.ExternalPartyCoinRules:
		return "/v0/external-party-amulet-rules", []byte(`{}`), true
	case template.OpenMiningRound, template.IssuingMiningRound:
		return "/v0/open-and-issuing-mining-rounds", []byte(`{"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`), true
	case template.UnclaimedDevelopmentFundCoupon:
		return "/v0/unclaimed-development-fund-coupons", nil, true
	case template.TransferPreapproval:
		return "/v0/transfer-preapprovals/by-party/" + url.PathEscape(key), nil, key != ""
	case template.FeaturedAppRight:
		return "/v0/featured-apps/" + url.PathEscape(key), nil, key != ""
	}
	return "", nil, false
}

// Fill gives the contracts of some templates their blobs, as far as the service has them.
func (b *ScanBlobs) Fill(ctx context.Context, contracts []Contract, key string, templates ...string) error {
	asked := map[string]bool{}
	for _, name := range templates {
		path, body, ok := blobOperation(name, key)
		if !ok || asked[path] || b.fill(contracts, name) {
			continue
		}
		asked[path] = true
		if err := b.ask(ctx, path, body); err != nil {
			return fmt.Errorf("asking %s for %s: %w", b.name, path, err)
		}
		b.fill(contracts, name)
	}
	return nil
}

// fill uses what is known and reports whether all contracts of a template have a blob.
func (b *ScanBlobs) fill(contracts []Contract, name string) bool {
	all := true
	for i := range contracts {
		if c := &contracts[i]; c.Blob == "" && ofTemplate(c.TemplateID, name) {
			c.Blob, _ = b.known.Get(c.ID)
			all = all && c.Blob != ""
		}
	}
	return all
}

// ask takes note of the blobs in an answer.
func (b *ScanBlobs) ask(ctx context.Context, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, blobTimeout)
	defer cancel()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := remote.NewRequest(ctx, method, b.base+path, body, http.Header{})
	if errors.Is(err, remote.ErrBadID) {
		return nil // there is no such party
	}
	if err != nil {
		return err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return remote.WithoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil // it has none
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New("status " + resp.Status)
	}
	answer, err := remote.Reader{Limit: maxBlobPage}.Body(resp)
	if err != nil {
		return err
	}
	var content any
	if err := json.Unmarshal(answer, &content); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	b.learn(content)
	return nil
}

// learn finds the contracts in an answer, wherever they are in it.
func (b *ScanBlobs) learn(content any) {
	switch content := content.(type) {
	case []any:
		for _, element := range content {
			b.learn(element)
		}
	case map[string]any:
		id, _ := content["contract_id"].(string)
		if blob, ok := content["created_event_blob"].(string); ok && id != "" && blob != "" {
			b.known.Put(id, blob)
			return
		}
		for _, member := range content {
			b.learn(member)
		}
	}
}
