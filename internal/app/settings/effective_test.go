package settings

import (
	"strings"
	"testing"
)

// TestEffectiveSettingsAreMasked holds that all settings are listed with the values in effect, and no secret.
func TestEffectiveSettingsAreMasked(t *testing.T) {
	var c Config
	c.Flags() // sets defaults
	c.S3Bucket, c.S3SecretKey, c.RedisURL, c.ScanURLs = "a-bucket", "top-secret", "redis://:top-secret@host:1", []string{"http://u:top-secret@scan"}
	values := make(map[string]Effective)
	for _, s := range c.Effective() {
		if values[s.Name] = s; strings.Contains(s.Value, "top-secret") {
			t.Errorf("%s shows %q", s.Name, s.Value)
		}
	}
	if s := values["s3-bucket"]; s.Value != "a-bucket" || !s.Changed || s.Group != GroupObjects || s.Usage == "" {
		t.Errorf("s3-bucket is %+v", s)
	}
	if s := values["s3-region"]; s.Value != "us-east-1" || s.Changed {
		t.Errorf("s3-region is %+v", s)
	}
	if s := values["s3-secret-key"]; s.Value != "********" || !s.Changed {
		t.Errorf("s3-secret-key is %+v", s)
	}
	if s := values["scan-url"]; s.Value != "http://u:xxxxx@scan" {
		t.Errorf("scan-url is %+v", s)
	}
	if c.S3Bucket != "a-bucket" {
		t.Error("listing the settings has changed them")
	}
}
