package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/jobs"
	"linkwatch/models/crawl"
)

// The stream of Redis that tells of sources, and the group that reads it: all
// instances together handle each event once.
const (
	eventStream = "source-events"
	eventGroup  = "linkwatch"
	eventWait   = 5 * time.Second // for events, and after an error
	eventBatch  = 100
)

// NewEvents makes the Service that reads from Redis which sources are enabled and
// disabled (REDIS_EVENTS_ENABLED). name tells this instance from others.
func NewEvents(store *crawl.Store, client *redis.Client, name string, log *slog.Logger) jobs.Service {
	e := &events{store: store, redis: client, name: name, log: log}
	return jobs.NewBackground(func(taking, _ context.Context) { e.run(taking) })
}

type events struct {
	store *crawl.Store
	redis *redis.Client
	name  string
	log   *slog.Logger
}

// run reads events until ctx ends. An event that was read and could not be applied
// is read again after the next start.
func (e *events) run(ctx context.Context) {
	// From the first event that is kept: those before the first start count too.
	from, failing := "0", false
	for ctx.Err() == nil {
		err := e.redis.XGroupCreateMkStream(ctx, eventStream, eventGroup, "0").Err()
		if err == nil || strings.HasPrefix(err.Error(), "BUSYGROUP") {
			from, err = e.read(ctx, from)
		}
		if err == nil || ctx.Err() != nil {
			failing = false
			continue
		}
		if !failing {
			jobs.LogError(e.log, "reading events of sources failed", err)
		}
		failing = true
		select {
		case <-ctx.Done():
		case <-time.After(eventWait):
		}
	}
}

// read handles a batch of events: at first those that this instance read before and
// has not acknowledged, then new ones.
func (e *events) read(ctx context.Context, from string) (next string, err error) {
	streams, err := e.redis.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: eventGroup, Consumer: e.name, Streams: []string{eventStream, from}, Count: eventBatch, Block: eventWait,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return ">", nil
	}
	if err != nil {
		return from, err
	}
	n := 0
	for _, s := range streams {
		for _, m := range s.Messages {
			n++
			if err := e.apply(ctx, m); err != nil {
				return "0", err
			}
			if err := e.redis.XAck(ctx, eventStream, eventGroup, m.ID).Err(); err != nil {
				return "0", err
			}
		}
	}
	if n == 0 {
		return ">", nil
	}
	return from, nil
}

// apply does what an event says. Events of other kinds, and those that cannot be
// read, are passed over.
func (e *events) apply(ctx context.Context, m redis.XMessage) error {
	text, _ := m.Values["event"].(string)
	var event struct {
		Type   string `json:"event_type"`
		Source string `json:"source_id"`
	}
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		return nil //nolint:nilerr // it will not become readable
	}
	if event.Type != "SOURCE_ENABLED" && event.Type != "SOURCE_DISABLED" {
		return nil
	}
	enabled := event.Type == "SOURCE_ENABLED"
	found, err := e.store.EnableSource(ctx, event.Source, enabled)
	if err == nil && found {
		e.log.Info("source changed by an event", "source_id", event.Source, "enabled", enabled)
	}
	return err
}
