package nodeapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// updatesPageRequest is a request for a page of updates. The other pages repeat it with the token of the
// page before.
type updatesPageRequest struct {
	Begin      int64             `json:"beginOffsetExclusive"`
	End        *int64            `json:"endOffsetInclusive"`
	Size       int               `json:"maxPageSize"`
	Format     *wireUpdateFormat `json:"updateFormat"`
	Descending bool              `json:"descendingOrder"`
	Token      string            `json:"pageToken,omitempty"`
}

// pageToken says where a page of updates begins, and where the last one ends.
type pageToken struct{ begin, end int64 }

// digest identifies the request apart from its token.
func (q updatesPageRequest) digest() string {
	q.Token = ""
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(q) // a hash takes everything
	return strconv.FormatUint(h.Sum64(), 16)
}

func (t pageToken) text(digest string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", t.begin, t.end, digest))
}

// token reads the token of the request.
func (q updatesPageRequest) token() (t pageToken, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(q.Token)
	digest := ""
	if err == nil {
		_, err = fmt.Sscanf(string(raw), "%d %d %s", &t.begin, &t.end, &digest)
	}
	if err != nil || digest != q.digest() {
		return t, invalidArgument("page_token is not one of this request")
	}
	return t, nil
}

// updatesPage answers with a page of updates, in which there are no checkpoints.
func (n *readServer) updatesPage(r *http.Request, q *updatesPageRequest) (any, error) {
	size, err := n.pageSize(q.Size)
	if err != nil {
		return nil, err
	}
	span := pageToken{begin: q.Begin, end: n.currentEnd()}
	switch {
	case q.Token != "":
		if span, err = q.token(); err != nil {
			return nil, err
		}
	case q.End != nil:
		span.end = *q.End
	}
	if q.Format == nil {
		return nil, missingField("update_format")
	}
	f, err := n.formats.update(&updatesRequest{Format: q.Format})
	if err != nil {
		return nil, err
	}
	if err := principalOf(r.Context()).mayReadUpdates(f); err != nil {
		return nil, err
	}
	if _, err := n.checkRange(&updatesRequest{Begin: &span.begin, End: &span.end, Descending: q.Descending}); err != nil {
		return nil, err
	}
	stream := newUpdateStream(n.store, n.view, f, span.begin, span.end, q.Descending, math.MaxInt)
	elements, more, err := firstOf(r.Context(), stream, size)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"updates": elements, "lowestPageOffsetExclusive": span.begin, "highestPageOffsetInclusive": span.end}
	if !more {
		return answer, nil
	}
	last, err := offsetIn(elements[len(elements)-1])
	if err != nil {
		return nil, err
	}
	next := span
	if q.Descending {
		next.end = last - 1
		answer["lowestPageOffsetExclusive"] = next.end
	} else {
		next.begin = last
		answer["highestPageOffsetInclusive"] = last
	}
	answer["nextPageToken"] = next.text(q.digest())
	return answer, nil
}

// pageSize is how many elements a page has at most.
func (n *nodeCore) pageSize(asked int) (int, error) {
	if asked < 0 {
		return 0, invalidArgument("max_page_size %d is negative", asked)
	}
	if asked == 0 {
		return n.options.ListLimit, nil
	}
	return min(asked, n.options.ListLimit), nil
}

// firstOf reads up to some elements of a stream with an end, and whether there are more.
func firstOf(ctx context.Context, stream elementStream, size int) (elements []json.RawMessage, more bool, err error) {
	defer stream.Close()
	elements = []json.RawMessage{}
	for {
		taken, _, done, err := stream.take()
		if err != nil || ctx.Err() != nil {
			return nil, false, errors.Join(err, context.Cause(ctx))
		}
		for _, element := range taken {
			if len(elements) == size {
				return elements, true, nil
			}
			elements = append(elements, append(json.RawMessage(nil), element...))
		}
		if done {
			return elements, false, nil
		}
	}
}

// offsetIn is the offset of an update, in the element of a stream.
func offsetIn(element json.RawMessage) (int64, error) {
	var frame struct {
		Update map[string]struct {
			Value struct {
				Offset int64 `json:"offset"`
			} `json:"value"`
		} `json:"update"`
	}
	if err := json.Unmarshal(element, &frame); err != nil {
		return 0, fmt.Errorf("reading an update of our own: %w", err)
	}
	for _, update := range frame.Update {
		return update.Value.Offset, nil
	}
	return 0, errors.New("an update of our own has no offset")
}

// contractsPageRequest is a request for a page of active contracts.
type contractsPageRequest struct {
	At     *int64           `json:"activeAtOffset"`
	Format *wireEventFormat `json:"eventFormat"`
	Size   int              `json:"maxPageSize"`
	Token  string           `json:"pageToken"`
}

// contractsPage answers with a page of the contracts that are active at an offset, the ledger's end unless
// it is given. Its token has that offset, as the end moves on.
func (n *readServer) contractsPage(r *http.Request, q *contractsPageRequest) (any, error) {
	size, err := n.pageSize(q.Size)
	if err != nil {
		return nil, err
	}
	at, token := n.currentEnd(), ""
	if q.At != nil {
		at = *q.At
	}
	if q.Token != "" {
		offset, rest, _ := strings.Cut(q.Token, ".")
		given, err := strconv.ParseInt(offset, 10, 64)
		if err != nil || rest == "" || q.At != nil && *q.At != given {
			return nil, invalidArgument("page_token is not one of this request")
		}
		at, token = given, rest
	}
	stream, err := n.openContracts(r.Context(), &contractsRequest{At: &at, Format: q.Format, Token: token})
	if err != nil {
		return nil, err
	}
	elements, more, err := firstOf(r.Context(), stream, size)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"activeAtOffset": at, "activeContracts": elements}
	if more {
		var last struct {
			Token string `json:"streamContinuationToken"`
		}
		if err := json.Unmarshal(elements[len(elements)-1], &last); err != nil {
			return nil, fmt.Errorf("reading a contract of our own: %w", err)
		}
		answer["nextPageToken"] = strconv.FormatInt(at, 10) + "." + last.Token
	}
	return answer, nil
}

// emptyBody has a handler that reads a body answer requests without one, too.
func emptyBody(r *http.Request) bool { return r.Body == nil || r.ContentLength == 0 }

// askedPerhaps is asked for operations whose body may be left out.
func askedPerhaps[Q any](handle func(r *http.Request, q *Q) (any, error)) nodeHandler {
	return answered(func(r *http.Request) (any, error) {
		q := new(Q)
		if !emptyBody(r) {
			if err := reply.Decode(r, q); err != nil {
				return nil, err
			}
		}
		return handle(r, q)
	})
}
