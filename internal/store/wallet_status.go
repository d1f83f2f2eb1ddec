package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Kinds of what a tracking id is for.
const (
	TrackedOffer   = "offer"
	TrackedTraffic = "traffic"
)

// States of an offer or a traffic request. Requests are never accepted.
const (
	TrackedCreated   = "created"
	TrackedAccepted  = "accepted"
	TrackedCompleted = "completed"
	TrackedFailed    = "failed"
)

// Why an offer or a request has failed. Requests are never withdrawn.
const (
	FailedExpired   = "expired"
	FailedRejected  = "rejected"
	FailedWithdrawn = "withdrawn"
)

// WalletStatus is a step of an offer or a traffic request.
type WalletStatus struct {
	Party string // in whose log it is
	// Kind is TrackedOffer or TrackedTraffic.
	Kind       string
	TrackingID string
	// Offset and Step order what happens; Step counts from 0 within an update.
	Offset int64
	Step   int32
	// Sender made the offer or the request; Receiver is "" for a request.
	Sender, Receiver string
	// Status is one of TrackedCreated and so on.
	Status string
	// UpdateID is the update that brought it there.
	UpdateID string
	// ContractID is the offer, the accepted offer, the receiver's new coin, or the request;
	// "" where the status has none.
	ContractID string
	// Failure is one of FailedExpired and so on, "" unless the status is TrackedFailed. Reason
	// is what was said then, "" for nothing.
	Failure, Reason string
	EffectiveAt     schemas.Micros
}

// WalletStatuses are rows of table wallet_status.
type WalletStatuses struct {
	stream, party, sender, receiver, status, failure *lowCardinality
	kind                                             proto.ColEnum
	trackingID, updateID, contractID, reason         texts
	offset                                           proto.ColInt64
	step                                             proto.ColInt32
	effectiveAt                                      *proto.ColDateTime64
}

// NewWalletStatuses returns a block without rows.
func NewWalletStatuses() *WalletStatuses {
	return &WalletStatuses{
		stream: newLowCardinality(), party: newLowCardinality(), sender: newLowCardinality(), receiver: newLowCardinality(),
		status: newLowCardinality(), failure: newLowCardinality(), effectiveAt: newTime(),
	}
}

func (b *WalletStatuses) columns() []column {
	return []column{
		{"stream", b.stream}, {"party", b.party}, {"kind", &b.kind}, {"tracking_id", &b.trackingID}, {"node_offset", &b.offset}, {"step", &b.step},
		{"sender", b.sender}, {"receiver", b.receiver}, {"status", b.status}, {"update_id", &b.updateID},
		{"contract_id", &b.contractID}, {"failure", b.failure}, {"reason", &b.reason}, {"effective_at", b.effectiveAt},
	}
}

// Rows returns the number of rows.
func (b *WalletStatuses) Rows() int { return b.offset.Rows() }

// Append adds s.
func (b *WalletStatuses) Append(stream string, s *WalletStatus) {
	b.stream.Append(stream)
	b.party.Append(s.Party)
	b.kind.Append(s.Kind)
	b.trackingID.Append(s.TrackingID)
	b.offset.Append(s.Offset)
	b.step.Append(s.Step)
	b.sender.Append(s.Sender)
	b.receiver.Append(s.Receiver)
	b.status.Append(s.Status)
	b.updateID.Append(s.UpdateID)
	b.contractID.Append(s.ContractID)
	b.failure.Append(s.Failure)
	b.reason.Append(s.Reason)
	appendTime(b.effectiveAt, s.EffectiveAt)
}

// AppendTo appends the block's rows to list.
func (b *WalletStatuses) AppendTo(list []WalletStatus) []WalletStatus {
	trackingID, updateID, contractID, reason := stringsOf(&b.trackingID), stringsOf(&b.updateID), stringsOf(&b.contractID), stringsOf(&b.reason)
	for i := range b.Rows() {
		list = append(list, WalletStatus{
			Party: b.party.Row(i), Kind: b.kind.Row(i), TrackingID: trackingID(i), Offset: b.offset.Row(i), Step: b.step.Row(i),
			Sender: b.sender.Row(i), Receiver: b.receiver.Row(i), Status: b.status.Row(i), UpdateID: updateID(i),
			ContractID: contractID(i), Failure: b.failure.Row(i), Reason: reason(i), EffectiveAt: timeAt(b.effectiveAt, i),
		})
	}
	return list
}
