package fulltext

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

func words(s string) (out []string) {
	Words(s, func(w Word) bool {
		out = append(out, w.Text)
		return true
	})
	return out
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"The quick, brown FOX!", "the quick brown fox"},
		{"Café l'été naïve", "cafe l ete naive"},
		{"a1-b2_c3", "a1 b2 c3"},
		{"東京都 is Tokyo", "東 京 都 is tokyo"},
		{"京⺬〆都", "京 〆 都"},
		{"ﬁne Ｆｕｌｌ straße", "fine full strasse"},
		{"'; DROP \" * \\ :", "drop"},
		{"مَدْرَسَةٌ كـــبيرة", "مدرسة كبيرة"},
		{"שָׁלוֹם עוֹלָם", "שלום עולם"},
		{"❤\ufe0fheart ❤\ufe0f I\ufe0f \u064b\u0640 \u3164", "heart i"},
		{"葛\U000e0100飾\U000e0101\U000e0102区", "葛 飾 区"},
		{"\uE001title \x00x", "title x"},
		{"", ""},
		{strings.Repeat("a", 100), strings.Repeat("a", maxWord)},
	} {
		if got := strings.Join(words(c.text), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"The quick fox", "Café 東京", "⺬", "\xff\uE001a", "ﷺ", "❤\ufe0fa 葛\U000e0100飾 مَدْرَسَة ـ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		Words(s, func(w Word) bool {
			if w.Text == "" || w.Start < end || w.End > len(s) || w.End <= w.Start || !utf8.ValidString(w.Text) || strings.ContainsAny(w.Text, " '\"\\*\uE001") {
				t.Fatalf("%q has the word %q at %d to %d after %d", s, w.Text, w.Start, w.End, end)
			}
			end = w.End
			return true
		})
		if q, err := Parse("q", s); err == nil {
			for _, p := range q.Snippet(s) {
				if p.Text == "" || utf8.ValidString(s) && !utf8.ValidString(p.Text) {
					t.Fatalf("the snippet of %q has %q", s, p.Text)
				}
			}
			whole := ""
			for _, p := range q.Mark(s) {
				whole += p.Text
			}
			if whole != strings.ReplaceAll(s, "\n", " ") {
				t.Fatalf("%q is marked as %q", s, whole)
			}
			q.Score(s, s, s)
		}
	})
}

// A match is marked with the characters that it was found without.
func TestIgnoredCharactersAreMarked(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"مدرسة", "هذه مَدْرَسَةٌ كبيرة", "هذه [مَدْرَسَةٌ] كبيرة"},
		{"مَدرَسة", "هذه مدرسة", "هذه [مدرسة]"},
		{"שלום", "אמר שָׁלוֹם לך", "אמר [שָׁלוֹם] לך"},
		{`"葛飾"`, "東京葛\U000e0100飾\U000e0100区", "東京[葛\U000e0100飾\U000e0100]区"},
		{"heart", "❤\ufe0fheart", "❤\ufe0f[heart]"},
		{"\"heart \ufe0fbeat\"", "heart ❤\ufe0f beat", "[heart ❤\ufe0f beat]"},
		{"مدرس*", "مُدَرِّسٌ", "[مُدَرِّسٌ]"},
	} {
		q, err := Parse("q", c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		for name, pieces := range map[string][]Piece{"mark": q.Mark(c.text), "snippet": q.Snippet(c.text)} {
			got := ""
			for _, p := range pieces {
				if p.Match {
					p.Text = "[" + p.Text + "]"
				}
				got += p.Text
			}
			if got != c.want {
				t.Errorf("%s of %s: %q, want %q", name, c.query, got, c.want)
			}
		}
	}
}

func TestParse(t *testing.T) {
	q, err := Parse("q", `go "web crawler" -java index* x* l'été`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Term{{Words: []string{"go"}}, {Words: []string{"web", "crawler"}}, {Words: []string{"index"}, Prefix: true}, {Words: []string{"x"}}, {Words: []string{"l", "ete"}}}
	same := func(a, b Term) bool { return slices.Equal(a.Words, b.Words) && a.Prefix == b.Prefix }
	if !slices.EqualFunc(q.All, want, same) || len(q.Not) != 1 || q.Not[0].Words[0] != "java" {
		t.Errorf("got %+v", q)
	}
	for _, bad := range []string{"", "  ", "-", "-only", `"open`, "!?", strings.Repeat("a ", 300), strings.Repeat("w ", 17), "\xff"} {
		if _, err := Parse("q", bad); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestDateMarks(t *testing.T) {
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct{ since, till, want string }{
		{"2026-02-27", "2026-04-01", "d20260227 d20260228 m202603 d20260401"},
		{"2024-01-01", "2025-12-31", "y2024 y2025"},
		{"2025-12-31", "2026-01-01", "d20251231 d20260101"},
		{"2026-02-02", "2026-02-01", "none"},
	} {
		got := strings.ReplaceAll(strings.Join(dateMarks(day(c.since), day(c.till)), " "), markFilter, "")
		if got != c.want {
			t.Errorf("%s to %s: got %s, want %s", c.since, c.till, got, c.want)
		}
	}
	if n := len(dateMarks(day("2000-02-02"), time.Time{})); n > 150 {
		t.Errorf("search without an end: got %d marks", n)
	}
}

// TestFind checks that both engines find the same pages in the same order.
func TestFind(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		ix := New(db.Engine)
		at := func(s string) models.Time {
			d, _ := time.Parse(time.DateOnly, s)
			return models.At(d)
		}
		docs := []Doc{
			{Seq: 1, Title: "Crawling the web", Text: "A crawler reads pages. It's polite's own 'quote' \\ end.", Source: 1, Language: "en", Date: at("2026-01-05"), URL: "http://a.example/crawl"},
			{Seq: 2, Title: "Other", Headings: "On crawling", Text: "Nothing here", Source: 1, Language: "en", Date: at("2026-02-05"), URL: "http://a.example/2"},
			{Seq: 3, Title: "Third", Text: "crawling is at the end of this text, and pages too", Source: 2, Language: "de", Date: at("2026-02-06"), URL: "http://b.example/3"},
			{Seq: 4, Title: "東京都の天気", Text: "今日は晴れです。", Source: 2, Language: "ja", URL: "http://b.example/4"},
			{Seq: 5, Title: "Café", Text: "straße", Source: 2, URL: "http://b.example/5"},
			{Seq: 6, Title: "مَدْرَسَة", Text: "שָׁלוֹם עוֹלָם 葛\U000e0100飾 ❤\ufe0fheart", Source: 2, URL: "http://b.example/6"},
		}
		write := func(f func(tx *gorm.DB) error) {
			t.Helper()
			if err := db.Write(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		var entries []Entry
		for _, d := range docs {
			entries = append(entries, ix.Entry(d))
		}
		write(func(tx *gorm.DB) error { return ix.Put(tx, entries) })
		write(func(tx *gorm.DB) error { return ix.Put(tx, entries) }) // replaces them
		find := func(s string, f Filter) []int64 {
			t.Helper()
			q, err := Parse("q", s)
			if err != nil {
				t.Fatal(err)
			}
			seqs, _, err := Find(db.Read(t.Context()), ix, q, f, 10)
			if err != nil {
				t.Fatal(err)
			}
			return seqs
		}
		for _, c := range []struct {
			q    string
			f    Filter
			want []int64
		}{
			{"crawling", Filter{}, []int64{1, 2, 3}},
			{"CRAWL*", Filter{}, []int64{1, 2, 3}},
			{"crawl", Filter{}, []int64{1}}, // its URL
			{"crawling pages", Filter{}, []int64{3, 1}},
			{`"end of this"`, Filter{}, []int64{3}},
			{`"of end"`, Filter{}, nil},
			{`"web a crawler"`, Filter{}, nil}, // title and text are separate
			{"crawling -nothing", Filter{}, []int64{1, 3}},
			{"crawling", Filter{Source: 1}, []int64{1, 2}},
			{"crawling", Filter{Language: "de"}, []int64{3}},
			{"crawling", Filter{Since: at("2026-02-01").Time, Till: at("2026-02-05").Time}, []int64{2}},
			{"crawling", Filter{Since: at("2026-02-01").Time}, []int64{2, 3}},
			{"京都", Filter{}, []int64{4}},
			{"都京", Filter{}, nil},
			{"cafe STRASSE", Filter{}, []int64{5}},
			{"مدرسة", Filter{}, []int64{6}},
			{`"שלום עולם"`, Filter{}, []int64{6}},
			{"שָׁלוֹ* مُدرَسة", Filter{}, []int64{6}},
			{"葛飾", Filter{}, []int64{6}},
			{"葛\U000e0101飾", Filter{}, []int64{6}},
			{"❤heart", Filter{}, []int64{6}},
			{"absent", Filter{}, nil},
		} {
			got := find(c.q, c.f)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s %+v: got %v, want %v", c.q, c.f, got, c.want)
			}
		}
		write(func(tx *gorm.DB) error { return ix.Remove(tx, []int64{1, 99}) })
		if got := find("crawling", Filter{}); !slices.Equal(got, []int64{2, 3}) {
			t.Errorf("after a removal: got %v", got)
		}
	})
}

// TestPlanOfPostgres checks that PostgreSQL uses the index of words, even where it would prefer to read pages from the
// newest.
func TestPlanOfPostgres(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // SQLite has no alternative
		}
		q, err := Parse("q", "word")
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		err = db.Write(t.Context(), func(tx *gorm.DB) error {
			for _, sql := range []string{"INSERT INTO page_index (page_seq, words) SELECT seq, 'word' FROM generate_series(1, 5000) AS seq", "ANALYZE page_index"} {
				if err := tx.Exec(sql).Error; err != nil {
					return err
				}
			}
			if _, err := (postgres{}).match(tx, expr{Query: q}, 10); err != nil {
				return err
			}
			return tx.Raw("EXPLAIN "+matches, expr{Query: q}.tsquery(), 10).Scan(&plan).Error // its settings end with tx
		})
		if err != nil || !strings.Contains(strings.Join(plan, "\n"), "page_index_words") {
			t.Errorf("got error %v, plan %q", err, plan)
		}
	})
}

// TestBlocks checks that PostgreSQL finds frequent, rare and old words in order, in whatever blocks they are.
func TestBlocks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // SQLite has no blocks
		}
		const pages = 30 << blockBits
		modelstest.Exec(t, db, `INSERT INTO page_index (page_seq, words) SELECT i, to_tsvector('simple', 'often ' || CASE WHEN i % 1000 = 0 THEN 'rare' ELSE '' END || CASE WHEN i < 10 THEN ' old' ELSE '' END)
			|| array_to_tsvector(ARRAY[? || (i >> ?)]) FROM generate_series(1, ?) AS i`, markOfABlock, blockBits, pages)
		find := func(word string, limit int) []int64 {
			t.Helper()
			q, err := Parse("q", word)
			if err != nil {
				t.Fatal(err)
			}
			stop := modelstest.Statements(t, db)
			found, err := (postgres{}).match(db.Read(t.Context()), expr{Query: q}, limit)
			if err != nil || !slices.IsSortedFunc(found, func(a, b int64) int { return int(b - a) }) {
				t.Errorf("%s: got %v, error %v", word, found, err)
			}
			if n := len(stop()); n > maxBlocks+5 {
				t.Errorf("%s: %d statements", word, n)
			}
			return found
		}
		for _, c := range []struct {
			word         string
			limit, found int
			newest       int64
		}{
			{"often", 20, 20, pages},
			{"often", 6000, 6000, pages},
			{"rare", 30, 30, pages / 1000 * 1000},
			{"rare", 500, pages / 1000, pages / 1000 * 1000},
			{"old", 20, 9, 9},
			{"never", 20, 0, 0},
		} {
			if found := find(c.word, c.limit); len(found) != c.found || c.found > 0 && found[0] != c.newest {
				t.Errorf("%s: got %d pages, want %d from %d", c.word, len(found), c.found, c.newest)
			}
		}
	})
}

// TestPlanOfRestrictedSearch checks the search of an account that cannot see all sources. It must use the index of words
// too, and look up pages in order until it has enough.
func TestPlanOfRestrictedSearch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // SQLite has no alternative
		}
		q, err := Parse("q", "word")
		if err != nil {
			t.Fatal(err)
		}
		alice := models.WithActor(t.Context(), models.Actor{Name: "alice", Via: "session"})
		var plan []string
		err = db.Write(alice, func(tx *gorm.DB) error {
			for _, sql := range []string{
				"INSERT INTO page_index (page_seq, words) SELECT seq, 'word' FROM generate_series(1, 5000) AS seq", "ANALYZE page_index", "ANALYZE crawled_pages", "ANALYZE sources",
			} {
				if err := tx.Exec(sql).Error; err != nil {
					return err
				}
			}
			found, err := (postgres{}).match(tx, expr{Query: q}, 10)
			if err != nil || len(found) > 0 { // these pages have no source
				t.Errorf("got %v, %v", found, err)
			}
			visible, args := models.Visible(tx, "s")
			return tx.Raw("EXPLAIN "+visibleMatches(visible), append(append([]any{expr{Query: q}.tsquery()}, args...), 10)...).Scan(&plan).Error
		})
		text := strings.Join(plan, "\n")
		if err != nil || !strings.Contains(text, "page_index_words") || !strings.Contains(text, "Subquery Scan on found") || !strings.Contains(text, "SubPlan") {
			t.Errorf("got error %v, plan %s", err, text)
		}
	})
}

func TestSnippet(t *testing.T) {
	text := strings.Repeat("Filler of no interest. ", 40) + "Here the quick brown\nfox jumps. " + strings.Repeat("More filler. ", 40)
	q, err := Parse("q", `fox "quick brown"`)
	if err != nil {
		t.Fatal(err)
	}
	var all, matches strings.Builder
	for _, p := range q.Snippet(text) {
		all.WriteString(p.Text)
		if p.Match {
			matches.WriteString("[" + p.Text + "]")
		}
	}
	if matches.String() != "[quick brown][fox]" || !strings.HasPrefix(all.String(), "… ") || !strings.HasSuffix(all.String(), " …") ||
		!strings.Contains(all.String(), "Here the quick brown fox jumps.") || len(all.String()) > snippetBytes+20 {
		t.Errorf("got matches %s in %q", matches.String(), all.String())
	}
	if p := q.Mark("A fox\nand a Fox"); len(p) != 4 || p[0].Text != "A " || !p[1].Match || p[2].Text != " and a " || p[3].Text != "Fox" || !p[3].Match {
		t.Errorf("title: got %+v", p)
	}
	if p := q.Snippet("short"); len(p) != 1 || p[0].Text != "short" {
		t.Errorf("got %+v", p)
	}
}

// TestScore checks that a page about the words ranks before a long page that mentions them.
func TestScore(t *testing.T) {
	q, err := Parse("q", "solar panels")
	if err != nil {
		t.Fatal(err)
	}
	about := q.Score("Solar panels", "", "Solar panels turn light into power. Solar cells make up panels.")
	title := q.Score("All about solar panels, wind and water in one long title", "", "solar panels")
	mention := q.Score("Home", "", "solar panels "+strings.Repeat("and other things ", 400))
	if about <= title || title <= mention {
		t.Errorf("got scores %v, %v, %v", about, title, mention)
	}
}
