package app

import (
	"math"
	"runtime/debug"

	"github.com/ledgerlake/ledgerlake/query"
)

// requestsShare is the part of the memory limit that requests may reserve, as 1/requestsShare.
// The rest is for answers that are kept, websockets, connections and garbage.
const requestsShare = 2

// admission decides which requests are worked on, for all servers of this process together.
func (s *servers) admission() *query.Admission {
	if s.admitting == nil {
		limit := debug.SetMemoryLimit(-1) // only asks for it: GOMEMLIMIT wins over the setting
		if limit == math.MaxInt64 {
			limit = s.p.cfg.MemoryLimit
		}
		s.admitting = query.NewAdmission(query.AdmissionConfig{Memory: limit / requestsShare, MaxConcurrent: s.p.cfg.MaxConcurrent})
	}
	return s.admitting
}

// pageBytes is the most of an answer that is gathered before it is sent: of some pages at once
// there must be room for all of that.
func (s *servers) pageBytes() int { return int(min(s.admission().PageBytes()/4, 64<<20)) }
