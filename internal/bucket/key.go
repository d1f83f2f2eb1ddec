package bucket

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxKeyBytes is the longest key that S3 accepts.
const maxKeyBytes = 1024

// checkKey refuses keys that some store could not hold or would hold under another
// name: the embedded gateway maps keys to files, so each part between slashes must
// be a plain file name.
func checkKey(key string) error {
	if key == "" {
		return fmt.Errorf("empty object key")
	}
	if len(key) > maxKeyBytes {
		return fmt.Errorf("object key of %d bytes is longer than %d", len(key), maxKeyBytes)
	}
	if !utf8.ValidString(key) {
		return fmt.Errorf("object key %q is not valid UTF-8", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("object key %q has the path element %q", key, part)
		}
		if strings.ContainsFunc(part, isControl) {
			return fmt.Errorf("object key %q has a control character", key)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
