package prepared

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// lfVersion is that of all contracts' language.
const lfVersion = "2.1"

// Draft is a submission in execution, to be made a prepared transaction. Reserved of the
// submission must be set.
type Draft struct {
	Names          *model.Names
	Submission     *choices.Submission
	Update         *sim.Update
	SynchronizerID string
	Inputs         []*model.Contract // those that were there before
	PreparedAt     int64             // µs

	arena model.Arena // of the arguments of one contract
}

// Encode returns the message.
func (d *Draft) Encode() []byte {
	return appendMessage(appendMessage(nil, preparedTransaction, d.transaction()), preparedMetadata, d.metadata())
}

func (d *Draft) transaction() []byte {
	nodes := d.Update.Nodes
	dst := appendChildren(appendText(nil, transactionVersion, lfVersion), transactionRoots, nodes, 0, len(nodes))
	for i := range nodes {
		node := appendText(nil, nodeID, strconv.Itoa(i))
		if nodes[i].Choice == "" {
			node = appendMessage(node, nodeV1, appendMessage(nil, nodeCreate, d.create(nodes[i].Contract)))
		} else {
			node = appendMessage(node, nodeV1, appendMessage(nil, nodeExercise, d.exercise(i)))
		}
		dst = appendMessage(dst, transactionNodes, node)
	}
	for i := range nodes {
		var seed []byte
		if i > 0 { // 0 is left out, as by all encoders
			seed = appendNumber(seed, nodeID, uint64(i))
		}
		hash := d.Names.IDs.Seeds.Hash(d.Submission.Reserved + uint64(i))
		dst = appendMessage(dst, transactionSeeds, appendMessage(seed, seedBytes, hash[:]))
	}
	return dst
}

// appendChildren appends the ids of the topmost nodes of a range.
func appendChildren(dst []byte, n protowire.Number, nodes []sim.Node, from, end int) []byte {
	for at := from; at < end; at = int(nodes[at].End) {
		dst = appendText(dst, n, strconv.Itoa(at))
	}
	return dst
}

// begin returns what nodes begin with.
func (d *Draft) begin(c *model.Contract, version uint8) []byte {
	dst := appendText(nil, nodeVersion, lfVersion)
	dst = appendText(dst, nodeContract, string(d.Names.IDs.AppendContractID(nil, c.Number)))
	dst = appendText(dst, nodePackage, c.Template.Pkg.Name)
	return appendMessage(dst, nodeTemplate, identifier(d.Names.TemplateIDs[c.Template.Number][version]))
}

// identifier returns the message of package:Module:Entity.
func identifier(id string) (dst []byte) {
	for i, part := range strings.SplitN(id, ":", identifierEntity) {
		dst = appendText(dst, protowire.Number(identifierPackage+i), part)
	}
	return dst
}

func (d *Draft) create(c *model.Contract) []byte {
	d.arena.Reset()
	arguments := c.Payload.Arguments(&d.arena, c.Version)
	dst := appendMessage(d.begin(c, c.Version), createArgument, appendValue(nil, d.Names, &arguments))
	return d.stakeholders(dst, c, createSigners, createParties)
}

// stakeholders appends the signatories of a contract, then all stakeholders.
func (d *Draft) stakeholders(dst []byte, c *model.Contract, signers, all protowire.Number) []byte {
	signatories, observers := c.Payload.Stakeholders(nil, nil)
	dst = d.parties(dst, signers, d.Names.SortParties(slices.Clone(signatories)))
	return d.parties(dst, all, d.Names.SortParties(slices.Concat(signatories, observers)))
}

func (d *Draft) parties(dst []byte, n protowire.Number, list []model.Party) []byte {
	for _, p := range list {
		dst = appendText(dst, n, d.Names.Name(p))
	}
	return dst
}

func (d *Draft) exercise(at int) []byte {
	n := &d.Update.Nodes[at]
	dst := d.stakeholders(d.begin(n.Contract, d.Update.Version), n.Contract, exerciseSigners, exerciseParties)
	dst = d.parties(dst, exerciseActors, n.Actors)
	if n.Iface != "" {
		dst = appendMessage(dst, exerciseThrough, identifier(n.Iface))
	}
	dst = appendText(dst, exerciseChoice, n.Choice)
	dst = appendMessage(dst, exerciseArg, appendValue(nil, d.Names, &n.Argument))
	if n.Consuming {
		dst = appendNumber(dst, exerciseConsume, 1)
	}
	dst = appendChildren(dst, exerciseBelow, d.Update.Nodes, at+1, int(n.End))
	dst = appendMessage(dst, exerciseResult, appendValue(nil, d.Names, &n.Result))
	return d.parties(dst, exerciseInforms, n.Observers)
}

func (d *Draft) metadata() []byte {
	s := d.Submission
	var submitter []byte
	for _, p := range s.ActAs {
		submitter = appendText(submitter, submitterActAs, p)
	}
	dst := appendMessage(nil, metadataSubmitter, appendText(submitter, submitterCommandID, s.CommandID))
	dst = appendText(dst, metadataSynchronizer, d.SynchronizerID)
	dst = appendText(dst, metadataUUID, d.Names.IDs.UUID(s.Reserved).String())
	dst = appendNumber(dst, metadataPreparedAt, uint64(d.PreparedAt))
	for _, c := range d.Inputs {
		dst = appendMessage(dst, metadataInputs, d.input(c))
	}
	dst = appendTime(dst, metadataMinTime, s.MinLedgerTime)
	return appendTime(dst, metadataMaxRecordTime, s.MaxRecordTime)
}

// appendTime appends an optional time.
func appendTime(dst []byte, n protowire.Number, at time.Time) []byte {
	if at.IsZero() {
		return dst
	}
	return appendNumber(dst, n, uint64(at.UnixMicro()))
}

func (d *Draft) input(c *model.Contract) []byte {
	dst := appendMessage(nil, inputV1, d.create(c))
	dst = appendNumber(dst, inputCreatedAt, uint64(c.CreatedAt))
	return appendMessage(dst, inputBlob, model.Blob(&d.Names.IDs, c.Number))
}
