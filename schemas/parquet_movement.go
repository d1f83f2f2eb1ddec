package schemas

import (
	"encoding/binary"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// MovementRow is a row of table movements: a change of one party's holdings. It is derived from
// history by the rules of a version of this program, so that it is not part of manifests.
type MovementRow struct {
	MigrationID  int64    `parquet:"migration_id,delta" doc:"Migration of the update."`
	RecordTime   int64    `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time of the update; 1900-01-01 for an opening."`
	UpdateID     string   `parquet:"update_id,dict" doc:"The update; of an opening, the import update."`
	Entry        int32    `parquet:"entry,delta" doc:"Number of the movement in its update, from 0."`
	Event        int32    `parquet:"event,delta" doc:"Node of the choice that explains the movement; -1 for an opening."`
	Party        string   `parquet:"party,dict" doc:"Party whose holdings change."`
	Instrument   string   `parquet:"instrument,dict" doc:"ADMIN PARTY/ID of what is held; the id of the coin is Amulet."`
	Pocket       string   `parquet:"pocket,dict" doc:"unlocked or locked: whether the holding can be spent at once."`
	Amount       [16]byte `parquet:"amount,decimal(10:38),plain" doc:"Change in units of the instrument: above 0 for what the party gains; never 0."`
	Cause        string   `parquet:"cause,dict" doc:"transfer, mint, burn, lock (between the pockets of a party), opening (what the store's history begins with) or unexplained."`
	Class        string   `parquet:"class,dict" doc:"Kind of a mint or burn, else empty."`
	Purpose      string   `parquet:"purpose,dict" doc:"What the outermost choice that is known is for."`
	Counterparty string   `parquet:"counterparty,dict" doc:"The other side of a transfer, else empty."`
	Round        int64    `parquet:"round,delta" doc:"Newest mining round that was open at the record time, -1 if none was."`
	StatedRound  int64    `parquet:"stated_round,delta" doc:"Mining round that the result of the choice names, -1 if it names none."`
	Choice       string   `parquet:"choice,dict" doc:"The choice that explains the movement."`
	Template     string   `parquet:"template,dict" doc:"PACKAGE_NAME:Module.Name:Entity of the contract of the choice."`
	Reference    string   `parquet:"reference,dict" doc:"What the choice is about: a member, a name, an instruction or allocation, a leg; else empty."`
	Reason       string   `parquet:"reason,plain" doc:"What the sender wrote, or what a lock is for; else empty."`
	Source       string   `parquet:"source,dict" doc:"Where the amount comes from: coins, log, opening or residual."`
}

// SetAmount sets the amount, which must be Storable.
func (r *MovementRow) SetAmount(d decimal.Decimal) {
	high, low, _ := d.Int128()
	binary.BigEndian.PutUint64(r.Amount[:8], high)
	binary.BigEndian.PutUint64(r.Amount[8:], low)
}

// Decimal returns the amount.
func (r *MovementRow) Decimal() decimal.Decimal {
	return decimal.OfInt128(binary.BigEndian.Uint64(r.Amount[:8]), binary.BigEndian.Uint64(r.Amount[8:]))
}

// Key returns the row's sort key.
func (r *MovementRow) Key() RowKey {
	return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID, Node: r.Entry}
}

// Size returns about how many bytes the row takes before encoding.
func (r *MovementRow) Size() int {
	return rowOverhead + len(r.UpdateID) + len(r.Party) + len(r.Instrument) + len(r.Counterparty) + len(r.Choice) + len(r.Template) +
		len(r.Reference) + len(r.Reason)
}

// AppendMovement appends r as canonical JSON: the row that digests of table movements are taken
// over, with the members that the columns have.
func AppendMovement(dst []byte, r *MovementRow) []byte {
	dst = append(dst, `{"amount":`...)
	dst = appendString(dst, r.Decimal().String())
	dst = appendMember(dst, "cause", r.Cause)
	dst = appendMember(dst, "choice", r.Choice)
	dst = appendMember(dst, "class", r.Class)
	dst = appendMember(dst, "counterparty", r.Counterparty)
	dst = appendInt(dst, "entry", int64(r.Entry))
	dst = appendInt(dst, "event", int64(r.Event))
	dst = appendMember(dst, "instrument", r.Instrument)
	dst = appendInt(dst, "migration_id", r.MigrationID)
	dst = appendMember(dst, "party", r.Party)
	dst = appendMember(dst, "pocket", r.Pocket)
	dst = appendMember(dst, "purpose", r.Purpose)
	dst = appendMember(dst, "reason", r.Reason)
	dst = appendMember(dst, "record_time", Micros(r.RecordTime).String())
	dst = appendMember(dst, "reference", r.Reference)
	dst = appendInt(dst, "round", r.Round)
	dst = appendMember(dst, "source", r.Source)
	dst = appendInt(dst, "stated_round", r.StatedRound)
	dst = appendMember(dst, "template", r.Template)
	dst = appendMember(dst, "update_id", r.UpdateID)
	return append(dst, '}')
}

func appendInt(dst []byte, key string, value int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return strconv.AppendInt(dst, value, 10)
}
