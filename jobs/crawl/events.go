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

// The Redis stream with events of sources, and its consumer group. Each event is handled by one
// instance.
const (
	eventStream = "source-events"
	eventGroup  = "linkwatch"
	eventWait   = 5 * time.Second // blocking read, and wait after an error
	eventBatch  = 100
)

// NewEvents returns the Service that enables and disables sources on events in Redis
// (REDIS_EVENTS_ENABLED). name is the consumer name of this instance.
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

// run reads events until ctx is done. Events that were read and not applied are read again after
// an error or a restart.
func (e *events) run(ctx context.Context) {
	// Start with the oldest event in the stream, including events before the first start.
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
			jobs.LogError(e.log, "read source events failed", err)
		}
		failing = true
		select {
		case <-ctx.Done():
		case <-time.After(eventWait):
		}
	}
}

// read handles a batch of events: first the events that this instance has read and not acknowledged,
// then new ones.
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

// apply applies an event. It ignores unknown and invalid events.
func (e *events) apply(ctx context.Context, m redis.XMessage) error {
	text, _ := m.Values["event"].(string)
	var event struct {
		Type   string `json:"event_type"`
		Source string `json:"source_id"`
	}
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		return nil //nolint:nilerr // a retry would fail too
	}
	if event.Type != "SOURCE_ENABLED" && event.Type != "SOURCE_DISABLED" {
		return nil
	}
	enabled := event.Type == "SOURCE_ENABLED"
	found, err := e.store.SetSourceEnabled(ctx, event.Source, enabled)
	if err == nil && found {
		e.log.Info("source changed by event", "source_id", event.Source, "enabled", enabled)
	}
	return err
}
