package api

import (
	"sync"
	"time"
)

// Bucket is a token bucket. It is safe for concurrent use.
type Bucket struct {
	mu        sync.Mutex
	tokens    float64
	filledAt  time.Time
	perSecond float64
	burst     float64
	now       func() time.Time
}

// NewBucket returns a full bucket.
func NewBucket(perSecond, burst float64, now func() time.Time) *Bucket {
	return &Bucket{tokens: burst, filledAt: now(), perSecond: perSecond, burst: burst, now: now}
}

// Take removes one token and reports whether there was one.
func (b *Bucket) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// fill adds the tokens that have accrued since the last call. The caller holds mu.
func (b *Bucket) fill() {
	now := b.now()
	if elapsed := now.Sub(b.filledAt); elapsed > 0 {
		b.tokens = min(b.burst, b.tokens+elapsed.Seconds()*b.perSecond)
		b.filledAt = now
	}
}
