package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/jobs"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// developmentPoll and developmentRewards are the times between two runs of automations on the
// simulated network, where somebody is looking.
const (
	developmentPoll    = 2 * time.Second
	developmentRewards = 30 * time.Second
)

// walletAutomations are the automations of this process, which are made once the wallet can
// be found.
type walletAutomations struct {
	wallets *wallets
	only    []string

	mu   sync.Mutex
	list *automations.Automations
}

// newAutomations prepares automations by name, all of them without names.
func (w *wallets) newAutomations(only []string) *walletAutomations {
	return &walletAutomations{wallets: w, only: only}
}

// find returns the automations, or why they cannot run yet.
func (w *walletAutomations) find(ctx context.Context) (*automations.Automations, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list != nil {
		return w.list, nil
	}
	parts, err := w.wallets.find()
	if err != nil {
		return nil, err
	}
	actions, err := parts.actions(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := w.wallets.p.cfg.Automations()
	if err != nil {
		return nil, err
	}
	rules.Wallet, rules.Log, rules.Only = actions, w.wallets.p.log, w.only
	rules.Traffic = memberTraffic{parts, w.wallets.db.reader}
	if w.wallets.p.development() {
		rules.Poll, rules.PollRewards = developmentPoll, developmentRewards
	}
	w.list, err = automations.New(rules)
	return w.list, err
}

// schedule queues automations when they are due, as soon as there is a wallet.
func (w *walletAutomations) schedule(ctx context.Context, queue *jobs.Queue) error {
	for ctx.Err() == nil {
		list, err := w.find(ctx)
		if err == nil {
			return list.Schedule(ctx, queue)
		}
		w.wallets.p.log.DebugContext(ctx, "automations cannot run yet", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// automationNames are those that a worker runs; ok is false if it runs none.
func (w *wallets) automationNames() (names []string, ok bool) {
	names = w.p.cfg.WalletAutomations
	switch {
	case w.p.cfg.WalletMode != settings.WalletNode || w.p.nodeURL() == "":
		return nil, false
	case len(names) == 0:
		return nil, w.p.devnetClock
	case names[0] == settings.AllAutomations:
		return nil, true
	}
	return names, true
}

// memberTraffic tells how much traffic the node has, as far as public history does.
type memberTraffic struct {
	parts  *walletParts
	reader *history.Reader
}

// Member is the node.
func (t memberTraffic) Member(ctx context.Context) (string, error) {
	participant, err := t.parts.client.ParticipantID(ctx)
	return wallet.ParticipantMember(participant), err
}

// MigrationID is the present migration.
func (t memberTraffic) MigrationID(ctx context.Context) (int64, error) {
	public, err := t.parts.public()
	if err != nil {
		return 0, err
	}
	return public.MigrationID(ctx)
}

// Remaining is what was bought less the cost of what the member has sent, 0 if that is more: what
// goes beyond was within the free base rate.
func (t memberTraffic) Remaining(ctx context.Context, synchronizer, member string) (int64, error) {
	public, err := t.parts.public()
	if err != nil {
		return 0, err
	}
	contracts, err := public.Public(ctx, member, template.MemberTraffic)
	if err != nil {
		return 0, err
	}
	bought := int64(0)
	for _, c := range contracts {
		var payload struct {
			Synchronizer string `json:"synchronizerId"`
			Purchased    string `json:"totalPurchased"`
		}
		if err := json.Unmarshal(c.Payload, &payload); err != nil {
			return 0, fmt.Errorf("reading traffic of contract %s: %w", c.ID, err)
		}
		if payload.Synchronizer != synchronizer {
			continue
		}
		bytes, err := strconv.ParseInt(payload.Purchased, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading traffic of contract %s: %w", c.ID, err)
		}
		bought += bytes
	}
	mark, err := t.reader.ContractsWatermark(ctx)
	if err != nil {
		return 0, err
	}
	// Verdicts name participants without their kind.
	_, uid, _ := strings.Cut(member, "::")
	used, err := t.reader.State().TrafficCost(ctx, mark, synchronizer, []string{member, uid})
	return max(0, bought-used), err
}

// Automations returns those of the validator's wallets by name, all without names.
func (a *App) Automations(ctx context.Context, names []string) (*automations.Automations, error) {
	if err := a.db.open(ctx); err != nil {
		return nil, err
	}
	return a.wallets.newAutomations(names).find(ctx)
}
