//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Kinds of short links.
const (
	lasting = iota
	ending  // expires after some seconds
	limited // has a visit limit of maxVisits
	sorts
)

const maxVisits = 3

// shortLink is the expected state of an acknowledged short link. Its destination
// contains its version: https://example.com/<title>/<version>.
type shortLink struct {
	key, title string
	sort       int
	expiresAt  time.Time

	mu        sync.Mutex
	known     []known   // acknowledged versions, oldest first
	version   int       // newest version that was sent
	deleted   time.Time // time of the acknowledged deletion
	doubtful  bool      // the last change was not acknowledged and may still be applied: no other change may follow
	deleting  bool      // that change is a deletion
	redirects int
}

type known struct {
	version int
	at      time.Time
}

func (l *shortLink) url(version int) string {
	return fmt.Sprintf("https://example.com/%s/%d", l.title, version)
}

// promise is the maximum age of the state that a redirect uses. The test allows a
// little more, because clocks and ticks are not exact.
const promise = 2*time.Second + 100*time.Millisecond

// edits creates, changes and deletes its own short links, one after the other.
func (c *chaos) edits(ctx context.Context, name string, random *rand.Rand) {
	var own []*shortLink
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(between(random, 5*time.Millisecond, 40*time.Millisecond))
		if len(own) < 10 || random.IntN(6) == 0 {
			if l := c.create(ctx, fmt.Sprintf("%s-%d", name, n), random); l != nil && l.sort == lasting {
				own = append(own, l)
			}
			continue
		}
		i := random.IntN(len(own))
		at := c.anyNode(random)
		if random.IntN(8) > 0 {
			c.edit(ctx, at, own[i])
		} else {
			c.remove(ctx, at, own[i])
		}
		if own[i].doubtful || !own[i].deleted.IsZero() {
			own = append(own[:i], own[i+1:]...)
		}
	}
}

// create adds a short link with an Idempotency-Key and retries until it is
// acknowledged. It returns nil if the test ends before that.
func (c *chaos) create(ctx context.Context, title string, random *rand.Rand) *shortLink {
	l := &shortLink{title: title, sort: random.IntN(sorts)}
	body := map[string]any{"long_url": l.url(0), "title": title}
	switch l.sort {
	case ending:
		body["ttl_seconds"] = 1 + random.IntN(5)
	case limited:
		body["max_visits"] = maxVisits
	}
	c.mu.Lock()
	c.titles[title] = l
	c.mu.Unlock()
	for acked := 0; ctx.Err() == nil; {
		r := c.anyNode(random).send(ctx, http.MethodPost, "/v1/shortlinks", body, "Idempotency-Key", title)
		if r.status != http.StatusCreated && r.status != http.StatusOK {
			c.unexpected(r, "creating a short link")
			if acked > 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}
		var got struct {
			Key     string     `json:"short_key"`
			URL     string     `json:"long_url"`
			Expires *time.Time `json:"expires_at"`
		}
		if err := json.Unmarshal(r.body, &got); err != nil || got.URL != l.url(0) {
			c.wrong("create", "creating %s was answered %s", title, r.body)
			return nil
		}
		if l.key != "" && l.key != got.Key && l.sort == lasting { // the others may be deleted by the reaper between two requests
			c.wrong("create", "Idempotency-Key %s has made %s and %s", title, l.key, got.Key)
		}
		if acked++; acked == 1 {
			c.creates.Add(1)
			l.key = got.Key
			l.known = []known{{0, r.received}}
			if got.Expires != nil {
				l.expiresAt = *got.Expires
			}
		}
		if acked == 2 || random.IntN(10) > 0 {
			break
		}
	}
	if l.key == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	return l
}

func (c *chaos) edit(ctx context.Context, at *node, l *shortLink) {
	l.mu.Lock()
	l.version++
	version := l.version
	l.mu.Unlock()
	r := at.send(ctx, http.MethodPatch, "/v1/shortlinks/"+l.key, map[string]any{"long_url": l.url(version)})
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.status == http.StatusOK {
		c.changes.Add(1)
		l.known = append(l.known, known{version, r.received})
		return
	}
	c.unexpected(r, "editing "+l.title)
	l.doubtful = true
}

func (c *chaos) remove(ctx context.Context, at *node, l *shortLink) {
	l.mu.Lock()
	l.deleting = true
	l.mu.Unlock()
	r := at.send(ctx, http.MethodDelete, "/v1/shortlinks/"+l.key, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.status == http.StatusNoContent {
		c.deletes.Add(1)
		l.deleted = r.received
		return
	}
	c.unexpected(r, "deleting "+l.title)
	l.doubtful = true
}

// follows visits short links on one instance. It prefers old ones, so that they are in
// its cache.
func (c *chaos) follows(ctx context.Context, n *node, random *rand.Rand) {
	for ; ctx.Err() == nil; time.Sleep(between(random, time.Millisecond, 10*time.Millisecond)) {
		c.mu.Lock()
		some := c.links
		c.mu.Unlock()
		if len(some) == 0 {
			continue
		}
		switch random.IntN(3) {
		case 0:
			some = some[:min(20, len(some))]
		case 1:
			some = some[max(0, len(some)-20):]
		}
		l := some[random.IntN(len(some))]
		r := n.send(ctx, http.MethodGet, "/s/"+l.key, nil)
		l.mu.Lock()
		c.judge(l, r, n)
		l.mu.Unlock()
	}
}

// judge verifies a redirect. The caller holds l.mu.
func (c *chaos) judge(l *shortLink, r reply, n *node) {
	switch r.status {
	case http.StatusFound:
	case http.StatusGone, http.StatusNotFound:
		if l.sort == lasting && !l.deleting {
			c.wrong("redirect", "%s of %s: got status %d, but it was not deleted", l.key, l.title, r.status)
		}
		return
	default:
		c.unexpected(r, "following "+l.title)
		return
	}
	c.redirects.Add(1)
	l.redirects++
	var version int
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.location, strings.TrimSuffix(l.url(0), "0")), "%d", &version); err != nil || version > l.version {
		c.wrong("redirect", "%s of %s redirects to %q", l.key, l.title, r.location)
		return
	}
	if l.sort == limited && l.redirects == maxVisits+1 {
		c.wrong("max_visits", "%s of %s has had more than %d redirects", l.key, l.title, maxVisits)
	}
	if !l.expiresAt.IsZero() && !r.sent.Before(l.expiresAt) {
		c.wrong("expired", "%s of %s redirected %s after it expired", l.key, l.title, r.sent.Sub(l.expiresAt))
	}
	var old time.Duration // age of the newer version when the request was sent
	for _, k := range l.known {
		if k.version > version {
			old = r.sent.Sub(k.at)
			break
		}
	}
	if !l.deleted.IsZero() {
		old = max(old, r.sent.Sub(l.deleted))
	}
	if old > 0 {
		c.late.Add(1)
		c.oldest.Store(max(c.oldest.Load(), int64(old)))
	}
	if old > promise {
		c.wrong("stale", "instance %d redirected %s of %s to version %d, %s after that version changed (at %s)", n.port, l.key, l.title, version, old, r.sent.Format(time.StampMicro))
	}
}

// saves adds links.
func (c *chaos) saves(ctx context.Context, web string, random *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(between(random, 50*time.Millisecond, 200*time.Millisecond))
		url := fmt.Sprintf("%s/save-%d", web, n)
		node := c.anyNode(random)
		r := node.send(ctx, http.MethodPost, "/v1/links", map[string]any{"url": url})
		switch r.status {
		case http.StatusCreated, http.StatusOK:
		case http.StatusUnprocessableEntity: // the page was not fetched in time, for example because the instance was stopped
			c.mu.Lock()
			c.notFetched = append(c.notFetched, broken{node, http.MethodPost, r})
			c.mu.Unlock()
			continue
		default:
			c.unexpected(r, "saving "+url)
			continue
		}
		c.saved.Add(1)
		c.mu.Lock()
		c.kept = append(c.kept, url)
		c.mu.Unlock()
	}
}

// unexpected fails the test unless faults explain the reply. send reports other 5xx
// responses.
func (c *chaos) unexpected(r reply, what string) {
	if r.status != 0 && r.status != http.StatusTooManyRequests && r.status < 500 {
		c.wrong("status", "%s: got status %d: %s", what, r.status, r.body)
	}
}
