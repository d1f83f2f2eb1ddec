package schemas

import (
	"regexp"
	"testing"
)

func TestStoreVersionIsThatOfTheNewestMigration(t *testing.T) {
	files, err := Migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !regexp.MustCompile(`^\d{4}_[a-z_]+\.sql$`).MatchString(f.Name()) {
			t.Errorf("%s has no number of four digits: migrations would not be sorted", f.Name())
		}
	}
	if got := StoreVersion(); got < 160 {
		t.Errorf("StoreVersion() = %d, but migration 160 exists", got)
	}
}
