package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/jobs"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
)

// developmentPoll and developmentRewards are the times between two runs of automations on the
// simulated network, where somebody is looking.
const (
	developmentPoll    = 2 * time.Second
	developmentRewards = 30 * time.Second
)

func newAutomation(a *app) *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "automation [NAME]...",
		Short: "run the automations of the validator's wallets once, or say what they would do",
		Long: `automation runs what worker runs at intervals: it collects rewards, pays accepted offers,
buys traffic, accepts and renews preapprovals, sweeps, and ends what has expired. With
--dry-run it says for each wallet what it would do, and why or why not, and does nothing.

It acts on the node of --node-url and reads a store into which that node's stream and the
public history of its network are ingested. Without names all automations run:
` + strings.Join(automations.Names(), ", ") + `.`,
		Example:   "  ledgerlake automation --dry-run --node-url http://127.0.0.1:7575\n  ledgerlake automation collect-rewards --dry-run --json --node-url http://127.0.0.1:7575",
		ValidArgs: automations.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if !slices.Contains(automations.Names(), name) {
					return fmt.Errorf("there is no automation %q%s there are %s", name, settings.DidYouMean(name, "", automations.Names()), strings.Join(automations.Names(), ", "))
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			a.quiet()
			if a.cfg.NodeURL == "" {
				return settings.Usage("automation needs --node-url, the ledger API of the node that hosts the wallets")
			}
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.openStore(cmd.Context()); err != nil {
				return err
			}
			list, err := s.newAutomations(args).find(cmd.Context())
			if err != nil {
				return err
			}
			if dry {
				return planAutomations(cmd.Context(), a, list, asJSON)
			}
			return runAutomations(cmd.Context(), a.stdout, list)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan of --dry-run as JSON, one object a line")
	return cmd
}

// planAutomations prints what automations would do.
func planAutomations(ctx context.Context, a *app, list *automations.Automations, asJSON bool) error {
	steps, err := list.Plan(ctx)
	if asJSON {
		encoder := json.NewEncoder(a.data)
		for _, step := range steps {
			if err := encoder.Encode(step); err != nil {
				return err
			}
		}
		return err
	}
	for _, step := range steps {
		verb := "would "
		if !step.Do {
			verb = "would not "
		}
		user := ""
		if step.User != "" {
			user = " (" + step.User + ")"
		}
		fmt.Fprintf(a.stdout, "%s%s: %s%s, because %s\n", step.Automation, user, verb, step.What, step.Why)
	}
	if err == nil && len(steps) == 0 {
		_, err = fmt.Fprintln(a.stdout, "there is nothing that automations look after")
	}
	return err
}

// runAutomations runs each once.
func runAutomations(ctx context.Context, to io.Writer, list *automations.Automations) error {
	var failed []error
	for _, name := range list.Names() {
		done, err := list.Run(ctx, name)
		fmt.Fprintf(to, "%s: %d done\n", name, done)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// walletAutomations are the automations of this process, which are made once the wallet can
// be found.
type walletAutomations struct {
	stack *stack
	only  []string

	mu   sync.Mutex
	list *automations.Automations
}

// newAutomations prepares automations by name, all of them without names.
func (s *stack) newAutomations(only []string) *walletAutomations {
	return &walletAutomations{stack: s, only: only}
}

// find returns the automations, or why they cannot run yet.
func (w *walletAutomations) find(ctx context.Context) (*automations.Automations, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list != nil {
		return w.list, nil
	}
	parts, err := w.stack.walletParts()
	if err != nil {
		return nil, err
	}
	actions, err := parts.actions(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := w.stack.app.cfg.Automations()
	if err != nil {
		return nil, err
	}
	rules.Wallet, rules.Log, rules.Only = actions, w.stack.app.log, w.only
	rules.Traffic = memberTraffic{parts, w.stack.reader}
	if w.stack.development() {
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
		w.stack.app.log.DebugContext(ctx, "automations cannot run yet", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// automationNames are those that a worker runs; ok is false if it runs none.
func (s *stack) automationNames() (names []string, ok bool) {
	names = s.app.cfg.WalletAutomations
	switch {
	case s.app.cfg.WalletMode != settings.WalletNode || s.walletURL() == "":
		return nil, false
	case len(names) == 0:
		return nil, s.devnetClock
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
	return t.parts.client.ParticipantID(ctx)
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
	contracts, err := public.Public(ctx, member, wallet.MemberTrafficTemplate)
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
