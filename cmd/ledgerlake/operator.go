package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func newOperator(c *cli) *cobra.Command {
	var hint string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "set up the validator's operator on a node: ledger user, party and rights",
		Long: `operator makes what the operator of the validator interface lacks on the node: the ledger user
of --validator-user (by default the user of the node's token), a primary party of the node's
namespace, and the rights to act for it and to administer the node. What is there already is kept,
so it may be repeated. The token must be that of an administrator.

Afterwards up and serve, with --node-url and a key for tokens, give the operator its wallet
as soon as they know the network's rules.`,
		Example: "  ledgerlake operator --node-url http://node:7575 --node-token-file token.txt --validator-user operator\n" +
			"  ledgerlake operator --node-url http://node:7575 --validator-user operator --hint acme --json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			s, err := a.SetUpOperator(cmd.Context(), hint)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.stdout).Encode(s)
			}
			state := map[bool]string{true: "made", false: "was there"}
			_, err = fmt.Fprintf(c.stdout, "participant  %s\nuser         %s (%s)\nparty        %s (%s)\n", s.Participant, s.User, state[s.UserMade], s.Party, state[s.PartyMade])
			return err
		},
	}
	cmd.Flags().StringVar(&hint, "hint", "", "beginning of the new party's name; default the name of the participant")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
