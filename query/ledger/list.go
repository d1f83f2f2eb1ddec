package ledger

import (
	"context"
	"strconv"
	"time"
)

// listRules are what the parameters of a list say.
type listRules struct {
	// most is how many elements are gathered.
	most int
	// strict says that so many are too many.
	strict bool
	idle   time.Duration
}

// listRules reads the query string. A limit above that of the server is as good as none.
func (a *API) listRules(r *reading) (rules listRules, err error) {
	rules = listRules{most: a.cfg.ListLimit + 1, strict: true, idle: a.cfg.ListIdle}
	parameters := r.Query()
	if text, ok := parameters.OptionalText("limit"); ok {
		limit, err := strconv.ParseInt(text, 10, 64)
		if err != nil || limit < 0 {
			return rules, badParameter("limit")
		}
		if limit <= int64(a.cfg.ListLimit) {
			rules.most, rules.strict = int(limit), false
		}
	}
	if text, ok := parameters.OptionalText("stream_idle_timeout_ms"); ok {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 0 {
			return rules, badParameter("stream_idle_timeout_ms")
		}
		rules.idle = time.Duration(min(ms, time.Hour.Milliseconds())) * time.Millisecond
	}
	return rules, nil
}

// limit is how many elements the answer may have.
func (l listRules) limit() int {
	if l.strict {
		return l.most - 1
	}
	return l.most
}

// list answers with the elements of a cursor. A list without an end is over when nothing came
// for the idle time. finish, unless it is nil, may append one element where so many have left
// room for it; keep, unless it is nil, is given the answer, to be copied.
func (a *API) list(ctx context.Context, r *reading, rules listRules, c cursor, finish func(ctx context.Context, dst []byte, count int) ([]byte, error), keep func([]byte)) error {
	ctx, err := a.reserve(ctx, r, rules.most)
	if err != nil {
		return err
	}
	return r.Produce(ctx, func(ctx context.Context, dst []byte) ([]byte, bool, error) {
		dst, count, err := a.gather(ctx, append(dst, '['), rules.most, c, func(latest time.Time) (more bool, err error) {
			err = r.Await(ctx, func() (err error) {
				more, err = waitUntil(ctx, latest.Add(rules.idle), c)
				return err
			})
			return more, err
		})
		if err == nil && rules.strict && count == rules.most {
			err = failure(listTooLong, "The number of matching elements (%d) is greater than the node limit (%d).", count, rules.most-1)
		}
		if err == nil && finish != nil && count < rules.limit() {
			dst, err = finish(ctx, dst, count)
		}
		dst = append(dst, ']')
		if err == nil && keep != nil {
			keep(dst)
		}
		return dst, false, err
	})
}

const (
	// gatherOverhead is what a list or page takes whatever its size.
	gatherOverhead = 256 << 10
	// gatherFactor is how many times the size of their text elements take: the rows that are
	// read, their text and that of the answer, with room to grow.
	gatherFactor = 6
)

// reserve waits for the memory of so many elements.
func (a *API) reserve(ctx context.Context, r *reading, elements int) (context.Context, error) {
	return r.Reserve(ctx, gatherOverhead+gatherFactor*a.sizes.Of(elements))
}

// gather appends at most so many elements with commas between them. When there is nothing
// more to read it asks wait whether there may be more, with the time of the latest element.
func (a *API) gather(ctx context.Context, dst []byte, most int, c cursor, wait func(latest time.Time) (bool, error)) ([]byte, int, error) {
	var p page
	count := 0
	latest := time.Now()
	for count < most {
		p.reset()
		more, err := c.next(ctx, &p, most-count)
		if err != nil {
			return dst, count, err
		}
		a.sizes.Saw(len(p.ends), len(p.texts))
		begin := 0
		for _, end := range p.ends {
			if count > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, p.texts[begin:end]...)
			begin = end
			count++
		}
		if len(p.ends) > 0 {
			latest = time.Now()
		}
		if more {
			continue
		}
		if more, err = wait(latest); err != nil || !more {
			return dst, count, err
		}
	}
	return dst, count, nil
}

// answerMargin is how long before the end of a request's time waiting ends, so that what
// there is can be sent.
const answerMargin = time.Second

// waitUntil waits for more, but not beyond a time, nor beyond that of the request.
func waitUntil(ctx context.Context, until time.Time, c cursor) (more bool, err error) {
	if last, ok := ctx.Deadline(); ok && until.After(last.Add(-answerMargin)) {
		until = last.Add(-answerMargin)
	}
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	more, err = c.wait(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return more, err
}
