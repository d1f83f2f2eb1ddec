package store

import "github.com/ledgerlake/ledgerlake/schemas"

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

// WalletStatus is a step of an offer or a traffic request: a row of table wallet_status.
type WalletStatus struct {
	Party string `column:"party,low"` // in whose log it is
	// Kind is TrackedOffer or TrackedTraffic.
	Kind       string `column:"kind,enum"`
	TrackingID string `column:"tracking_id"`
	// Offset and Step order what happens; Step counts from 0 within an update.
	Offset int64 `column:"node_offset"`
	Step   int32 `column:"step"`
	// Sender made the offer or the request; Receiver is "" for a request.
	Sender   string `column:"sender,low"`
	Receiver string `column:"receiver,low"`
	// Status is one of TrackedCreated and so on.
	Status string `column:"status,low"`
	// UpdateID is the update that brought it there.
	UpdateID string `column:"update_id"`
	// ContractID is the offer, the accepted offer, the receiver's new coin, or the request;
	// "" where the status has none.
	ContractID string `column:"contract_id"`
	// Failure is one of FailedExpired and so on, "" unless the status is TrackedFailed. Reason
	// is what was said then, "" for nothing.
	Failure     string         `column:"failure,low"`
	Reason      string         `column:"reason"`
	EffectiveAt schemas.Micros `column:"effective_at"`
}
