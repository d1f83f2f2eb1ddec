package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// DefaultScope is the word in a token's scope that says it is meant for the ledger interface.
const DefaultScope = "daml_ledger_api"

// Audience is the audience of tokens for a participant.
func Audience(participant string) string {
	return "https://daml.com/jwt/aud/participant/" + participant
}

// maxToken is the longest token that is looked at, in bytes.
const maxToken = 16 << 10

// Config says which tokens are good.
type Config struct {
	Keys  Keys  // required
	Users Users // required
	// Audience, if given, must be among a token's audiences; Scope, if given, among the words of
	// its scope. With neither, a token must name the participant's default audience or
	// DefaultScope, and then for this participant if it names an audience at all.
	Audience, Scope string
	// OtherAudience, if given, will do in place of Audience.
	OtherAudience string
	// Participant returns the id of the participant, "" while it is not known.
	Participant func() string
	// Leeway is how long after its expiry a token is good still. It is good as long before its
	// beginning, and may have been made a minute in the future at least: clocks differ.
	Leeway time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	cfg    Config
	parser *jwt.Parser
}

// New returns a Verifier.
func New(cfg Config) (*Verifier, error) {
	switch {
	case cfg.Keys == nil || cfg.Users == nil:
		return nil, errors.New("auth: Config.Keys and Users are required")
	case cfg.Audience != "" && cfg.Scope != "":
		return nil, errors.New("auth: Config has an Audience and a Scope: tokens have one of them")
	case cfg.Leeway < 0:
		return nil, errors.New("auth: Config.Leeway is negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Participant == nil {
		cfg.Participant = func() string { return "" }
	}
	return &Verifier{cfg, jwt.NewParser(
		// Only what the keys are for: else a token signed with the public key as a shared secret would pass.
		jwt.WithValidMethods(cfg.Keys.Methods()), jwt.WithStrictDecoding(),
		jwt.WithoutClaimsValidation(), // see current: the library reads names in any case
	)}, nil
}

// Ready returns nil when tokens can be checked.
func (v *Verifier) Ready(ctx context.Context) error { return v.cfg.Keys.Ready(ctx) }

// Verify returns who a token is of, with their rights. Errors are ErrUnauthenticated or
// ErrUnavailable.
func (v *Verifier) Verify(ctx context.Context, token string) (*Principal, error) {
	p, err := v.Identify(ctx, token)
	if err != nil {
		return nil, err
	}
	return v.Renew(ctx, p)
}

// Identify is Verify without rights: the user of the token need not be known to anybody. Its
// errors are ErrUnauthenticated.
func (v *Verifier) Identify(ctx context.Context, token string) (*Principal, error) {
	switch {
	case token == "":
		return nil, fmt.Errorf("%w: there is no token", ErrUnauthenticated)
	case len(token) > maxToken:
		return nil, fmt.Errorf("%w: the token has %d bytes", ErrUnauthenticated, len(token))
	}
	c, err := v.read(ctx, token)
	if err == nil {
		err = v.current(&c)
	}
	if err == nil {
		err = v.meantForUs(&c)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnauthenticated, err)
	}
	p := &Principal{User: c.subject}
	if !c.expires.IsZero() {
		p.Expires = c.expires.Add(v.cfg.Leeway)
	}
	return p, nil
}

// read checks the form of a token and its signature, in this order: a header that we do not
// understand chooses no key.
func (v *Verifier) read(ctx context.Context, token string) (c claims, err error) {
	if err := checkHeader(token); err != nil {
		return c, err
	}
	if _, err := v.parser.ParseWithClaims(token, jwt.MapClaims{}, v.cfg.Keys.Func(ctx)); err != nil {
		return c, err
	}
	return readClaims(token)
}

// clockSkew is how far the clock of a token's issuer may be ahead of ours.
const clockSkew = time.Minute

// current returns nil for a token that is good now.
func (v *Verifier) current(c *claims) error {
	now := v.cfg.Now()
	switch {
	case !c.expires.IsZero() && !now.Before(c.expires.Add(v.cfg.Leeway)):
		return fmt.Errorf("the token has expired at %s", c.expires)
	case c.begins.After(now.Add(v.cfg.Leeway)):
		return fmt.Errorf("the token is not valid before %s", c.begins)
	case c.made.After(now.Add(max(v.cfg.Leeway, clockSkew))):
		return fmt.Errorf("the token was issued in the future, at %s", c.made)
	case !c.expires.IsZero() && (c.begins.After(c.expires) || c.made.After(c.expires)):
		return errors.New("the token expires before it begins")
	}
	return nil
}

// Renew returns p with the rights that its user has now.
func (v *Verifier) Renew(ctx context.Context, p *Principal) (*Principal, error) {
	rights, err := v.cfg.Users.Rights(ctx, p.User)
	if err != nil {
		return nil, err
	}
	return &Principal{User: p.User, Expires: p.Expires, Rights: rights}, nil
}

func (v *Verifier) meantForUs(c *claims) error {
	scopes := strings.Fields(c.scope)
	participant := v.cfg.Participant()
	switch {
	case c.subject == "" || c.subject == "." || c.subject == "..": // a node is asked for users by paths
		return errors.New("the token names no user")
	case v.cfg.Audience != "":
		if other := v.cfg.OtherAudience; !slices.Contains(c.audience, v.cfg.Audience) && (other == "" || !slices.Contains(c.audience, other)) {
			return fmt.Errorf("the token is for %q, not for %q", c.audience, v.cfg.Audience)
		}
	case v.cfg.Scope != "" || slices.Contains(scopes, DefaultScope):
		if wanted := cmp.Or(v.cfg.Scope, DefaultScope); !slices.Contains(scopes, wanted) {
			return fmt.Errorf("the token has scope %q, without %q", c.scope, wanted)
		}
		// A scope may come without an audience; one for another participant is not for us.
		if len(c.audience) > 0 && v.cfg.Scope == "" && !v.names(c.audience, participant) {
			return fmt.Errorf("the token is for %q, not for participant %q", c.audience, participant)
		}
	case !v.names(c.audience, participant):
		return fmt.Errorf("the token is for %q, with scope %q", c.audience, c.scope)
	}
	return nil
}

func (v *Verifier) names(audiences []string, participant string) bool {
	return participant != "" && (slices.Contains(audiences, participant) || slices.Contains(audiences, Audience(participant)))
}
