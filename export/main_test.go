package export

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	os.Exit(enginetest.Run(m))
}
