package devnet

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// sideData appends what an item of /v0/events has besides its update: the members
// that come before "update" in the order of keys, each with a comma, then the
// verdict member. It returns the length of the former.
func (r *renderer) sideData(dst []byte, u *update, t *tables) ([]byte, uint16) {
	start, v := len(dst), u.verdict
	if len(v.activity) > 0 {
		dst = r.member(dst, `"app_activity_records":`, &t[tableAppActivity], func(dst []byte) []byte {
			return r.appActivity(dst, v)
		})
	}
	if v.total > 0 {
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
func (r *renderer) member(dst []byte, key string, rows *schemas.Digest, content func([]byte) []byte) []byte {
	start := len(dst)
	dst = append(content(append(dst, key...)), ',')
	r.row = append(append(append(r.row[:0], '{'), dst[start:]...), `"update_id":"`...)
	r.row = append(append(r.row, r.id...), `"}`...)
	rows.Add(r.row)
	return dst
}

func (r *renderer) appActivity(dst []byte, v *verdict) []byte {
	dst = append(dst, `{"records":[`...)
	for _, a := range v.activity {
		dst = appendPlain(append(dst, `{"party":`...), r.names.name(a.provider))
		dst = append(strconv.AppendInt(append(dst, `,"weight":`...), a.weight, 10), `},`...)
	}
	dst = strconv.AppendInt(append(closing(dst, ']'), `,"round_number":`...), v.activityOf, 10)
	return append(dst, '}')
}

func appendTraffic(dst []byte, v *verdict) []byte {
	dst = append(dst, `{"envelope_traffic_summaries":[`...)
	for i, w := range v.views {
		dst = strconv.AppendInt(append(dst, `{"traffic_cost":`...), w.cost, 10)
		dst = append(strconv.AppendInt(append(dst, `,"view_ids":[`...), int64(i), 10), `]},`...)
	}
	dst = strconv.AppendInt(append(closing(dst, ']'), `,"total_traffic_cost":`...), v.total, 10)
	return append(dst, '}')
}

func (r *renderer) verdict(dst []byte, u *update) []byte {
	v := u.verdict
	dst = appendPlain(append(dst, `{"domain_id":`...), r.names.synchronizers[u.synchronizer])
	dst = schemas.AppendRecordTime(append(dst, `,"finalization_time":"`...), schemas.Micros(v.finalization))
	dst = strconv.AppendInt(append(dst, `","mediator_group":0,"migration_id":`...), u.migration, 10)
	dst = schemas.AppendRecordTime(append(dst, `,"record_time":"`...), schemas.Micros(u.recordTime))
	dst = append(dst, '"')
	if v.round >= 0 {
		dst = strconv.AppendInt(append(dst, `,"round_number":`...), v.round, 10)
	}
	dst = appendPlain(append(dst, `,"submitting_participant_uid":`...), r.names.participants[v.participant])
	dst = appendPlain(append(dst, `,"submitting_parties":[`...), r.names.name(v.submitter))
	dst = r.views(append(dst, `],"transaction_views":`...), v)
	dst = append(append(append(dst, `,"update_id":"`...), r.id...), `","verdict_result":"VERDICT_RESULT_`...)
	if v.accepted {
		return append(dst, `ACCEPTED"}`...)
	}
	return append(dst, `REJECTED"}`...)
}

// views appends the views of a transaction: view 0 is the root, all others are
// directly below it.
func (r *renderer) views(dst []byte, v *verdict) []byte {
	dst = append(dst, `{"root_views":[0],"views":[`...)
	for i, w := range v.views {
		dst = append(r.parties(append(dst, `{"confirming_parties":[{"parties":`...), w.confirmers), `,"threshold":`...)
		dst = strconv.AppendInt(dst, int64(len(w.confirmers)), 10)
		dst = r.parties(append(dst, `}],"informees":`...), w.informees)
		dst = append(dst, `,"sub_views":[`...)
		for sub := 1; i == 0 && sub < len(v.views); sub++ {
			dst = append(strconv.AppendInt(dst, int64(sub), 10), ',')
		}
		dst = strconv.AppendInt(append(closing(dst, ']'), `,"view_hash":"","view_id":`...), int64(i), 10)
		dst = append(dst, `},`...)
	}
	return append(closing(dst, ']'), '}')
}
