package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// The operations by which upstreams say their version.
const (
	scanVersion      = "/version"
	scanVersionBelow = "/api/scan/version"
	nodeVersion      = "/v2/version"
)

// Scan refuses an address at which no scan service answers. A service that is out of order,
// or wants to know who asks, may be one.
func Scan(ctx context.Context, setting, raw string) error {
	if err := Reach(ctx, setting, raw); err != nil {
		return err
	}
	for _, path := range []string{scanVersion, scanVersionBelow} {
		if known, err := answersVersion(ctx, raw, path); known || err != nil {
			return nil
		}
	}
	if known, err := answersVersion(ctx, raw, nodeVersion); known && err == nil {
		fix := "give it as --node-url"
		if setting != "scan-url" {
			fix = "give the address of a scan service or of a ledgerlake"
		}
		return fmt.Errorf("--%s %s: this is the ledger API of a node, not a scan service: %s", setting, settings.MaskURL(raw), fix)
	}
	return fmt.Errorf("--%s %s: the service there is not a scan service: give the address that has %s or %s", setting, settings.MaskURL(raw), scanVersion, scanVersionBelow)
}

// Node is reachScan for the ledger API of a node.
func Node(ctx context.Context, raw string) error {
	if err := Reach(ctx, "node-url", raw); err != nil {
		return err
	}
	if known, err := answersVersion(ctx, raw, nodeVersion); known || err != nil {
		return nil
	}
	for _, path := range []string{scanVersion, scanVersionBelow} {
		if known, err := answersVersion(ctx, raw, path); known && err == nil {
			return fmt.Errorf("--node-url %s: this is a scan service, not the ledger API of a node: give it as --scan-url", settings.MaskURL(raw))
		}
	}
	return fmt.Errorf("--node-url %s: the service there is not the ledger API of a node: give the address that has %s", settings.MaskURL(raw), nodeVersion)
}

// errUndecided means that an answer says nothing about what the service is.
var errUndecided = errors.New("the answer does not tell what the service is")

// answersVersion reports whether an operation answers with a version.
func answersVersion(ctx context.Context, base, path string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, nil)
	if err != nil {
		return false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return false, err
	}
	switch {
	case response.StatusCode == http.StatusOK:
		var answer struct {
			Version string `json:"version"`
		}
		return json.Unmarshal(body, &answer) == nil && answer.Version != "", nil
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusMethodNotAllowed:
		return false, nil
	}
	return false, errUndecided
}
