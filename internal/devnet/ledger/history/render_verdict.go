package history

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// sideData appends what an item of /v0/events has besides its update: the members
// that come before "update" in the order of keys, each with a comma, then the
// verdict member. It returns the length of the former.
func (r *Renderer) sideData(dst []byte, u *sim.Update, t *Tables) ([]byte, uint16) {
	start, v := len(dst), u.Verdict
	if len(v.Activity) > 0 {
		dst = r.member(dst, `"app_activity_records":`, &t[tableAppActivity], func(dst []byte) []byte {
			return r.appActivity(dst, v)
		})
	}
	if v.Total > 0 {
		dst = r.member(dst, `"traffic_summary":`, &t[tableTraffic], func(dst []byte) []byte {
			return appendTraffic(dst, v)
		})
	}
	extras := len(dst) - start
	dst = append(dst, `"verdict":`...)
	verdict := len(dst)
	dst = r.verdict(dst, u)
	t[tableVerdicts].Add(dst[verdict:])
	return dst, uint16(extras)
}

// member appends a member and a comma, and digests {member,"update_id":...}.
func (r *Renderer) member(dst []byte, key string, rows *schemas.Digest, content func([]byte) []byte) []byte {
	start := len(dst)
	dst = append(content(append(dst, key...)), ',')
	r.row = append(append(append(r.row[:0], '{'), dst[start:]...), `"update_id":"`...)
	r.row = append(append(r.row, r.id...), `"}`...)
	rows.Add(r.row)
	return dst
}

func (r *Renderer) appActivity(dst []byte, v *sim.Verdict) []byte {
	dst = append(dst, `{"records":[`...)
	for _, a := range v.Activity {
		dst = model.AppendPlain(append(dst, `{"party":`...), r.Names.Name(a.Provider))
		dst = append(strconv.AppendInt(append(dst, `,"weight":`...), a.Weight, 10), `},`...)
	}
	dst = strconv.AppendInt(append(model.Closing(dst, ']'), `,"round_number":`...), v.ActivityOf, 10)
	return append(dst, '}')
}

func appendTraffic(dst []byte, v *sim.Verdict) []byte {
	dst = append(dst, `{"envelope_traffic_summaries":[`...)
	for i, w := range v.Views {
		dst = strconv.AppendInt(append(dst, `{"traffic_cost":`...), w.Cost, 10)
		dst = append(strconv.AppendInt(append(dst, `,"view_ids":[`...), int64(i), 10), `]},`...)
	}
	dst = strconv.AppendInt(append(model.Closing(dst, ']'), `,"total_traffic_cost":`...), v.Total, 10)
	return append(dst, '}')
}

func (r *Renderer) verdict(dst []byte, u *sim.Update) []byte {
	v := u.Verdict
	dst = model.AppendPlain(append(dst, `{"domain_id":`...), r.Names.Synchronizers[u.Synchronizer])
	dst = schemas.AppendRecordTime(append(dst, `,"finalization_time":"`...), schemas.Micros(v.Finalization))
	dst = strconv.AppendInt(append(dst, `","mediator_group":0,"migration_id":`...), u.Migration, 10)
	dst = schemas.AppendRecordTime(append(dst, `,"record_time":"`...), schemas.Micros(u.RecordTime))
	dst = append(dst, '"')
	if v.Round >= 0 {
		dst = strconv.AppendInt(append(dst, `,"round_number":`...), v.Round, 10)
	}
	dst = model.AppendPlain(append(dst, `,"submitting_participant_uid":`...), r.Names.Participants[v.Participant])
	dst = model.AppendPlain(append(dst, `,"submitting_parties":[`...), r.Names.Name(v.Submitter))
	dst = r.views(append(dst, `],"transaction_views":`...), v)
	dst = append(append(append(dst, `,"update_id":"`...), r.id...), `","verdict_result":"VERDICT_RESULT_`...)
	if v.Accepted {
		return append(dst, `ACCEPTED"}`...)
	}
	return append(dst, `REJECTED"}`...)
}

// views appends the views of a transaction: view 0 is the root, all others are
// directly below it.
func (r *Renderer) views(dst []byte, v *sim.Verdict) []byte {
	dst = append(dst, `{"root_views":[0],"views":[`...)
	for i, w := range v.Views {
		dst = append(r.Parties(append(dst, `{"confirming_parties":[{"parties":`...), w.Confirmers), `,"threshold":`...)
		dst = strconv.AppendInt(dst, int64(len(w.Confirmers)), 10)
		dst = r.Parties(append(dst, `}],"informees":`...), w.Informees)
		dst = append(dst, `,"sub_views":[`...)
		for sub := 1; i == 0 && sub < len(v.Views); sub++ {
			dst = append(strconv.AppendInt(dst, int64(sub), 10), ',')
		}
		dst = strconv.AppendInt(append(model.Closing(dst, ']'), `,"view_hash":"","view_id":`...), int64(i), 10)
		dst = append(dst, `},`...)
	}
	return append(model.Closing(dst, ']'), '}')
}
