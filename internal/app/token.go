package app

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

func newToken(a *app) *cobra.Command {
	var user, participant string
	forValidator := false
	var lasting time.Duration
	cmd := &cobra.Command{
		Use:   "token --user USER",
		Short: "mint a token for the ledger or the validator interface, for development",
		Long: `token prints a token of a user, signed with the shared secret of --ledger-auth-secret, for
the audience or with the scope that the ledger interface is configured to ask for. With
--validator it is one for the validator interface, signed with --validator-auth-secret or,
without, the secret of the simulated network. Whoever has the secret can be any user: use a
key set or a certificate where it matters.`,
		Example: "  LEDGERLAKE_LEDGER_AUTH_SECRET=a-secret-of-32-characters-or-more ledgerlake token --user alice\n" +
			"  ledgerlake token --validator --user alice",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if forValidator {
				return a.validatorToken(user, lasting)
			}
			switch {
			case a.cfg.LedgerAuthSecret == "":
				return settings.Usage("token needs --ledger-auth-secret (or LEDGERLAKE_LEDGER_AUTH_SECRET), with which the ledger interface checks tokens")
			case user == "":
				return settings.Usage("token needs --user, the user's id")
			case lasting < 0:
				return settings.Usage("--expires-in must not be negative, it is %s", lasting)
			}
			if _, err := auth.Secret([]byte(a.cfg.LedgerAuthSecret)); err != nil {
				return settings.Usage("--ledger-auth-secret: %w", err)
			}
			claims := auth.Claims{User: user, Audience: a.cfg.LedgerAuthAudience, Scope: a.cfg.LedgerAuthScope, Issued: time.Now()}
			if claims.Audience == "" && participant != "" {
				claims.Audience = auth.Audience(participant)
			}
			if claims.Audience == "" && claims.Scope == "" {
				claims.Scope = auth.DefaultScope
			}
			if lasting > 0 {
				claims.Expires = claims.Issued.Add(lasting)
			}
			token, err := auth.Mint([]byte(a.cfg.LedgerAuthSecret), claims)
			if err != nil {
				return fmt.Errorf("signing a token for user %s: %w", user, err)
			}
			_, err = fmt.Fprintln(a.stdout, token)
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "user that the token is for")
	cmd.Flags().BoolVar(&forValidator, "validator", false, "a token for the validator interface")
	cmd.Flags().StringVar(&participant, "participant", "", "participant whose default audience it names")
	cmd.Flags().DurationVar(&lasting, "expires-in", 24*time.Hour, "how long it is good; 0 means for ever")
	return cmd
}

// validatorToken prints a token for the validator interface.
func (a *app) validatorToken(user string, lasting time.Duration) error {
	if user == "" || lasting < 0 {
		return settings.Usage("token needs --user, the user's id, and --expires-in must not be negative")
	}
	claims := auth.Claims{User: user, Audience: a.cfg.ValidatorAuthAudience, Issued: time.Now()}
	if lasting > 0 {
		claims.Expires = claims.Issued.Add(lasting)
	}
	token, err := auth.Mint([]byte(cmp.Or(a.cfg.ValidatorAuthSecret, developmentSecret)), claims)
	if err != nil {
		return fmt.Errorf("signing a token for user %s: %w", user, err)
	}
	_, err = fmt.Fprintln(a.stdout, token)
	return err
}
