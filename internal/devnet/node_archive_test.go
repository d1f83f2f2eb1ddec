package devnet

import (
	"net/http"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
)

// A node keeps the packages of .dar files that it is given, and serves them as they are.
func TestNodeServesUploadedPackages(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{})
	payload := packagestest.Payload(packagestest.Trade("1.0.0"))
	dar, id := packagestest.DAR(payload, packagestest.Standard()), packagestest.ID(payload)
	missing := refusal{"not uploaded", "GET", "/v2/packages/" + id, "", 404, "PACKAGE_NOT_FOUND"}
	c.refuses(missing)
	for _, path := range []string{"/v2/packages", "/v2/dars"} {
		c.refuses(refusal{"no zip", "POST", path, "hello", 400, "INVALID_DAR"})
		c.refuses(refusal{"no package", "POST", path, string(packagestest.Zip(map[string][]byte{"x": nil})), 400, "INVALID_DAR"})
		c.refuses(refusal{"other bytes", "POST", path, string(packagestest.Zip(map[string][]byte{"x.dalf": append(packagestest.Archive(payload), 0x1a, 0)})), 400, "INVALID_DAR"})
	}
	c.refuses(missing)
	var nothing map[string]any
	c.call("POST", "/v2/dars", string(dar), &nothing)
	status, header, body := c.do("GET", "/v2/packages/"+id, "")
	if status != http.StatusOK || header.Get("Canton-Package-Hash") != id || header.Get("Content-Type") != "application/octet-stream" || string(body) != string(payload) {
		t.Errorf("status %d, %v, %d bytes", status, header, len(body))
	}
	var all struct {
		IDs []string `json:"packageIds"`
	}
	if c.call("GET", "/v2/packages", "", &all); !slices.Contains(all.IDs, id) || !slices.Contains(all.IDs, packagestest.ID(packagestest.Standard())) {
		t.Errorf("the packages are %q", all.IDs)
	}
}
