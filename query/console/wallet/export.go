package wallet

import (
	"bytes"
	"context"
	"encoding/csv"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
)

// exportPage is how many entries are read at once, and exportBytes what a page may take in memory.
const (
	exportPage  = 500
	exportBytes = 4 << 20
)

// columns are those of the exported history.
var columns = []string{"date", "what", "change", "counterparties", "memo", "holding_fees", "app_rewards", "validator_rewards", "sv_rewards", "development_fund", "type", "choice", "update_id", "event_id"}

// export sends the whole history as CSV, the newest first, while it is read.
func (w *Wallet) export(ctx context.Context, v *page.View) error {
	if v.Who == nil {
		return query.Errorf(query.Unauthenticated, "You are not signed in, or your session is over.")
	}
	user := w.cfg.Client.As(v.Who.Token)
	status, err := user.Status(ctx)
	if err != nil {
		return err
	}
	if ctx, err = v.Reserve(ctx, exportBytes); err != nil {
		return err
	}
	v.SetHeader("Content-Disposition", `attachment; filename="wallet-history.csv"`)
	v.SetHeader("Cache-Control", "no-store")
	after, begun := "", false
	return v.Stream(ctx, "text/csv; charset=utf-8; header=present", func(ctx context.Context, dst []byte) ([]byte, bool, error) {
		entries, err := user.History(ctx, after, exportPage)
		if err != nil {
			return dst, false, err
		}
		out := bytes.NewBuffer(dst)
		if err := writeEntries(out, status.Party, entries, !begun); err != nil {
			return dst, false, err
		}
		begun = true
		if len(entries) < exportPage {
			return out.Bytes(), false, nil
		}
		after = entries[len(entries)-1].ID
		return out.Bytes(), true, nil
	})
}

// writeEntries writes a line for each entry.
func writeEntries(out *bytes.Buffer, party string, entries []walletapi.Entry, head bool) error {
	csv := csv.NewWriter(out)
	if head {
		if err := csv.Write(columns); err != nil {
			return err
		}
	}
	for i := range entries {
		e := &entries[i]
		sum, err := change(party, e)
		if err != nil {
			return err
		}
		memo := e.Description + e.Details // there is at most one
		record := []string{
			e.Date, what(e), sum.String(), strings.Join(others(party, e), ";"), inert(memo), e.HoldingFees, e.AppRewards, e.Validator, e.SV, e.Fund,
			e.Type, e.Subtype.Choice, e.Update(), e.ID,
		}
		if err := csv.Write(record); err != nil {
			return err
		}
	}
	csv.Flush()
	return csv.Error()
}

// inert is a text that spreadsheets do not take for a formula: others have written it.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
