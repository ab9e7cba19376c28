package shortlinks

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
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"

var noon = models.At(time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC))

func TestFullQueueDropsVisits(t *testing.T) {
	v := newVisits()
	for range maxQueued + 10 { // nobody gathers
		v.add(visit{link: 1, who: Visitor{}, at: noon})
	}
	if v.Dropped() != 10 || v.Waiting() != maxQueued {
		t.Errorf("%d dropped, %d waiting", v.Dropped(), v.Waiting())
	}
	v.gatherAll()
	if b := v.take(maxGathered); len(b) != 1 || b[0].Other != maxQueued {
		t.Errorf("%d days of links", len(b))
	}
	if v.Waiting() != 0 {
		t.Errorf("%d waiting", v.Waiting())
	}
}

func TestGathering(t *testing.T) {
	v := newVisits()
	v.add(visit{link: 1, who: Visitor{"https://www.a.example/x", firefox}, at: noon.Add(time.Minute)})
	v.add(visit{link: 1, who: Visitor{"https://a.example/y", "curl/8"}, at: noon})
	v.add(visit{link: 1, who: Visitor{"https://b.example", "Twitterbot/1.0"}, at: noon})
	v.add(visit{link: 1, who: Visitor{}, at: noon.Add(12 * time.Hour)})
	v.add(visit{link: 2, who: Visitor{}, at: noon})
	v.gatherAll()
	got := map[string]int64{}
	for _, l := range v.take(maxGathered) {
		name := fmt.Sprintf("%d on %s", l.Link, l.Day.Format(time.DateOnly))
		got[name+" all"], got[name+" bots"], got[name+" desktop"] = l.sum(), l.Bots, l.Desktop
		got[name+" last"] = int64(l.Last.Sub(noon.Time) / time.Minute)
		for _, s := range l.Referrers {
			got[name+" from "+s.Host] = s.N
		}
	}
	want := map[string]int64{
		"1 on 2026-03-24 all": 3, "1 on 2026-03-24 bots": 1, "1 on 2026-03-24 desktop": 1, "1 on 2026-03-24 last": 1,
		"1 on 2026-03-24 from a.example": 2,
		"1 on 2026-03-25 all":            1, "1 on 2026-03-25 bots": 0, "1 on 2026-03-25 desktop": 0, "1 on 2026-03-25 last": 720,
		"2 on 2026-03-24 all": 1, "2 on 2026-03-24 bots": 0, "2 on 2026-03-24 desktop": 0, "2 on 2026-03-24 last": 0,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// While the database takes nothing, what is gathered stays within bounds.
func TestGatheredIsBounded(t *testing.T) {
	v := newVisits()
	for i := range int64(maxGathered + 100) {
		v.gather(visit{link: i, who: Visitor{Referrer: "https://b.example"}, at: noon})
	}
	if len(v.gathered) != maxGathered || v.Dropped() != 100 {
		t.Errorf("%d days of links, %d dropped", len(v.gathered), v.Dropped())
	}
	v.gather(visit{link: 1, who: Visitor{UserAgent: firefox}, at: noon})
	if v.Dropped() != 100 {
		t.Error("a link that has its place is refused")
	}
	// With no room for referrers of their own, they are counted together.
	v.gather(visit{link: 1, who: Visitor{Referrer: "https://a.example"}, at: noon})
	if l := v.of(1, models.At(noon.Truncate(day))); !slices.Equal(l.Referrers, []sent{{"b.example", 1}, {OtherHosts, 1}}) {
		t.Errorf("%v", l.Referrers)
	}
	batch := v.take(maxGathered)
	v.gather(visit{link: -1, who: Visitor{}, at: noon})
	v.giveBack(batch)
	if n := v.Dropped(); len(v.gathered) != maxGathered || n != 101 && n != 103 { // one link is dropped, with its 1 visit or its 3
		t.Errorf("%d days of links, %d dropped", len(v.gathered), v.Dropped())
	}

	v = newVisits()
	for i := range 2 * MaxReferrers {
		v.gather(visit{link: 1, who: Visitor{Referrer: fmt.Sprintf("https://host%d.example", i)}, at: noon})
	}
	if l := v.take(maxGathered)[0]; len(l.Referrers) != MaxReferrers+1 || l.Referrers[MaxReferrers] != (sent{OtherHosts, MaxReferrers}) {
		t.Errorf("%d referrers, the last %v", len(l.Referrers), l.Referrers[len(l.Referrers)-1])
	}
}

// What the database does not take is written down later, once.
func TestVisitsOutliveABadDatabase(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		cache := NewMemory(1000, clock.Now)
		defer cache.Close()
		s := NewStore(db, clock.Now, cache, Options{})
		var links []ShortLink
		for range writtenAtOnce + 10 {
			l, _, err := s.Create(t.Context(), New{LongURL: "https://example.com"})
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l)
		}
		visitAll := func() {
			for _, l := range links {
				if _, err := s.Visit(t.Context(), l.Key, Visitor{Referrer: "https://a.example", UserAgent: firefox}); err != nil {
					t.Fatal(err)
				}
			}
			s.visits.gatherAll()
		}
		visitAll()
		away, cancel := context.WithCancel(t.Context())
		cancel()
		if s.WriteVisits(away) == nil {
			t.Fatal("nothing was written, and it says so of no error")
		}
		visitAll()
		if n := s.visits.Waiting(); n != int64(2*len(links)) {
			t.Errorf("%d are waiting", n)
		}

		// The second transaction fails: the first is not written twice.
		failing := errors.New("the database is full")
		writes := 0
		refuse := func(tx *gorm.DB) {
			if !strings.HasPrefix(strings.TrimSpace(tx.Statement.SQL.String()), "UPDATE") { // with which each begins
				return
			}
			if writes++; writes > 1 {
				_ = tx.AddError(failing)
			}
		}
		register := func(tx *gorm.DB) error { return tx.Callback().Raw().Before("gorm:raw").Register("test:refuse", refuse) }
		if err := db.Write(t.Context(), register); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteVisits(t.Context()); !errors.Is(err, failing) {
			t.Fatalf("got %v", err)
		}
		if s.visits.Written() != 2*writtenAtOnce || s.visits.Waiting() != 20 {
			t.Errorf("%d written, %d waiting", s.visits.Written(), s.visits.Waiting())
		}
		writes = -1000
		if err := s.WriteVisits(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			l, err := s.Get(t.Context(), l.Key)
			if err != nil || l.Visits != 2 {
				t.Fatalf("%s has %d visits, %v", l.Key, l.Visits, err)
			}
		}
		st, err := s.Stats(t.Context(), links[len(links)-1].Key, 1)
		if err != nil || st.Days[0].Desktop != 2 || len(st.Referrers) != 1 || st.Referrers[0] != (Referrer{"a.example", 2}) {
			t.Errorf("%+v %v", st, err)
		}
	})
}

func TestVisitsTogether(t *testing.T) {
	v := newVisits()
	ctx, cancel := context.WithCancel(t.Context())
	var visitors, gatherer sync.WaitGroup
	gatherer.Go(func() { v.Gather(ctx) })
	const each = 2000
	for range 8 {
		visitors.Go(func() {
			for i := range int64(each) {
				v.add(visit{link: i % 10, who: Visitor{Referrer: "https://a.example", UserAgent: firefox}, at: noon})
			}
		})
	}
	var sum int64
	for range 100 {
		for _, l := range v.take(maxGathered) {
			sum += l.sum()
		}
	}
	visitors.Wait()
	cancel()
	gatherer.Wait()
	for _, l := range v.take(maxGathered) {
		sum += l.sum()
	}
	if sum+v.Dropped() != 8*each {
		t.Errorf("%d visits and %d dropped, want %d", sum, v.Dropped(), 8*each)
	}
}

func BenchmarkGather(b *testing.B) {
	v := newVisits()
	for b.Loop() {
		v.gather(visit{link: 1, who: Visitor{Referrer: "https://a.example", UserAgent: firefox}, at: noon})
	}
}
