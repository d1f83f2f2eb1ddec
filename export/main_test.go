package export

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

func TestMain(m *testing.M) {
	os.Exit(buckettest.Main(func() int { return enginetest.Run(m) }))
}
