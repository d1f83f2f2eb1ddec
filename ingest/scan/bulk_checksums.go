package scan

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ledgerlake/ledgerlake/schemas"
)

const checksumsOperation = "/v0/history/bulk/checksums"

// BulkChecksums returns the SHA-256 of bulk objects in hex, in the order of the keys; "" for
// an object that the upstream does not have. Digests are read in base64, as the network
// writes them, and in hex.
func (c *Client) BulkChecksums(ctx context.Context, keys []string) ([]string, error) {
	body, err := c.do(ctx, &call{
		method: http.MethodPost, operation: checksumsOperation, expect: int64(len(keys)) * 100,
		body: struct {
			Keys []string `json:"object_keys"`
		}{keys},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Checksums []struct {
			Value string `json:"value"`
		} `json:"checksums"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("reading the checksums of %s: %w: %w", c.name, schemas.ErrMalformed, err)
	}
	if len(answer.Checksums) != len(keys) {
		return nil, fmt.Errorf("%s returned %d checksums for %d objects: %w", c.name, len(answer.Checksums), len(keys), schemas.ErrMalformed)
	}
	sums := make([]string, len(keys))
	for i, sum := range answer.Checksums {
		if sums[i], err = hexSum(sum.Value); err != nil {
			return nil, fmt.Errorf("the checksum that %s returned for %s: %w", c.name, keys[i], err)
		}
	}
	return sums, nil
}

// hexSum returns a SHA-256 in hex, "" as it is.
func hexSum(value string) (string, error) {
	const size = 32
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(raw) != size {
		if raw, err = hex.DecodeString(value); err != nil || len(raw) != size {
			if value == "" {
				return "", nil
			}
			return "", fmt.Errorf("%q is not a SHA-256: %w", value, schemas.ErrMalformed)
		}
	}
	return hex.EncodeToString(raw), nil
}
