package links_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// TestSearchOfManyBlocks compares searches, whose posting lists are loaded in stages, with the texts of links in six
// blocks of the index.
func TestSearchOfManyBlocks(t *testing.T) {
	each(t, func(f fixture) {
		const all = 21_000
		rnd := rand.New(rand.NewPCG(1, 2))
		ns := make([]links.New, all)
		for i := range ns {
			ns[i] = links.New{URL: fmt.Sprintf("https://h.test/%d", i), Title: fmt.Sprintf("word%d of all", rnd.IntN(500))}
		}
		ns[7].URL, ns[7].Title = "https://rare.test/zq", "first of all" // in the first block
		ns[9_000].Title = "first and ninth of all"
		_, err := f.Import(f.Context(), ns)
		f.must(err)
		for query, matches := range map[string]func(n links.New) bool{
			"url:rare":        func(n links.New) bool { return strings.Contains(n.URL, "rare") },
			"url:h.test":      func(n links.New) bool { return strings.Contains(n.URL, "h.test") },
			"zq":              func(n links.New) bool { return strings.Contains(n.URL, "zq") },
			"url:zq":          func(n links.New) bool { return strings.Contains(n.URL, "zq") },
			"first url:test":  func(n links.New) bool { return strings.Contains(n.Title, "first") },
			"first of":        func(n links.New) bool { return strings.Contains(n.Title, "first") && strings.Contains(n.Title, "of") },
			"word77 url:9 te": func(n links.New) bool { return strings.Contains(n.Title, "word77") && strings.Contains(n.URL, "9") },
			"te title:ninth":  func(n links.New) bool { return strings.Contains(n.Title, "ninth") },
			"rare.test/z":     func(n links.New) bool { return strings.Contains(n.URL, "rare") },
			"ninth of all":    func(n links.New) bool { return strings.Contains(n.Title, "ninth") },
			"d77 word77 test": func(n links.New) bool { return strings.Contains(n.Title, "word77") },
		} {
			want := 0
			for _, n := range ns {
				if matches(n) {
					want++
				}
			}
			for _, shown := range []links.Shown{links.ShowActive, links.ShowAll} {
				seen := map[string]bool{}
				for number := 1; number <= min(want, 100); number++ {
					found, err := f.List(f.Context(), links.Filter{Query: query, Shown: shown}, models.Page{Number: number, Size: 1})
					f.must(err)
					if found.Total != min(want, links.MaxCounted) || len(found.Items) != 1 {
						f.Fatalf("%q, %q, page %d: %d of %d, want %d", query, shown, number, len(found.Items), found.Total, want)
					}
					seen[found.Items[0].ID] = true
				}
				if len(seen) != min(want, 100) {
					f.Errorf("%q, %q: %d links on %d pages", query, shown, len(seen), min(want, 100))
				}
			}
		}
	})
}

// A word costs one bucket in each block that does not have its rarest group of characters. Of a phrase, groups of different
// words are read first.
func TestSearchReadsRareGroupsFirst(t *testing.T) {
	each(t, func(f fixture) {
		const blocks, blockSize = 10, 4096
		add := func(block int, title string) {
			if f.db.Engine == models.SQLite {
				modelstest.Exec(f.T, f.db, fmt.Sprintf("UPDATE sqlite_sequence SET seq = %d WHERE name = 'links'", block*blockSize))
			} else {
				modelstest.Exec(f.T, f.db, fmt.Sprintf("ALTER SEQUENCE links_seq_seq RESTART WITH %d", block*blockSize+1))
			}
			f.titled(fmt.Sprint("https://a.test/", block), title)
		}
		f.titled("https://a.test/", "The stars of planetariums") // before this, SQLite has no sequence
		for block := 1; block <= blocks; block++ {
			title := fmt.Sprint("The stars of planetariums ", block)
			if block == 4 {
				title = "Planetoids"
			}
			add(block, title)
		}
		const all = blocks + 1
		for query, want := range map[string]struct{ matches, buckets int }{ // with a bucket of marks in each block
			"planetoids":   {1, all + 3*4 + (all - 3) + 3}, // pla, net, oid and ids in three blocks; then oid, and the others in one block
			"planetary":    {0, all + 3*3 + (all - 3)},
			"planetariums": {all - 1, all + all*4 - 1},
			// Five buckets in three blocks; then a group of each word and another one, which do not occur at their offsets.
			`"planetariums stars"`: {0, all + 3*5 + (all-3)*3},
		} {
			var found links.Found
			buckets := 0
			for _, s := range modelstest.Sent(f.T, f.db, func() (err error) {
				found, err = f.List(f.Context(), links.Filter{Query: query}, models.Page{Number: 1, Size: 50})
				return err
			}) {
				if strings.Contains(s.SQL, "JOIN link_postings") {
					buckets += rowsOf(s)
				}
			}
			if found.Total != want.matches || buckets != want.buckets {
				f.Errorf("%q: %d matches, %d buckets read; want %+v", query, found.Total, buckets, want)
			}
		}
	})
}

// rowsOf returns the number of rows in the first argument of a statement, which has one column.
func rowsOf(s modelstest.Statement) int {
	if list, ok := s.Vars[0].(string); ok { // PostgreSQL
		return strings.Count(list, ",") + 1
	}
	return reflect.ValueOf(s.Vars[0]).FieldByName("Value").Interface().(*models.Rows).Len()
}
