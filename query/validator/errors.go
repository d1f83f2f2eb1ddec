package validator

import (
	"errors"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
)

// classes of errors of the wallet, and what they are to a caller.
var classes = []struct {
	kind error
	code query.Code
}{
	{wallet.ErrInvalid, query.Invalid},
	{wallet.ErrNotFound, query.NotFound},
	{wallet.ErrConflict, query.AlreadyExists},
	{wallet.ErrInFlight, query.Aborted},
	{wallet.ErrDisabled, query.Disabled},
	{wallet.ErrUnavailable, query.Unavailable},
	{wallet.ErrUnknown, query.Unavailable},
}

// refused gives an error of the wallet its class. It is the only place that does. Others stay as
// they are: they are not the caller's fault.
func refused(err error) error {
	var e *wallet.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, c := range classes {
		if errors.Is(e.Kind, c.kind) {
			return &query.Error{Code: c.code, Msg: e.Message, Err: e.Err}
		}
	}
	return err
}
