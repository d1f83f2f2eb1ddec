package history

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// maxRounds bounds the rounds that are read; there are about three of each kind.
const maxRounds = 1000

// MiningRound is an open or an issuing round.
type MiningRound struct {
	Number int64
	// Price is what a coin costs in dollars, of an open round.
	Price             decimal.Decimal
	OpensAt, ClosesAt schemas.Micros // ClosesAt is what is aimed at
	// Contract is the round's, its argument in compact JSON.
	Contract StateContract
}

// MiningRounds are the active rounds at the watermark of a stream, ascending by number.
type MiningRounds struct {
	Open, Issuing []MiningRound
	// At is the record time of the watermark.
	At schemas.Micros
}

func roundOf(c StateContract) (MiningRound, error) {
	wrong := func(err error) (MiningRound, error) {
		return MiningRound{}, fmt.Errorf("reading the mining round in contract %.80q: %w", c.Event.ContractID, err)
	}
	if c.Encoding != schemas.CompactJSON {
		compact, err := values.AppendCompact(nil, c.Event.Argument, values.Default().Template(c.Event.PackageName, c.Event.TemplateID))
		if err != nil {
			return wrong(err)
		}
		c.Event.Argument, c.Encoding = compact, schemas.CompactJSON
	}
	var payload struct {
		Round struct {
			Number string `json:"number"`
		} `json:"round"`
		Price    decimal.Decimal `json:"amuletPrice"`
		OpensAt  string          `json:"opensAt"`
		ClosesAt string          `json:"targetClosesAt"`
	}
	if err := json.Unmarshal(c.Event.Argument, &payload); err != nil {
		return wrong(err)
	}
	round := MiningRound{Price: payload.Price, Contract: c}
	var err error
	if round.Number, err = strconv.ParseInt(payload.Round.Number, 10, 64); err != nil {
		return wrong(err)
	}
	if round.OpensAt, err = schemas.ParseTime(payload.OpensAt); err != nil {
		return wrong(err)
	}
	if round.ClosesAt, err = schemas.ParseTime(payload.ClosesAt); err != nil {
		return wrong(err)
	}
	return round, nil
}
