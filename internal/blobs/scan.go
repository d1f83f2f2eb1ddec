package blobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

const (
	askTimeout = 10 * time.Second
	maxAnswer  = 64 << 20 // bytes
	// scanPrefix is where the operations of a scan are, but not its registry, which is at its root.
	scanPrefix = "/api/scan"
)

// scanService is another scan. name is its URL without credentials.
type scanService struct {
	base, name string
	client     *http.Client
}

// operationOf is the operation of a scan that returns the contracts of a template; body is nil for a
// GET. ok is false for templates that no operation returns.
func operationOf(name, key string) (path string, body []byte, ok bool) {
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

// ask returns the answer to a request; body is nil for a GET. Refusals are answers, but for those
// that say that the service cannot answer.
func (s *scanService) ask(ctx context.Context, path string, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	method, base := http.MethodGet, s.base
	if body != nil {
		method = http.MethodPost
	}
	if strings.HasPrefix(path, "/registry/") {
		base = strings.TrimSuffix(base, scanPrefix)
	}
	req, err := remote.NewRequest(ctx, method, base+path, body, http.Header{})
	if errors.Is(err, remote.ErrBadID) {
		return http.StatusNotFound, []byte(`{}`), nil // there is no such party or contract
	}
	if err != nil {
		return 0, nil, s.failed(path, err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, s.failed(path, remote.WithoutURL(err))
	}
	defer resp.Body.Close()
	if code := resp.StatusCode; code != http.StatusOK && (code < 400 || code >= 500 || code == http.StatusTooManyRequests) {
		return 0, nil, s.failed(path, errors.New("status "+resp.Status))
	}
	if answer, err = (remote.Reader{Limit: maxAnswer}).Body(resp); err != nil {
		return 0, nil, s.failed(path, err)
	}
	return resp.StatusCode, answer, nil
}

func (s *scanService) failed(path string, err error) error {
	return fmt.Errorf("asking %s for %s: %w", s.name, path, err)
}

// learn notes the blobs of the contracts in an answer, wherever they are in it.
func (f *Finder) learn(path string, answer []byte) error {
	var content any
	if err := json.Unmarshal(answer, &content); err != nil {
		return f.scan.failed(path, fmt.Errorf("reading the answer: %w", err))
	}
	f.note(content)
	return nil
}

// members are those of contracts and of disclosed contracts that have the id and the blob.
var members = [...][2]string{{"contract_id", "created_event_blob"}, {"contractId", "createdEventBlob"}}

func (f *Finder) note(content any) {
	switch content := content.(type) {
	case []any:
		for _, element := range content {
			f.note(element)
		}
	case map[string]any:
		for _, m := range members {
			id, _ := content[m[0]].(string)
			if blob, _ := content[m[1]].(string); id != "" && blob != "" {
				f.known.Put(id, blob)
				return
			}
		}
		for _, member := range content {
			f.note(member)
		}
	}
}
