package jobs

import "context"

// Flush empties Redis, as a person or a restart may.
func (q *Queue) Flush(ctx context.Context) error { return q.redis.FlushAll(ctx).Err() }
