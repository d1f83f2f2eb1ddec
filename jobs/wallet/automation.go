package wallet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/jobs"
)

// Step is something that an automation would do, or leaves.
type Step struct {
	// Automation names the automation.
	Automation string `json:"automation"`
	// User is whose wallet it is about.
	User string `json:"user,omitempty"`
	// Do says whether anything is to be done.
	Do bool `json:"do"`
	// What is to be done, or would be; Why says why, or why not.
	What string `json:"what"`
	Why  string `json:"why"`

	run func(ctx context.Context) error
}

// automation is one of those that run by themselves.
type automation struct {
	name string
	// every is the time between two runs, of which up to jitter (a share of it) is drawn at
	// random, so that validators do not act in step.
	every  time.Duration
	jitter float64
	// plan reads the state and says what is to be done.
	plan func(ctx context.Context) ([]Step, error)
}

// Config says what runs by itself. Zero values stand for the defaults.
type Config struct {
	Wallet  *wallet.Wallet // required
	Traffic Traffic        // required for TopUp
	Log     *slog.Logger   // required
	// Only are the names of automations that run; none means all. See Names.
	Only []string
	// AcceptFrom are, by receiver, the senders whose offers are accepted.
	AcceptFrom map[string][]string
	// TopUp keeps the operator's node supplied with traffic.
	TopUp TopUpRule
	// Sweeps move what wallets have too much of.
	Sweeps []Sweep
	// RenewBefore is how long before their expiry preapprovals are renewed. Default 30 days.
	RenewBefore time.Duration
	// PreapprovalLifetime is how much longer a renewed one is good. Default 90 days.
	PreapprovalLifetime time.Duration
	// Poll is the time between two runs of most automations, PollRewards of those that
	// collect rewards. Defaults 30s and 5m.
	Poll, PollRewards time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// Automations run by themselves. They are safe for concurrent use.
type Automations struct {
	cfg  Config
	list []automation

	mu   sync.Mutex
	next map[string]time.Time // when each is due, by name
}

// New returns the automations that a configuration asks for.
func New(cfg Config) (*Automations, error) {
	if cfg.Wallet == nil || cfg.Log == nil {
		return nil, errors.New("automations need a wallet and a logger")
	}
	cfg.RenewBefore = cmp.Or(cfg.RenewBefore, 30*24*time.Hour)
	cfg.PreapprovalLifetime = cmp.Or(cfg.PreapprovalLifetime, 90*24*time.Hour)
	cfg.Poll = cmp.Or(cfg.Poll, 30*time.Second)
	cfg.PollRewards = cmp.Or(cfg.PollRewards, 5*time.Minute)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	a := &Automations{cfg: cfg, next: map[string]time.Time{}}
	for _, one := range a.all() {
		if len(cfg.Only) == 0 || slices.Contains(cfg.Only, one.name) {
			a.list = append(a.list, one)
		}
	}
	return a, nil
}

func (c *Config) check() error {
	names := Names()
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no automation %q; the automations are %q", name, names)
		}
	}
	if c.TopUp.Throughput > 0 && c.Traffic == nil {
		return errors.New("top-ups need a source for how much traffic is left")
	}
	if err := c.TopUp.check(c.Poll); err != nil {
		return err
	}
	for _, s := range c.Sweeps {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// slowly is the least time between two runs of what nobody waits for.
const slowly = 30 * time.Second

// all are the automations in the order in which a dry run tells them.
func (a *Automations) all() []automation {
	poll, slow, rewards := a.cfg.Poll, max(a.cfg.Poll, slowly), a.cfg.PollRewards
	return []automation{
		{"record-liveness", rewards, 0.5, a.planLiveness},
		{"collect-rewards", rewards, 0.5, a.planRewards},
		{"mint-delegated", rewards, 0.5, a.planMinting},
		{"top-up", slow, 0.2, a.planTopUp},
		{"accept-offers", poll, 0.2, a.planAccepting},
		{"complete-offers", poll, 0.2, a.planCompleting},
		{"complete-traffic", poll, 0.2, a.planTraffic},
		{"pay-subscriptions", slow, 0.2, a.planSubscriptions},
		{"accept-preapprovals", poll, 0.2, a.planProposals},
		{"renew-preapprovals", slow, 0.2, a.planRenewals},
		{"accept-merge-delegations", slow, 0.2, a.planMergeProposals},
		{"merge-delegated", rewards, 0.5, a.planMerging},
		{"send-commands", poll, 0.2, a.planCommands},
		{"sweep", slow, 0.2, a.planSweeps},
		{"expire", slow, 0.2, a.planExpiry},
	}
}

// Names are the automations that there are.
func Names() []string {
	var names []string
	for _, one := range (&Automations{}).all() {
		names = append(names, one.name)
	}
	return names
}

// Plan says what all automations would do now, and why.
func (a *Automations) Plan(ctx context.Context) ([]Step, error) {
	var steps []Step
	for _, one := range a.list {
		own, err := one.steps(ctx)
		if err != nil {
			return steps, err
		}
		steps = append(steps, own...)
	}
	return steps, nil
}

func (one *automation) steps(ctx context.Context) ([]Step, error) {
	steps, err := one.plan(ctx)
	if err != nil {
		return nil, fmt.Errorf("planning %s: %w", one.name, err)
	}
	for i := range steps {
		steps[i].Automation = one.name
	}
	return steps, nil
}

// Names are the automations that run here, in the order of Plan.
func (a *Automations) Names() []string {
	var names []string
	for _, one := range a.list {
		names = append(names, one.name)
	}
	return names
}

// Run runs one automation once. What fails does not keep the rest from being done.
func (a *Automations) Run(ctx context.Context, name string) (done int, err error) {
	i := slices.IndexFunc(a.list, func(one automation) bool { return one.name == name })
	if i < 0 {
		return 0, fmt.Errorf("automation %q does not run here", name)
	}
	steps, err := a.list[i].steps(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, s := range steps {
		if !s.Do {
			a.cfg.Log.DebugContext(ctx, "automation leaves something alone", "automation", name, "user", s.User, "what", s.What, "why", s.Why)
			continue
		}
		switch err := s.run(ctx); {
		case wallet.IsIdle(err):
		case errors.Is(err, errGone):
			a.cfg.Log.InfoContext(ctx, "automation was too late", "automation", name, "user", s.User, "what", s.What, "err", err)
		case err != nil:
			failed = append(failed, fmt.Errorf("%s of user %s: %w", s.What, s.User, err))
		default:
			done++
			a.cfg.Log.InfoContext(ctx, "automation acted", "automation", name, "user", s.User, "what", s.What, "why", s.Why)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return done, errors.Join(failed...)
}

// kind is that of all automations: they are short and should start when they are due.
var kind = jobs.Kind{Name: "wallet_automation", Lane: jobs.Prompt, Timeout: 10 * time.Minute}

// Handler is the handler of automations, which are tasks of their own, named after them. find
// returns those of this process, which may not be there yet. A failed one is tried again
// later, for as long as it takes: what it waits for, a node or money, may come back any time.
func Handler(find func(ctx context.Context) (*Automations, error)) jobs.Handler {
	return jobs.Handler{
		Kind: kind,
		Run: func(ctx context.Context, payload []byte, progress jobs.ProgressFunc) error {
			name, err := jobs.Decode[string](kind, payload)
			if err != nil {
				return err
			}
			a, err := find(ctx)
			if err != nil {
				return jobs.NotYet(err)
			}
			done, err := a.Run(ctx, name)
			progress(int64(done), int64(done))
			if err != nil {
				return jobs.NotYet(err)
			}
			return nil
		},
	}
}

// Queue takes tasks; *jobs.Queue does.
type Queue interface {
	Enqueue(ctx context.Context, task jobs.Task) (bool, error)
}

// tick is how often it is looked which automations are due.
const tick = 500 * time.Millisecond

// Schedule queues automations when they are due, until ctx ends. Several processes that do so
// queue each only once at a time.
func (a *Automations) Schedule(ctx context.Context, q Queue) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for ctx.Err() == nil {
		for _, task := range a.due() {
			if _, err := q.Enqueue(ctx, task); err != nil && ctx.Err() == nil {
				a.cfg.Log.ErrorContext(ctx, "queueing an automation failed", "task", task.ID, "err", err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// due names the automations whose time has come.
func (a *Automations) due() []jobs.Task {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.cfg.Now()
	var tasks []jobs.Task
	for _, one := range a.list {
		if now.Before(a.next[one.name]) {
			continue
		}
		a.next[one.name] = now.Add(one.wait())
		tasks = append(tasks, jobs.Task{Kind: kind, ID: "wallet:" + one.name, Payload: one.name})
	}
	return tasks
}

// wait is the time until the next run.
func (one *automation) wait() time.Duration {
	spread := time.Duration(float64(one.every) * one.jitter)
	return one.every - spread/2 + rand.N(max(spread, 1))
}
