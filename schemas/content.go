package schemas

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/zeebo/xxh3"
)

// ContentHash hashes the content of items in their order: XXH3-128 over the fields that
// the wire form has, those of a node's own stream included. A JSON value stands as its own
// XXH3-128, a text with its length before it, a number in 8 bytes, a list with its number
// of elements, and what need not be there with a byte that says whether it is. It does not
// depend on how items came in pages, and costs a fraction of rendering them. The zero value
// has no items.
type ContentHash struct {
	hash xxh3.Hasher
	buf  []byte
}

// Add takes the next item in.
func (c *ContentHash) Add(it *Item) {
	c.buf = appendItemContent(c.buf[:0], it)
	_, _ = c.hash.Write(c.buf) // a hash takes everything
}

// Sum is the hash of the items since the last Reset, as 32 hex digits.
func (c *ContentHash) Sum() string {
	sum := c.hash.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// Reset forgets all items.
func (c *ContentHash) Reset() { c.hash.Reset() }

func appendItemContent(dst []byte, it *Item) []byte {
	dst = appendPresence(dst, it.Update != nil, it.Verdict != nil, it.Traffic != nil, it.AppActivity != nil)
	if it.Update != nil {
		dst = appendUpdateContent(dst, it.Update)
	}
	if it.Verdict != nil {
		dst = appendVerdictContent(dst, it.Verdict)
	}
	if t := it.Traffic; t != nil {
		dst = appendValueContent(appendNumber(dst, t.TotalCost), t.Envelopes)
	}
	if a := it.AppActivity; a != nil {
		dst = appendValueContent(appendNumber(dst, a.RoundNumber), a.Records)
	}
	return dst
}

// appendUpdateContent leaves out what an update of its kind does not have.
func appendUpdateContent(dst []byte, u *Update) []byte {
	dst = appendTextContent(dst, u.Kind)
	dst = appendNumber(dst, u.MigrationID)
	dst = appendNumber(dst, u.RecordTime)
	dst = appendTextContent(dst, u.UpdateID)
	dst = appendPresence(dst, u.Reassignment != nil, u.Local != nil)
	if u.Kind == Transaction || u.Local != nil {
		dst = appendNumber(dst, u.EffectiveAt)
		dst = appendTextContent(dst, u.SynchronizerID)
		dst = appendTextContent(dst, u.WorkflowID)
		dst = appendTextContent(dst, u.ExternalTransactionHash)
	}
	if u.Kind == Transaction && u.Local == nil {
		dst = appendNodes(dst, u.RootEvents)
	}
	if r := u.Reassignment; r != nil {
		dst = appendReassignmentContent(dst, u, r)
	}
	if l := u.Local; l != nil {
		dst = appendNumber(dst, l.Offset)
		dst = appendNumber(dst, max(l.PaidTrafficCost, -1))
		dst = appendTextContent(dst, l.CommandID)
		dst = appendValueContent(dst, l.TraceContext)
		dst = appendValueContent(dst, l.Topology)
		dst = appendValueContent(dst, l.Extras)
	}
	dst = binary.AppendUvarint(dst, uint64(len(u.Events)))
	for i := range u.Events {
		dst = appendEventContent(dst, u, &u.Events[i])
	}
	return dst
}

// appendReassignmentContent: the events of a node's stream say themselves which contracts
// were reassigned, and how often.
func appendReassignmentContent(dst []byte, u *Update, r *Reassignment) []byte {
	dst = appendTextContent(dst, r.Submitter)
	dst = appendTextContent(dst, r.SourceSynchronizer)
	dst = appendTextContent(dst, r.TargetSynchronizer)
	dst = appendTextContent(dst, r.UnassignID)
	if u.Local != nil {
		return dst
	}
	dst = appendNumber(dst, r.Counter)
	if u.Kind == Unassignment {
		dst = appendTextContent(dst, r.ContractID)
	}
	return dst
}

func appendEventContent(dst []byte, u *Update, e *Event) []byte {
	dst = appendTextContent(dst, e.Kind)
	dst = appendTextContent(dst, e.EventID)
	dst = appendTextContent(dst, e.ContractID)
	dst = appendTextContent(dst, e.TemplateID)
	dst = appendTextContent(dst, e.PackageName)
	switch e.Kind {
	case Created:
		dst = appendValueContent(dst, e.Argument)
		dst = appendNumber(dst, e.CreatedAt)
		dst = appendTexts(dst, e.Signatories)
		dst = appendTexts(dst, e.Observers)
	case Unassigned:
	default:
		dst = appendValueContent(dst, e.Argument)
		dst = appendValueContent(dst, e.Result)
		dst = appendTextContent(dst, e.Choice)
		dst = appendTextContent(dst, e.InterfaceID)
		dst = appendPresence(dst, e.Consuming)
		dst = appendTexts(dst, e.ActingParties)
		dst = appendNodes(dst, e.Children)
	}
	if u.Local == nil {
		return dst
	}
	l := e.Local
	if l == nil {
		l = &LocalEvent{LastDescendant: e.Node}
	}
	dst = appendNumber(dst, e.Node)
	dst = appendPresence(dst, l.ACSDelta)
	dst = appendNumber(dst, l.LastDescendant)
	dst = appendValueContent(dst, l.Extras)
	return appendTexts(dst, l.Witnesses)
}

func appendVerdictContent(dst []byte, v *Verdict) []byte {
	dst = appendTextContent(dst, v.UpdateID)
	dst = appendNumber(dst, v.MigrationID)
	dst = appendTextContent(dst, v.SynchronizerID)
	dst = appendNumber(dst, v.RecordTime)
	dst = appendNumber(dst, v.FinalizationTime)
	dst = appendTexts(dst, v.SubmittingParties)
	dst = appendTextContent(dst, v.SubmittingParticipantUID)
	dst = appendTextContent(dst, v.Result)
	dst = appendNumber(dst, v.MediatorGroup)
	dst = appendNumber(dst, max(v.RoundNumber, -1))
	return appendValueContent(dst, v.Views)
}

func appendPresence(dst []byte, there ...bool) []byte {
	for _, is := range there {
		b := byte(0)
		if is {
			b = 1
		}
		dst = append(dst, b)
	}
	return dst
}

func appendNumber[N ~int32 | ~int64](dst []byte, n N) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(n))
}

// appendValueContent appends the hash of a JSON value, which is large, in its place: that
// spares copying it.
func appendValueContent(dst, value []byte) []byte {
	sum := xxh3.Hash128(value).Bytes()
	return append(dst, sum[:]...)
}

func appendTextContent[T ~string](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func appendTexts(dst []byte, list []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, text := range list {
		dst = appendTextContent(dst, text)
	}
	return dst
}

func appendNodes(dst []byte, nodes []int32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(nodes)))
	for _, n := range nodes {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}
