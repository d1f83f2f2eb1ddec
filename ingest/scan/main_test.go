package scan

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) {
	schematest.WaitInParallel() // most of them do
	os.Exit(m.Run())
}
