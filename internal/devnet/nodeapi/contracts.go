package nodeapi

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// contractStream gives the contracts that are active on the node at an offset, in the
// order of their activation.
type contractStream struct {
	updates updateStream // for its readers and buffers
	format  *eventFormat
	at      int64
	digest  string // of the request, in continuation tokens
	next    int    // activation
	picked  []pickedActivation
}

// pickedActivation is an activation whose contract is active or in flight.
type pickedActivation struct {
	history.Activation
	number    int
	item      history.NodeItem
	departure history.NodeItem
	inFlight  bool
}

func newContractStream(s *history.Store, v *history.NodeView, f *eventFormat, at int64, token string) (elementStream, error) {
	c := &contractStream{format: f, at: at}
	h := fnv.New64a()
	fmt.Fprint(h, v.Uid(), " ", at, " ", f) // a hash takes everything
	c.digest = strconv.FormatUint(h.Sum64(), 16)
	if token != "" {
		next, err := c.continued(token)
		if err != nil {
			return nil, err
		}
		c.next = next
	}
	c.updates = updateStream{store: s, view: v, cutter: cutter{names: v.Names}}
	c.updates.frames.Open(s.Files[history.NodeFile])
	c.updates.records.Open(s.Files[history.NodeRecordFile])
	return c, nil
}

func (c *contractStream) Close() { c.updates.Close() }

func (c *contractStream) idle() []byte { return nil }

// token says that everything up to an activation was given.
func (c *contractStream) token(number int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(number+1) + " " + c.digest))
}

// continued returns the activation to go on with.
func (c *contractStream) continued(token string) (int, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	number, digest, _ := strings.Cut(string(raw), " ")
	next, parseErr := strconv.Atoi(number)
	if err != nil || parseErr != nil || next < 0 || digest != c.digest {
		return 0, invalidArgument("stream_continuation_token is not one of this request")
	}
	return next, nil
}

func (c *contractStream) take() ([][]byte, <-chan struct{}, bool, error) {
	done := c.pick()
	u := &c.updates
	u.found, u.bounds, u.buffer = u.found[:0], u.bounds[:0], u.buffer[:0]
	for i := range c.picked {
		if err := c.contract(&c.picked[i]); err != nil {
			return nil, nil, false, err
		}
		u.bounds = append(u.bounds, len(u.buffer))
	}
	u.divide()
	return u.found, nil, done, nil
}

// activationsPerPick bounds how long the lock is held.
const activationsPerPick = 4096

// pick chooses the next contracts and reports whether these are the last.
func (c *contractStream) pick() (done bool) {
	s := c.updates.store
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	c.picked = c.picked[:0]
	x := s.Node
	for looked := 0; looked < activationsPerPick && len(c.picked) < itemsPerTake; looked++ {
		if c.next >= len(x.Activations) || x.Entries[x.Activations[c.next].Entry].Offset > c.at {
			return true
		}
		a := x.Activations[c.next]
		p := pickedActivation{Activation: a, number: c.next, item: s.NodeItem(int(a.Entry))}
		c.next++
		if a.Ended <= c.at {
			if a.Left < 0 || a.Returned <= c.at {
				continue
			}
			p.inFlight, p.departure = true, s.NodeItem(int(a.Left))
		}
		c.picked = append(c.picked, p)
	}
	return false
}

// contract appends the element of a contract, nothing if the client does not want it.
func (c *contractStream) contract(p *pickedActivation) error {
	u := &c.updates
	if err := u.load(&p.item); err != nil {
		return err
	}
	e := &u.record.List[p.Event]
	ps, w := u.cutter.matching(c.format, e.Stakeholders, e.Template, e.Version)
	if len(ps) == 0 {
		return nil
	}
	dst := append(u.buffer, `{"contractEntry":{`...)
	if p.inFlight {
		dst = u.cutter.createdEvent(append(dst, `"JsIncompleteUnassigned":{"createdEvent":`...), u.frame, e, ps, w)
		var err error
		if dst, err = c.unassigned(append(dst, `,"unassignedEvent":`...), p); err != nil {
			return err
		}
		dst = append(dst, '}')
	} else {
		dst = u.cutter.createdEvent(append(dst, `"JsActiveContract":{"createdEvent":`...), u.frame, e, ps, w)
		dst = strconv.AppendInt(append(dst, `,"reassignmentCounter":`...), int64(p.Counter), 10)
		dst = append(append(dst, `,"synchronizerId":"`...), u.view.Names.Synchronizers[p.Domain]...)
		dst = append(dst, `"}`...)
	}
	dst = model.AppendPlain(append(dst, `},"streamContinuationToken":`...), c.token(p.number))
	u.buffer = append(dst, `,"workflowId":""}`...)
	return nil
}

// unassigned appends the event by which a contract in flight left.
func (c *contractStream) unassigned(dst []byte, p *pickedActivation) ([]byte, error) {
	u := &c.updates
	if err := u.load(&p.departure); err != nil {
		return dst, err
	}
	const head, end = `{"JsUnassignedEvent":{"value":`, `}}`
	e := &u.record.List[0]
	ps, _ := u.cutter.matching(c.format, e.Stakeholders, e.Template, e.Version)
	dst = u.cutter.uptoWitnesses(dst, u.frame, e.All.Start+len(head), e, wanted{})
	return append(u.cutter.parties(dst, ps), u.frame[e.Witness.End:e.All.End-len(end)]...), nil
}
