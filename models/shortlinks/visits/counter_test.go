package visits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"

var noon = models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))

func TestFullQueueDropsVisits(t *testing.T) {
	v := New()
	for range maxQueued + 10 { // nothing reads the queue
		v.Count(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{}, At: noon})
	}
	if v.Dropped() != 10 || v.Waiting() != maxQueued {
		t.Errorf("got %d dropped, %d waiting", v.Dropped(), v.Waiting())
	}
	v.drain()
	if b := v.take(v.keys()); len(b) != 1 || b[0].Other != maxQueued {
		t.Errorf("got %d days of links", len(b))
	}
	if v.Waiting() != 0 {
		t.Errorf("got %d waiting", v.Waiting())
	}
}

func TestAggregate(t *testing.T) {
	v := New()
	v.Count(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: "https://www.a.example/x", UserAgent: firefox}, At: noon.Add(time.Minute)})
	v.Count(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: "https://a.example/y", UserAgent: "curl/8"}, At: noon})
	v.Count(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: "https://b.example", UserAgent: "Twitterbot/1.0"}, At: noon})
	v.Count(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{}, At: noon.Add(12 * time.Hour)})
	v.Count(shortlinks.Visit{Link: 2, Visitor: shortlinks.Visitor{}, At: noon})
	// No visits: a bot, previews, and both.
	for i, visitor := range []shortlinks.Visitor{
		{Referrer: "https://c.example", UserAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
		{Referrer: "https://c.example", UserAgent: "Twitterbot/1.0"}, {UserAgent: firefox, Ahead: true}, {UserAgent: "Googlebot/2.1", Ahead: true},
	} {
		if v.IsVisit(visitor) {
			t.Errorf("%+v is a visit", visitor)
		}
		v.Count(shortlinks.Visit{Link: 3, Visitor: visitor, At: noon.Add(time.Duration(i) * time.Minute)})
	}
	v.drain()
	got := map[string]int64{}
	for _, l := range v.take(v.keys()) {
		name := fmt.Sprintf("%d on %s", l.Link, l.Start.Format(time.DateOnly))
		got[name+" all"], got[name+" bots"], got[name+" previews"], got[name+" desktop"] = l.All(), l.Bots, l.Previews, l.Desktop
		if !l.Last.IsZero() {
			got[name+" last"] = int64(l.Last.Sub(noon.Time) / time.Minute)
		}
		for _, s := range l.Referrers {
			got[name+" from "+s.Host] = s.Visits
		}
	}
	want := map[string]int64{
		"1 on 2026-03-24 all": 3, "1 on 2026-03-24 bots": 0, "1 on 2026-03-24 previews": 1, "1 on 2026-03-24 desktop": 1, "1 on 2026-03-24 last": 1,
		"1 on 2026-03-24 from a.example": 2,
		"1 on 2026-03-25 all":            1, "1 on 2026-03-25 bots": 0, "1 on 2026-03-25 previews": 0, "1 on 2026-03-25 desktop": 0, "1 on 2026-03-25 last": 720,
		"2 on 2026-03-24 all": 1, "2 on 2026-03-24 bots": 0, "2 on 2026-03-24 previews": 0, "2 on 2026-03-24 desktop": 0, "2 on 2026-03-24 last": 0,
		"3 on 2026-03-24 all": 4, "3 on 2026-03-24 bots": 2, "3 on 2026-03-24 previews": 2, "3 on 2026-03-24 desktop": 0,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// While the database is unavailable, the aggregated visits are limited.
func TestAggregatedVisitsAreLimited(t *testing.T) {
	v := New()
	for i := range int64(maxAggregated + 100) {
		v.add(shortlinks.Visit{Link: i, Visitor: shortlinks.Visitor{Referrer: "https://b.example"}, At: noon})
	}
	if len(v.aggregated) != maxAggregated || v.Dropped() != 100 {
		t.Errorf("got %d days of links, %d dropped", len(v.aggregated), v.Dropped())
	}
	v.add(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{UserAgent: firefox}, At: noon})
	if v.Dropped() != 100 {
		t.Error("a visit of an aggregated link was dropped")
	}
	// Referrers beyond the limit are counted together.
	v.add(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: "https://a.example"}, At: noon})
	if l := v.day(1, noon.StartOfDay()); !slices.Equal(l.Referrers, []shortlinks.Referrer{{Host: "b.example", Visits: 1}, {Host: shortlinks.OtherHosts, Visits: 1}}) {
		t.Errorf("got referrers %v", l.Referrers)
	}
	batch := v.take(v.keys())
	v.add(shortlinks.Visit{Link: -1, Visitor: shortlinks.Visitor{}, At: noon})
	v.requeue(batch)
	if n := v.Dropped(); len(v.aggregated) != maxAggregated || n != 101 && n != 103 { // one link is dropped, with its 1 or 3 visits
		t.Errorf("got %d days of links, %d dropped", len(v.aggregated), v.Dropped())
	}

	v = New()
	for i := range 2 * shortlinks.MaxReferrers {
		v.add(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: fmt.Sprintf("https://host%d.example", i)}, At: noon})
	}
	if l := v.take(v.keys())[0]; len(l.Referrers) != shortlinks.MaxReferrers+1 || l.Referrers[shortlinks.MaxReferrers] != (shortlinks.Referrer{Host: shortlinks.OtherHosts, Visits: shortlinks.MaxReferrers}) {
		t.Errorf("got %d referrers, the last %v", len(l.Referrers), l.Referrers[len(l.Referrers)-1])
	}
}

// Visits that could not be stored are stored later, exactly once.
func TestVisitsAreStoredAfterDatabaseErrors(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		memory := cache.NewMemory(1000, clock.Now)
		defer memory.Close()
		v := New()
		s := shortlinks.NewStore(db, clock.Now, memory, v, shortlinks.Options{})
		var links []shortlinks.ShortLink
		for range writeBatch + 10 {
			l, _, err := s.Add(t.Context(), shortlinks.New{LongURL: "https://example.com"})
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l)
		}
		visitAll := func() {
			for _, l := range links {
				if _, err := s.Visit(t.Context(), l.Key, shortlinks.Visitor{Referrer: "https://a.example", UserAgent: firefox}); err != nil {
					t.Fatal(err)
				}
			}
			v.drain()
		}
		visitAll()
		away, cancel := context.WithCancel(t.Context())
		cancel()
		if v.Write(away, s) == nil {
			t.Fatal("got no error, but nothing was written")
		}
		visitAll()
		if n := v.Waiting(); n != int64(2*len(links)) {
			t.Errorf("got %d waiting", n)
		}

		// If the second transaction fails, the first is not written twice.
		failing := errors.New("the database is full")
		writes := 0
		refuse := func(tx *gorm.DB) {
			if !strings.HasPrefix(strings.TrimSpace(tx.Statement.SQL.String()), "UPDATE") { // the first statement of each transaction
				return
			}
			if writes++; writes > 1 {
				_ = tx.AddError(failing)
			}
		}
		register := func(tx *gorm.DB) error { return tx.Callback().Row().Before("gorm:row").Register("test:refuse", refuse) }
		if err := db.Write(t.Context(), register); err != nil {
			t.Fatal(err)
		}
		if err := v.Write(t.Context(), s); !errors.Is(err, failing) {
			t.Fatalf("got %v", err)
		}
		if v.Written() != 2*writeBatch || v.Waiting() != 20 {
			t.Errorf("got %d written, %d waiting", v.Written(), v.Waiting())
		}
		writes = -1000
		if err := v.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			l, err := s.Get(t.Context(), l.Key)
			if err != nil || l.Visits != 2 {
				t.Fatalf("%s: got %d visits, %v", l.Key, l.Visits, err)
			}
		}
		st, err := s.Stats(t.Context(), links[len(links)-1].Key, 1)
		if err != nil || st.Days[0].Desktop != 2 || len(st.Referrers) != 1 || st.Referrers[0] != (shortlinks.Referrer{Host: "a.example", Visits: 2}) {
			t.Errorf("got %+v, %v", st, err)
		}
	})
}

func TestConcurrentVisits(t *testing.T) {
	v := New()
	ctx, cancel := context.WithCancel(t.Context())
	var visitors, aggregator sync.WaitGroup
	aggregator.Go(func() { v.Aggregate(ctx) })
	const each = 2000
	for range 8 {
		visitors.Go(func() {
			for i := range int64(each) {
				v.Count(shortlinks.Visit{Link: i % 10, Visitor: shortlinks.Visitor{Referrer: "https://a.example", UserAgent: firefox}, At: noon})
			}
		})
	}
	var sum int64
	for range 100 {
		for _, l := range v.take(v.keys()) {
			sum += l.All()
		}
	}
	visitors.Wait()
	cancel()
	aggregator.Wait()
	for _, l := range v.take(v.keys()) {
		sum += l.All()
	}
	if sum+v.Dropped() != 8*each {
		t.Errorf("got %d visits and %d dropped, want %d", sum, v.Dropped(), 8*each)
	}
}

func BenchmarkAggregate(b *testing.B) {
	v := New()
	for b.Loop() {
		v.add(shortlinks.Visit{Link: 1, Visitor: shortlinks.Visitor{Referrer: "https://a.example", UserAgent: firefox}, At: noon})
	}
}
