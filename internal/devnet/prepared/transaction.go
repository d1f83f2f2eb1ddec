package prepared

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Transaction is a prepared transaction that was taken apart.
type Transaction struct{ tree, metadata message }

// Decode takes a message apart. The error says why it has no hash: it is no such message, or
// its nodes are not a forest of creations and exercises.
func Decode(b []byte) (*Transaction, error) {
	var d decoder
	m := d.open(b)
	t := &Transaction{tree: d.open(m.content(preparedTransaction)), metadata: d.open(m.content(preparedMetadata))}
	if len(t.tree) == 0 || len(t.metadata) == 0 {
		d.fail("it has no transaction or no metadata")
	}
	h := t.newHasher(V2)
	h.hash(t)
	return t, cmp.Or(d.err, h.err)
}

// PreparedAt is when it was prepared.
func (t *Transaction) PreparedAt() time.Time {
	return time.UnixMicro(int64(t.metadata.number(metadataPreparedAt))).UTC()
}

// Submission returns the commands that bring the transaction about, one for each root; its
// input contracts are disclosed to them. The user is not part of what is signed.
func (t *Transaction) Submission(names *model.Names) (choices.Submission, error) {
	h := t.newHasher(V2)
	submitter := h.open(t.metadata.content(metadataSubmitter))
	s := choices.Submission{External: true, CommandID: submitter.text(submitterCommandID), ActAs: submitter.texts(submitterActAs),
		SynchronizerID: t.metadata.text(metadataSynchronizer), MinLedgerTime: t.timeAt(metadataMinTime),
		MaxRecordTime: t.timeAt(metadataMaxRecordTime)}
	var known bool
	if s.Reserved, known = names.IDs.UUIDNumber(t.metadata.text(metadataUUID)); !known {
		h.fail("transaction_uuid %.40q is not one of this participant", t.metadata.text(metadataUUID))
	}
	for _, id := range t.tree.texts(transactionRoots) {
		s.Commands = append(s.Commands, h.command(h.nodes[id]))
	}
	for _, f := range t.metadata[metadataInputs] {
		input := h.open(f.content)
		s.Disclosed = append(s.Disclosed, choices.DisclosedContract{
			ContractID: h.open(input.content(inputV1)).text(nodeContract),
			Blob:       base64.StdEncoding.EncodeToString(input.content(inputBlob)),
		})
	}
	return s, h.err
}

// timeAt returns an optional time of the metadata, zero without one.
func (t *Transaction) timeAt(n protowire.Number) (at time.Time) {
	if t.metadata[n] != nil {
		at = time.UnixMicro(int64(t.metadata.number(n))).UTC()
	}
	return at
}

// command returns what a root node executes.
func (h *hasher) command(node message) choices.Command {
	if node[nodeExercise] == nil {
		m := h.open(node.content(nodeCreate))
		return choices.Command{TemplateID: h.idText(m.content(nodeTemplate)), CreateArguments: h.jsonText(m.content(createArgument))}
	}
	m := h.open(node.content(nodeExercise))
	name := m.content(nodeTemplate)
	if m[exerciseThrough] != nil {
		name = m.content(exerciseThrough)
	}
	return choices.Command{TemplateID: h.idText(name), ContractID: m.text(nodeContract), Choice: m.text(exerciseChoice),
		Argument: h.jsonText(m.content(exerciseArg))}
}

func (d *decoder) idText(b []byte) string {
	m := d.open(b)
	return m.text(identifierPackage) + ":" + m.text(identifierModule) + ":" + m.text(identifierEntity)
}

func (d *decoder) jsonText(value []byte) json.RawMessage {
	text, err := json.Marshal(d.json(value))
	if err != nil {
		d.fail("writing a value as JSON: %v", err)
	}
	return text
}

// Same reports whether two transactions do the same with the same contracts, apart from times
// in what they do.
func (t *Transaction) Same(other *Transaction) bool { return bytes.Equal(t.outline(), other.outline()) }

// outline is what Same compares.
func (t *Transaction) outline() []byte {
	h := t.newHasher(V2)
	h.timeless = true
	return appendEach(h.transaction(t.tree), t.metadata[metadataInputs], func(dst []byte, f field) []byte {
		return appendSized(h.input(dst, f), h.open(f.content).content(inputBlob))
	})
}
