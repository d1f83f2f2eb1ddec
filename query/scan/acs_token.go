package scan

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// acsKey is where a page begins: after a contract of a fixed active set.
type acsKey struct {
	at         schemas.Micros
	createdAt  schemas.Micros
	contractID string
	// place counts the contracts up to this one, by the filters that the store knows; it is
	// known only where pages are numbered.
	place int64
}

func keyOf(at schemas.Micros, c *history.ActiveContract, place int64) acsKey {
	return acsKey{at: at, createdAt: c.Event.CreatedAt, contractID: c.Event.ContractID, place: place}
}

func (k acsKey) payload() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(k.at))
	b = binary.BigEndian.AppendUint64(b, uint64(k.createdAt))
	return append(b, k.contractID...)
}

func parseACSKey(payload []byte) (acsKey, error) {
	if len(payload) <= 16 {
		return acsKey{}, fmt.Errorf("page token payload of %d bytes is too short", len(payload))
	}
	return acsKey{
		at:         schemas.Micros(binary.BigEndian.Uint64(payload)),
		createdAt:  schemas.Micros(binary.BigEndian.Uint64(payload[8:])),
		contractID: string(payload[16:]),
	}, nil
}

// pageToken is a page token as it came.
type pageToken struct {
	given, numbered bool
	text            string
	number          int64
}

func readToken(p *query.Params, v setVersion) pageToken {
	t := pageToken{numbered: v.numbered}
	if v.numbered {
		t.number, t.given = p.OptionalInt64("after")
	} else {
		t.text, t.given = p.OptionalText("after")
	}
	return t
}

// A numbered token is place<<placeShift with a keyed hash over the place, the instant of
// the set and the request in the bits below. Up to place 2^29 it has 53 bits, and not every
// client reads larger integers exactly.
const (
	placeShift = 24
	// olderSnapshots is how many snapshots before the newest one the first page of
	// at_or_before may have been of: 16 days. The token does not say which.
	olderSnapshots = 128
	// placeStep is how many contracts are counted in one query when a place is looked for.
	placeStep = 65_536
	// placesBytes bounds what is remembered of the keys at places.
	placesBytes = 4 << 20
)

// sealKey makes the token for what follows a key, as JSON.
func (a *activeSets) sealKey(req *acsRequest, k acsKey, v setVersion) string {
	if !v.numbered {
		return `"` + a.tokens.Seal(req.digest(), k.payload()) + `"`
	}
	a.remember(req, k)
	return strconv.FormatInt(a.number(req.digest(), k.at, k.place), 10)
}

func (a *activeSets) number(digest []byte, at schemas.Micros, place int64) int64 {
	mac := a.tokens.MAC(digest, fmt.Appendf(nil, "place %d at %d", place, at))
	return place<<placeShift | int64(binary.BigEndian.Uint32(mac)>>(32-placeShift))
}

// openNumber returns the key that a numbered token stands for. It is usually remembered;
// else, after a restart or on another server, contracts are counted up to it.
func (a *activeSets) openNumber(ctx context.Context, req *acsRequest, token int64) (acsKey, error) {
	instants, err := a.instantsOf(ctx, req)
	if err != nil {
		return acsKey{}, err
	}
	digest, place := req.digest(), token>>placeShift
	for _, at := range instants {
		if place >= 1 && a.number(digest, at, place) == token {
			return a.keyAt(ctx, req, at, place)
		}
	}
	return acsKey{}, invalidToken()
}

// instantsOf returns the instants that the first page of a request may have been of, the
// likeliest first.
func (a *activeSets) instantsOf(ctx context.Context, req *acsRequest) ([]schemas.Micros, error) {
	newest, err := a.instantOf(ctx, req)
	if err != nil || req.Match != matchAtOrBefore {
		return []schemas.Micros{newest}, err
	}
	s, err := snapshotsIn(ctx, a.horizon, req.MigrationID)
	if err != nil {
		return nil, err
	}
	var instants []schemas.Micros
	for at := newest; s.has(at) && len(instants) <= olderSnapshots; at -= snapshotPeriod {
		instants = append(instants, at)
	}
	return instants, nil
}

// keyAt returns the key of the contract at a place of a set.
func (a *activeSets) keyAt(ctx context.Context, req *acsRequest, at schemas.Micros, place int64) (acsKey, error) {
	if payload, ok := a.places.Get(placeName(req, at, place)); ok {
		k, err := parseACSKey(payload)
		k.place = place
		return k, err
	}
	k := acsKey{at: at}
	for k.place < place {
		step := int(min(place-k.place, placeStep))
		keys, err := a.source.ActiveKeys(ctx, req.query(at).From(k.createdAt, k.contractID, step), 1)
		if err != nil {
			return acsKey{}, err
		}
		if len(keys) == 0 {
			return acsKey{}, invalidToken()
		}
		k.createdAt, k.contractID, k.place = keys[0].CreatedAt, keys[0].ContractID, k.place+int64(step)
	}
	a.remember(req, k)
	return k, nil
}

func (a *activeSets) remember(req *acsRequest, k acsKey) {
	a.places.Put(placeName(req, k.at, k.place), k.payload())
}

// placeName identifies a place among all requests.
func placeName(req *acsRequest, at schemas.Micros, place int64) string {
	sum := sha256.Sum256(fmt.Appendf(req.digest(), " %d %d", at, place))
	return string(sum[:16])
}

func invalidToken() error {
	return query.Errorf(query.Invalid, "Invalid after token: it must come from a request with the same parameters.")
}
