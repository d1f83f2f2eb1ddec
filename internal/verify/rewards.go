package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/rewards"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// RewardSource has what rewards for traffic follow from.
type RewardSource interface {
	State() *history.State
	Migrations(ctx context.Context) ([]history.Migration, error)
	Verdicts(ctx context.Context, rg history.Range) ([]schemas.Item, error)
}

// Contracts and verdicts are read in pages of so many.
const (
	rewardContractsPage = 1000
	rewardVerdictsPage  = 2000
)

const processBatch = "ProcessRewardsV2_ProcessBatch"

// rewardCheck compares the rewards for traffic that the network published with those that follow
// from the verdicts of each round. Its memory is that of the parties and batches of a few rounds.
type rewardCheck struct {
	*verification
	check      *Check
	state      *history.State
	migrations []history.Migration
	rounds     *rewardRounds
	firstRound int64 // of which there is activity; not all of it may be there
	trees      map[treeKey]*rewardTree
}

// treeKey names a tree of allowances.
type treeKey struct {
	round  int64
	dryRun bool
}

// rewardTree is what the network published of the rewards of a round.
type rewardTree struct {
	treeKey
	root    string
	batches map[string]*rewards.Batch // by the hash under which they were processed
}

// checkRewards goes through all trees that the network published, in their order.
func (v *verification) checkRewards(ctx context.Context) (err error) {
	r := &rewardCheck{verification: v, check: v.checks[Rewards], state: v.cfg.Public.State(), trees: make(map[treeKey]*rewardTree)}
	if r.migrations, err = v.cfg.Public.Migrations(ctx); err != nil {
		return err
	}
	r.rounds = &rewardRounds{check: r}
	pages := r.lifetimes(template.ProcessRewardsV2)
	for {
		contracts, err := pages.next(ctx)
		switch {
		case err != nil:
			return err
		case len(contracts) == 0:
			return r.checkTrees(ctx, false)
		case r.firstRound == 0:
			if r.firstRound, err = r.firstActivity(ctx); err != nil {
				return err
			}
		}
		if err := r.addBatches(ctx, contracts); err != nil {
			return err
		}
		if err := r.checkTrees(ctx, true); err != nil {
			return err
		}
	}
}

// firstActivity is the first round with activity; a number above all rounds if there is none.
func (r *rewardCheck) firstActivity(ctx context.Context) (int64, error) {
	first, _, ok, err := r.state.ActivityRounds(ctx, r.mark)
	if !ok {
		first = math.MaxInt64
	}
	return first, err
}

// addBatches adds contracts ProcessRewardsV2 to their trees, with the batches that they ended in.
func (r *rewardCheck) addBatches(ctx context.Context, contracts []history.StateContract) error {
	trees, hashes := make(map[string]*rewardTree), make(map[string]string) // by contract id
	ends := make(map[int64][]schemas.Micros)
	for i := range contracts {
		c := &contracts[i]
		var p struct {
			Round     roundNumber
			DryRun    bool
			BatchHash struct{ Value string }
			Kind      string
		}
		if err := r.decode(c, &p); err != nil {
			return err
		}
		if p.Kind == "RewardKind_Validator" {
			continue // how these are computed is not published
		}
		key := treeKey{p.Round.Number, p.DryRun}
		if r.trees[key] == nil {
			r.trees[key] = &rewardTree{key, p.BatchHash.Value, make(map[string]*rewards.Batch)}
		}
		if c.ArchivedAt != audit.NeverArchived {
			trees[c.Event.ContractID], hashes[c.Event.ContractID] = r.trees[key], p.BatchHash.Value
			ends[c.MigrationID] = append(ends[c.MigrationID], c.ArchivedAt)
		}
	}
	for migration, times := range ends {
		exercises, err := r.state.ExercisesAt(ctx, processBatch, migration, times)
		if err != nil {
			return err
		}
		for i := range exercises {
			e := &exercises[i].Events[0]
			tree := trees[e.ContractID]
			if tree == nil {
				continue
			}
			batch, err := r.batchOf(e, exercises[i].Encoding)
			if err != nil {
				return err
			}
			hash := hashes[e.ContractID]
			if tree.batches[hash] = batch; batch.Hash() != hash {
				r.check.Add(Finding{What: "a batch of rewards is not the one that its contract names", Where: tree.String() + ", " + where(exercises[i].Position()), Expected: hash, Found: batch.Hash()})
			}
		}
	}
	return nil
}

// roundNumber is a contract's round.
type roundNumber struct {
	Number int64 `json:",string"`
}

// batchOf reads the batch that a contract was processed with.
func (r *rewardCheck) batchOf(e *schemas.Event, encoding schemas.Encoding) (*rewards.Batch, error) {
	var argument struct {
		Batch struct {
			Tag   string
			Value json.RawMessage
		}
	}
	if err := decodeValue(e.Argument, encoding, r.cfg.Catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice), &argument); err != nil {
		return nil, fmt.Errorf("reading the batch of contract %.80q: %w", e.ContractID, err)
	}
	b := new(rewards.Batch)
	if argument.Batch.Tag == "BatchOfMintingAllowances" {
		return b, json.Unmarshal(argument.Batch.Value, &b.Allowances)
	}
	var children []struct{ Value string }
	if err := json.Unmarshal(argument.Batch.Value, &children); err != nil {
		return nil, fmt.Errorf("reading the batch of contract %.80q: %w", e.ContractID, err)
	}
	for _, c := range children {
		b.Children = append(b.Children, c.Value)
	}
	return b, nil
}

// decode reads the argument of a contract.
func (r *rewardCheck) decode(c *history.StateContract, into any) error {
	if err := decodeValue(c.Event.Argument, c.Encoding, r.cfg.Catalog.Template(c.Event.PackageName, c.Event.TemplateID), into); err != nil {
		return fmt.Errorf("reading contract %.80q: %w", c.Event.ContractID, err)
	}
	return nil
}

// decodeValue reads a contract value by the labels of its compact form.
func decodeValue(text []byte, encoding schemas.Encoding, t *values.Type, into any) (err error) {
	if encoding != schemas.CompactJSON {
		if text, err = values.AppendCompact(nil, text, t); err != nil {
			return err
		}
	}
	return json.Unmarshal(text, into)
}

// allowances are those of all batches below the root; whole says that none is missing.
func (t *rewardTree) allowances() (all []rewards.Allowance, whole bool) {
	whole = true
	seen := make(map[string]bool)
	for todo := []string{t.root}; len(todo) > 0; {
		hash := todo[0]
		todo = todo[1:]
		batch := t.batches[hash]
		if batch == nil || seen[hash] {
			whole = whole && batch != nil
			continue
		}
		seen[hash] = true
		all, todo = append(all, batch.Allowances...), append(todo, batch.Children...)
	}
	return all, whole
}

func (t *rewardTree) String() string {
	if t.dryRun {
		return fmt.Sprintf("round %d, dry run", t.round)
	}
	return fmt.Sprintf("round %d", t.round)
}

// checkTrees checks trees and forgets them: those that are whole, or all.
func (r *rewardCheck) checkTrees(ctx context.Context, onlyWhole bool) error {
	group, groupCtx := guard.WithContext(ctx)
	group.SetLimit(r.cfg.Workers)
	for _, key := range sortedTrees(r.trees) {
		tree := r.trees[key]
		shown, whole := tree.allowances()
		if onlyWhole && !whole {
			continue
		}
		delete(r.trees, key)
		round, err := r.rounds.find(groupCtx, tree.round)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		if round == nil || round.config == nil || tree.round <= r.firstRound {
			r.check.Count("rounds_skipped", 1)
			continue
		}
		group.Go(func() error {
			weights, known, err := r.activityOf(groupCtx, round)
			switch {
			case err != nil:
				return err
			case !known:
				r.check.Count("rounds_skipped", 1)
			default:
				r.check.Count("rounds", 1)
				r.compare(tree, round.config, weights, shown, whole)
			}
			return nil
		})
	}
	return group.Wait()
}

func sortedTrees(trees map[treeKey]*rewardTree) []treeKey {
	return slices.SortedFunc(maps.Keys(trees), func(a, b treeKey) int {
		if c := cmp.Compare(a.round, b.round); c != 0 || a.dryRun == b.dryRun {
			return c
		}
		if b.dryRun {
			return -1
		}
		return 1
	})
}

// compare compares what was published of a round with what its weights come to.
func (r *rewardCheck) compare(tree *rewardTree, config *rewards.Config, weights map[string]int64, shown []rewards.Allowance, whole bool) {
	expected, err := config.Divide(weights)
	if err != nil {
		r.check.Add(Finding{What: "rewards cannot be computed", Where: tree.String(), Found: err.Error()})
		return
	}
	r.check.Count("allowances", int64(len(shown)))
	if root := rewards.Root(expected.Allowances, config.BatchSize); root != tree.root {
		ordered := slices.Clone(expected.Allowances) // the order of the network's database is not known
		slices.SortFunc(ordered, func(a, b rewards.Allowance) int { return rewards.ByDictionary(a.Provider, b.Provider) })
		if rewards.Root(ordered, config.BatchSize) == tree.root {
			r.check.Count("rounds_in_dictionary_order", 1)
		} else {
			r.check.Add(Finding{What: "root of rewards", Where: tree.String(), Expected: root, Found: tree.root})
		}
	}
	published := make(map[string]rewards.Allowance)
	for _, a := range shown {
		if _, twice := published[a.Provider]; twice {
			r.check.Add(Finding{What: "a party is rewarded twice", Where: fmt.Sprintf("%s, party %s", tree, a.Provider)})
		}
		published[a.Provider] = a
	}
	differs := func(party, expected, found string) {
		r.check.Add(Finding{What: "reward of an app", Where: fmt.Sprintf("%s, party %s", tree, party), Expected: expected, Found: found})
	}
	for _, a := range expected.Allowances {
		switch got, ok := published[a.Provider]; {
		case !ok && whole:
			differs(a.Provider, a.Amount.String(), "none")
		case ok && got.Amount.Cmp(a.Amount) != 0:
			differs(a.Provider, a.Amount.String(), got.Amount.String())
		}
		delete(published, a.Provider)
	}
	for party, a := range published {
		differs(party, "none", a.Amount.String())
	}
}
