package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/ledger"
	"github.com/ledgerlake/ledgerlake/query/validator"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// walletParts are what wallets read and act through. Of a process there is one: the actions of a
// wallet wait for each other.
type walletParts struct {
	p      *process
	db     *database
	client *node.Client
	// present is made on first use: some commands ask the node alone, and have no store.
	present func() *history.Present

	mu      sync.Mutex
	reader  *wallethistory.Reader // once the node's stream is there
	node    *nodehistory.Reader   // as well
	wallet  *wallet.Wallet        // once the operator is known, too
	owner   validator.Operator
	askHost func(ctx context.Context, key facts.Key) (facts.Fact, error) // nil without upstream
	scanURL string                                                       // that has the blobs of public contracts, "" for none
}

// wallets has the parts of this process, which are made on first use.
type wallets struct {
	p     *process
	db    *database
	parts *walletParts
}

// find returns the parts.
func (w *wallets) find() (*walletParts, error) {
	if w.parts != nil {
		return w.parts, nil
	}
	cfg := w.p.cfg
	config := node.Config{BaseURL: w.p.nodeURL(), Log: w.p.log, TokenFile: cfg.NodeTokenFile, Version: w.p.build.Version}
	if cfg.NodeToken != "" {
		config.Token = cfg.AccessToken
	}
	client, err := node.New(config)
	if err != nil {
		return nil, err
	}
	w.parts = &walletParts{p: w.p, db: w.db, client: client, present: sync.OnceValue(func() *history.Present { return w.db.reader.State().Present() })}
	if len(cfg.ScanURLs) > 0 {
		w.parts.scanURL = cfg.ScanURLs[0]
	}
	return w.parts, nil
}

// asksHosts has upstreams tell who hosts the parties of other nodes, and public contracts whole.
func (p *walletParts) asksHosts(urls []string) error {
	if len(urls) > 0 {
		p.scanURL = urls[0]
	}
	asked, err := p.db.askedFacts(urls)
	if err == nil && asked != nil {
		p.askHost = asked.Ask
	}
	return err
}

// history reads the wallets of the node's stream. Its error is ledger.ErrNoStream while there is
// none.
func (p *walletParts) history(ctx context.Context) (*wallethistory.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader != nil {
		return p.reader, nil
	}
	participant, err := p.db.participant(ctx)
	if err != nil {
		return nil, err
	}
	p.reader = wallethistory.NewReader(p.db.db, schemas.NodeStream(participant)).Remembering(wallethistory.Fresh)
	p.node = nodehistory.NewReader(p.db.db, p.reader.Stream())
	return p.reader, nil
}

// views implements validator.Config.Views.
func (p *walletParts) views(ctx context.Context) (validator.Views, error) {
	reader, err := p.history(ctx)
	if errors.Is(err, ledger.ErrNoStream) {
		return nil, &query.Error{Code: query.Unavailable, Msg: "The stream of the node is not available yet.", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return reader, nil
}

// nodeHistory implements validator.Config.History.
func (p *walletParts) nodeHistory(ctx context.Context) (validator.NodeHistory, error) {
	if _, err := p.views(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node, nil
}

// ready returns nil when wallets can be shown.
func (p *walletParts) ready(ctx context.Context) error {
	reader, err := p.history(ctx)
	if err != nil {
		return err
	}
	end, err := reader.End(ctx)
	switch {
	case err != nil:
		return err
	case end == 0:
		return errors.New("nothing has been derived from the node's stream for wallets yet")
	}
	return p.db.db.Ping(ctx)
}

// operator finds the operator: the user of the settings, with its primary party unless another one
// is set.
func (p *walletParts) operator(ctx context.Context) (validator.Operator, error) {
	p.mu.Lock()
	owner := p.owner
	p.mu.Unlock()
	if owner.Party != "" {
		return owner, nil
	}
	name, err := p.operatorUser(ctx)
	if err != nil {
		return validator.Operator{}, err
	}
	party := p.p.cfg.ValidatorParty
	if party == "" {
		user, known, err := p.client.User(ctx, name)
		if err != nil {
			return validator.Operator{}, &query.Error{Code: query.Unavailable, Msg: "The node cannot be asked for the operator.", Err: err}
		}
		if !known || user.PrimaryParty == "" {
			return validator.Operator{}, &query.Error{Code: query.Unavailable, Msg: "The operator of this validator is not known yet.",
				Err: fmt.Errorf("the node has no user %q with a primary party: ledgerlake operator makes it; or name the operator's with --validator-user", name)}
		}
		party = user.PrimaryParty
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owner = validator.Operator{Party: party, User: name}
	return p.owner, nil
}

// operatorUser is the name of the operator's ledger user.
func (p *walletParts) operatorUser(ctx context.Context) (string, error) {
	if p.p.cfg.ValidatorUser != "" {
		return p.p.cfg.ValidatorUser, nil
	}
	if p.p.development() {
		return developmentUser, nil
	}
	return p.client.SubmittingUser(ctx)
}

// commands implements validator.Config.Commands.
func (p *walletParts) commands(ctx context.Context) (*validator.Commands, error) {
	w, err := p.actions(ctx)
	if err != nil {
		return nil, err
	}
	return validator.WalletCommands(w), nil
}

// actions returns the wallet's actions.
func (p *walletParts) actions(ctx context.Context) (*wallet.Wallet, error) {
	owner, err := p.operator(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := p.views(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wallet != nil {
		return p.wallet, nil
	}
	public, err := p.public()
	if err != nil {
		return nil, err
	}
	cfg := p.p.cfg
	p.wallet, err = wallet.New(wallet.Config{
		Ledger: p.client, Reader: wallet.NewStoreReader(p.reader, p.node, p.db.packages.Catalog), Public: public, Log: p.p.log, Operator: owner.Party,
		Wait: cfg.WalletWait, TransferCommands: cfg.WalletTransferCommands,
	})
	return p.wallet, err
}

// public reads the public contracts of the network.
func (p *walletParts) public() (*wallet.StorePublic, error) {
	finder, err := p.db.blobsFrom(p.scanURL)
	if err != nil {
		return nil, err
	}
	return wallet.NewStorePublic(wallet.StorePublicConfig{Present: p.present(), Hosts: p.hosts, Blobs: finder})
}

// hosts returns the participants that host a party, by member id: of one of the node's own parties the node says
// so, of others an upstream.
func (p *walletParts) hosts(ctx context.Context, synchronizer, party string) ([]string, error) {
	known, ok, err := p.client.Party(ctx, party)
	if err != nil {
		return nil, err
	}
	if ok && known.Local {
		participant, err := p.client.ParticipantID(ctx)
		return []string{wallet.ParticipantMember(participant)}, err
	}
	if p.askHost == nil {
		return nil, fmt.Errorf("hosts of %s: %w", party, schemas.ErrNotFound)
	}
	fact, err := p.askHost(ctx, facts.Of(facts.Participants, synchronizer, party))
	if err != nil {
		return nil, err
	}
	var hosts struct {
		Participants []string `json:"participant_ids"`
	}
	if err := json.Unmarshal(fact.Body, &hosts); err != nil {
		return nil, fmt.Errorf("reading the hosts of %s: %w", party, err)
	}
	return hosts.Participants, nil
}

// Time implements validator.Network.
func (p *walletParts) Time(ctx context.Context) (time.Time, error) {
	public, err := p.public()
	if err != nil {
		return time.Time{}, err
	}
	at, err := public.Now(ctx)
	if errors.Is(err, wallet.ErrUnavailable) {
		err = &query.Error{Code: query.Unavailable, Msg: "The network's public history is not known yet.", Err: err}
	}
	return at, err
}

// OpenRounds implements validator.Network.
func (p *walletParts) OpenRounds(ctx context.Context) ([]validator.Round, error) {
	rounds, err := p.present().MiningRounds(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]validator.Round, len(rounds.Open))
	for i, r := range rounds.Open {
		list[i] = validator.Round{Number: r.Number, OpensAt: r.OpensAt.Time()}
	}
	return list, nil
}
