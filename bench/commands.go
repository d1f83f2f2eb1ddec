package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

const (
	// commandTransfers are executed in submissions of commandsAtOnce, the most that one has.
	commandTransfers = 50_000
	commandsAtOnce   = 200
	// minCommandsPerSecond is the least rate of transfers that the simulated network executes.
	minCommandsPerSecond = 5000
	// commandHistory is how many updates the network has before.
	commandHistory = 5000
	// coinsPerSplit is the most outputs that a transfer has.
	coinsPerSplit = 100
)

// commandTask asks for transfers to be executed on a network in Dir.
type commandTask struct {
	Dir       string `json:"dir"`
	Transfers int    `json:"transfers"`
}

// commandOutcome is what they took: of the clock, and of the processor.
type commandOutcome struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	Peak    int64   `json:"peak"`
}

// measureCommands has the simulated network execute transfers that are submitted in bulk, as
// its node executes commands, until they can be read from its scan and its node.
func measureCommands(ctx context.Context, l *lab.Lab, s lab.Section) error {
	l.Say("executing %d transfers", commandTransfers)
	got, err := lab.Ask[commandOutcome](ctx, roleCommands, commandTask{Dir: l.Folder("commands"), Transfers: commandTransfers}, l.Stderr)
	if err != nil {
		return err
	}
	s.AtLeast(minCommandsPerSecond, fmt.Sprintf("transfers, %d a transaction", commandsAtOnce), commandTransfers/got.Seconds, "1/s")
	s.Add("processor time for 1,000 transfers", got.CPU*lab.Million/commandTransfers, "ms")
	s.Add("peak memory of the network", float64(got.Peak)/lab.Mebibyte, "MiB")
	return nil
}

// executeTransfers is the child.
func executeTransfers(ctx context.Context, task commandTask, answer func(any) error) (err error) {
	ledger, err := devnet.New(ctx, devnet.Config{Updates: commandHistory, Seed: lab.NetworkSeed, Dir: task.Dir, SkipCompact: true, Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	payer, err := newPayer(ctx, ledger)
	if err != nil {
		return err
	}
	before, err := lab.CPUSeconds(os.Getpid())
	if err != nil {
		return err
	}
	begin := time.Now()
	for left := task.Transfers; left > 0; left -= commandsAtOnce {
		if err := payer.pay(ctx, min(left, commandsAtOnce)); err != nil {
			return err
		}
	}
	seconds := time.Since(begin).Seconds()
	after, cpuErr := lab.CPUSeconds(os.Getpid())
	peak, peakErr := lab.PeakBytes(os.Getpid())
	if err := errors.Join(cpuErr, peakErr, payer.check(task.Transfers)); err != nil {
		return err
	}
	return answer(commandOutcome{Seconds: seconds, CPU: after - before, Peak: peak})
}

// payer is a party of the node that pays another one, a little out of each of its coins.
type payer struct {
	ledger         *devnet.Ledger
	party, payee   string
	rules, context string
	coins          []string
	submissions    int
	begun          uint64 // contracts that there were before
}

const coinRules = "#splice-amulet:Splice.AmuletRules:AmuletRules"

// newPayer allocates the parties and taps coins.
func newPayer(ctx context.Context, ledger *devnet.Ledger) (*payer, error) {
	p := &payer{ledger: ledger}
	for hint, party := range map[string]*string{"payer": &p.party, "payee": &p.payee} {
		a, err := ledger.AllocateParty(ctx, hint, nil)
		if err != nil {
			return nil, fmt.Errorf("allocating the %s: %w", hint, err)
		}
		*party = a.Party
	}
	round, err := p.findContracts()
	if err != nil {
		return nil, err
	}
	for len(p.coins) < commandsAtOnce {
		if err := p.tap(ctx, round); err != nil {
			return nil, err
		}
	}
	p.begun = ledger.Digests().Counts.ContractsCreated
	return p, nil
}

// findContracts asks the network for its rules and the round that is open.
func (p *payer) findContracts() (round string, err error) {
	response := httptest.NewRecorder()
	p.ledger.Handler().ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/v0/dso", http.NoBody))
	type placed struct {
		Contract struct {
			ID string `json:"contract_id"`
		} `json:"contract"`
	}
	var state struct {
		Rules placed `json:"amulet_rules"`
		Round placed `json:"latest_mining_round"`
	}
	if err := json.Unmarshal(response.Body.Bytes(), &state); err != nil || state.Rules.Contract.ID == "" || state.Round.Contract.ID == "" {
		return "", fmt.Errorf("requesting the network's rules and round, status %d: %w", response.Code, err)
	}
	p.rules = state.Rules.Contract.ID
	p.context = fmt.Sprintf(`{"openMiningRound":%q,"issuingMiningRounds":[],"validatorRights":[]}`, state.Round.Contract.ID)
	return state.Round.Contract.ID, nil
}

// tap mints a coin and splits it.
func (p *payer) tap(ctx context.Context, round string) error {
	tapped, err := p.submit(ctx, devnet.Command{TemplateID: coinRules, ContractID: p.rules, Choice: "AmuletRules_DevNet_Tap",
		Argument: fmt.Appendf(nil, `{"receiver":%q,"amount":"1000000","openRound":%q}`, p.party, round)})
	if err != nil {
		return err
	}
	var coin struct {
		Sum struct{ Amulet string } `json:"amuletSum"`
	}
	if err := json.Unmarshal(tapped[0], &coin); err != nil {
		return fmt.Errorf("reading the result of a tap: %w", err)
	}
	split, err := p.submit(ctx, p.transfer(coin.Sum.Amulet, p.party, "1000", coinsPerSplit))
	if err != nil {
		return err
	}
	var made struct {
		Coins []struct{ Value string } `json:"createdAmulets"`
	}
	if err := json.Unmarshal(split[0], &made); err != nil || len(made.Coins) != coinsPerSplit {
		return fmt.Errorf("a split made %d coins, not %d: %w", len(made.Coins), coinsPerSplit, err)
	}
	for _, c := range made.Coins {
		p.coins = append(p.coins, c.Value)
	}
	return nil
}

// transfer is a command that gives a receiver so many amounts out of a coin.
func (p *payer) transfer(coin, receiver, amount string, outputs int) devnet.Command {
	output := fmt.Sprintf(`{"receiver":%q,"receiverFeeRatio":"0","amount":%q,"lock":null}`, receiver, amount)
	return devnet.Command{TemplateID: coinRules, ContractID: p.rules, Choice: "AmuletRules_Transfer", Argument: fmt.Appendf(nil,
		`{"transfer":{"sender":%q,"provider":%q,"inputs":[{"tag":"InputAmulet","value":%q}],"outputs":[%s]},"context":%s}`,
		p.party, p.party, coin, strings.Repeat(output+",", outputs-1)+output, p.context)}
}

func (p *payer) submit(ctx context.Context, commands ...devnet.Command) ([]json.RawMessage, error) {
	p.submissions++
	done, err := p.ledger.Submit(ctx, devnet.Submission{UserID: "bench", CommandID: fmt.Sprint("bench-", p.submissions),
		ActAs: []string{p.party, p.payee}, Commands: commands})
	if err != nil {
		return nil, fmt.Errorf("submitting %d commands: %w", len(commands), err)
	}
	return done.Results, nil
}

// pay makes n transfers in one transaction. The change of each is the coin of the next.
func (p *payer) pay(ctx context.Context, n int) error {
	commands := make([]devnet.Command, n)
	for i := range commands {
		commands[i] = p.transfer(p.coins[i], p.payee, "0.01", 1)
	}
	results, err := p.submit(ctx, commands...)
	if err != nil {
		return err
	}
	for i, raw := range results {
		var result struct {
			Change string `json:"senderChangeAmulet"`
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			return fmt.Errorf("reading the result of a transfer: %w", err)
		}
		p.coins[i] = result.Change
	}
	return nil
}

// check makes sure that each transfer has made two coins: that of the payee and the change.
func (p *payer) check(transfers int) error {
	if made := p.ledger.Digests().Counts.ContractsCreated - p.begun; made != 2*uint64(transfers) {
		return fmt.Errorf("%d transfers made %d contracts", transfers, made)
	}
	return nil
}
