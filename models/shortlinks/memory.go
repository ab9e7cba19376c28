package shortlinks

import (
	"context"
	"time"
)

// Memory is the Cache in this process.
type Memory struct{}

// NewMemory makes a cache of at most size entries. Close it when it is no longer used.
func NewMemory(size int) *Memory { return &Memory{} }

// Close ends the cache's goroutines.
func (m *Memory) Close() {}

// Get implements Cache.
func (m *Memory) Get(ctx context.Context, key string) (e Entry, ok bool) { panic("stub") }

// Put implements Cache.
func (m *Memory) Put(ctx context.Context, key string, e Entry, ttl time.Duration) { panic("stub") }

// Announce implements Cache.
func (m *Memory) Announce(ctx context.Context, key string, e Entry, ttl time.Duration) { panic("stub") }

// Refresh implements Cache.
func (m *Memory) Refresh(ctx context.Context, key string, e Entry, ttl time.Duration) { panic("stub") }
