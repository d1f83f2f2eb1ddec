package app

import (
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/scan"
)

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	os.Exit(enginetest.Run(m))
}

var loadScanDocument = sync.OnceValues(func() (*openapitest.Document, error) {
	return openapitest.Load(openapi.Scan, scan.Prefixes[:])
})

// documented is a client that compares requests and answers with the document of the scan interface.
func documented(t *testing.T) *http.Client {
	t.Helper()
	document, err := loadScanDocument()
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: document.Transport(t, http.DefaultTransport)}
}
