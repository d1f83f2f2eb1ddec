package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func newToken(c *cli) *cobra.Command {
	var r app.TokenRequest
	cmd := &cobra.Command{
		Use:   "token --user USER",
		Short: "mint a token for the ledger or the validator interface, for development",
		Long: `token prints a token for a user, signed with the shared secret of --ledger-auth-secret, with
the audience or the scope that the ledger interface is configured to require. With
--validator the token is for the validator interface, signed with --validator-auth-secret or,
if that is not set, with the secret of the simulated network. Anyone who has the secret can be
any user: use a key set or a certificate in production.`,
		Example: "  LEDGERLAKE_LEDGER_AUTH_SECRET=a-secret-of-32-characters-or-more ledgerlake token --user alice\n" +
			"  ledgerlake token --validator --user alice",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			token, err := app.Token(&c.cfg, r)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.stdout, token)
			return err
		},
	}
	cmd.Flags().StringVar(&r.User, "user", "", "user that the token is for")
	cmd.Flags().BoolVar(&r.Validator, "validator", false, "a token for the validator interface")
	cmd.Flags().StringVar(&r.Participant, "participant", "", "participant whose default audience the token names")
	cmd.Flags().DurationVar(&r.Lasting, "expires-in", 24*time.Hour, "how long the token is valid; 0 means forever")
	return cmd
}
