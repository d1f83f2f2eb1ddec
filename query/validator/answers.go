package validator

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// Headers of the answer to a change: its offset, and whether it can be read here yet.
const (
	offsetHeader  = "Ledger-Offset"
	visibleHeader = "Ledger-Visible"
)

// changed sets the headers of a change that was made.
func changed(c *caller, done wallet.Done) {
	if done.Offset > 0 {
		c.SetHeader(offsetHeader, strconv.FormatInt(done.Offset, 10))
	}
	c.SetHeader(visibleHeader, strconv.FormatBool(done.Visible))
}

// nothing answers with an object without members.
func nothing(c *caller, done wallet.Done, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, done)
	return c.JSON(struct{}{})
}

// empty answers without a body.
func empty(c *caller, done wallet.Done, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, done)
	return c.Empty(200)
}

// contractAnswer answers with the contract that an action made.
func contractAnswer(c *caller, member string, done wallet.Done, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, done)
	return c.JSON(map[string]string{member: done.ContractID})
}
