package query

import "strings"

// immutableFor is how long an immutable answer may be used without asking: history does
// not change, but a later version with a larger catalogue may write a value differently.
const immutableFor = "public, max-age=86400, immutable"

// Immutable says of the answer that follows that the same request will always get it: it
// carries a tag of its content, and to GET one that the client has already is not sent
// again; of POST the tag only tells whether two answers are the same.
func (r *Request) Immutable() { r.reply.immutable = true }

// Matches reports whether the request's If-None-Match names a tag, such as `"1234"`. A weak
// tag matches too: the comparison is for caching.
func (r *Request) Matches(tag string) bool { return matches(r.Header("If-None-Match"), tag) }

func matches(header, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return true
		}
	}
	return false
}
