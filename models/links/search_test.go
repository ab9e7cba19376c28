package links_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func TestSearch(t *testing.T) {
	each(t, func(t fixture) {
		for _, l := range []struct{ url, title, tags string }{
			{"https://go.dev/doc", "The Go Programming Language", "Go,docs"},
			{"https://golang.example/devops", "Deploying with containers", "DevOps"},
			{"https://blog.example/both", "Release notes", "go,devops"},
			{"https://lang.example/csharp", "C# in depth", "c#"},
			{"https://words.example/dont", "Why I don't use 100% of_it", ""},
			{"https://zh.example/a", "学习编程语言的最佳方法", "中文"},
			{"https://ru.example/b", "Пример страницы Ёлка", "рус"},
			{"https://fr.example/c", "Café Crème", "été"},
			{"https://ar.example/d", "مثال على صفحة", ""},
			{"https://x.example/e?q=quantum", "Nothing here", ""},
		} {
			var tags []string
			if l.tags != "" {
				tags = strings.Split(l.tags, ",")
			}
			t.titled(l.url, l.title, tags...)
		}
		old := t.titled("https://old.example/gone", "Expired golang page", "go")
		_, err := t.SetExpired(t.Context(), true, old.ID)
		t.must(err)

		const (
			doc, ops, both, cs, dont = "https://go.dev/doc", "https://golang.example/devops", "https://blog.example/both", "https://lang.example/csharp", "https://words.example/dont"
			zh, ru, fr, ar, quantum  = "https://zh.example/a", "https://ru.example/b", "https://fr.example/c", "https://ar.example/d", "https://x.example/e?q=quantum"
		)
		for _, c := range []struct {
			q    string
			want []string
		}{
			{"PROGRAMMING", []string{doc}},
			{"rogramm", []string{doc}},
			{"go", []string{doc, ops, both}}, // title, then URL, then tag
			{"tag:go", []string{both, doc}},
			{"TAG:GO", []string{both, doc}},
			{"tag:go,devops", []string{both}},
			{"tag:go devops", []string{both, ops, doc}},
			{"tag:go, devops", []string{both, ops, doc}},
			{"tag:go tag:devops", []string{both}},
			{"tag:evop", []string{both, ops}}, // no tag with this name, so tags that contain it
			{"tag:c#", []string{cs}},
			{"title:go", []string{doc}},
			{"url:golang", []string{ops}},
			{"url:https://go.dev", []string{doc}},
			{"https://go.dev/doc", []string{doc}},
			{"title:release notes tag:go", []string{both}},
			{"title:notes release", []string{both}},
			{"language programming", []string{doc}},
			{`"programming language"`, []string{doc}},
			{`"language programming"`, nil},
			{`title:"the go"`, []string{doc}},
			{"c#", []string{cs}},
			{"C#", []string{cs}},
			{"don't", []string{dont}},
			{"%", []string{dont}},
			{"100%", []string{dont}},
			{"of_it", []string{dont}},
			{"of%it", nil},
			{"_", []string{dont}},
			{"语", []string{zh}},
			{"编程", []string{zh}},
			{"编程语言的", []string{zh}},
			{"пример", []string{ru}},
			{"елка", []string{ru}},
			{"рус", []string{ru}},
			{"cafe creme", []string{fr}},
			{"CAFÉ", []string{fr}},
			{"ca", []string{fr}},
			{"tag:été", []string{fr}},
			{"صفحة", []string{ar}},
			{"q=quantum", []string{quantum}},
			{"?", []string{quantum}},
			{"e?q=q", []string{quantum}},
			{"(", nil},
			{"*", nil},
			{`\`, nil},
			{"NOT", []string{quantum, both}}, // "Nothing", "notes": no operators
			{"golang OR", nil},
			{"exmaple nothing", nil},
		} {
			got := t.urls(links.Filter{Query: c.q})
			if c.want == nil {
				c.want = []string{}
			}
			if c.q == "exmaple nothing" { // one misspelled word and one with matches
				if !slices.Equal(got, []string{quantum}) {
					t.Errorf("%q found %q", c.q, got)
				}
				continue
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q found %q, want %q", c.q, got, c.want)
			}
		}

		for _, q := range []string{"\x00", "\u202e", `""`} {
			_, err := t.List(t.Context(), links.Filter{Query: q}, firstPage)
			t.wantCode(err, models.CodeInvalid)
		}
		if got := t.urls(links.Filter{Query: "  "}); len(got) != 10 {
			t.Errorf("only spaces: %q", got)
		}
		if got := t.urls(links.Filter{Query: "golang", Shown: links.ShowExpired}); !slices.Equal(got, []string{old.URL}) {
			t.Errorf("expired only: %q", got)
		}
		if got := t.urls(links.Filter{Query: "golang", Shown: links.ShowAll}); !slices.Equal(got, []string{old.URL, ops}) {
			t.Errorf("all: %q", got)
		}
		if got := t.urls(links.Filter{Tag: "GO", Shown: links.ShowAll}); !slices.Equal(got, []string{old.URL, both, doc}) {
			t.Errorf("by tag: %q", got)
		}
		if got := t.urls(links.Filter{Tag: "go", Health: links.OK, Query: "release"}); !slices.Equal(got, []string{both}) {
			t.Errorf("tag, health and words: %q", got)
		}
	})
}

func TestSearchRanksTitlesThenURLsThenTags(t *testing.T) {
	for _, n := range []int{40, 240} { // ranked by rank, and by the index
		t.Run(fmt.Sprint(n), func(t *testing.T) { each(t, func(t fixture) { searchRanks(t, n) }) })
	}
}

func searchRanks(t fixture, n int) {
	var want [3][]string
	for i := range n { // several pages; each tier spans a page border
		url, title, tags := fmt.Sprintf("https://site%d.example/", i), "Plain", []string(nil)
		tier := i % 3
		switch tier {
		case 0:
			title = "About walruses"
		case 1:
			url += "walruses"
		case 2:
			tags = []string{"walruses"}
		}
		t.titled(url, title, tags...)
		want[tier] = append([]string{url}, want[tier]...)
	}
	all := slices.Concat(want[0], want[1], want[2])
	for _, size := range []int{7, 13, 14, 40, 80} {
		var got []string
		for n := 1; ; n++ {
			found, err := t.List(t.Context(), links.Filter{Query: "walrus"}, models.Page{Number: n, Size: size})
			t.must(err)
			if found.Total != len(all) {
				t.Fatalf("total %d, want %d", found.Total, len(all))
			}
			if len(found.Items) == 0 {
				break
			}
			for _, l := range found.Items {
				got = append(got, l.URL)
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("pages of %d: %q, want %q", size, got, all)
		}
	}
}

// A search counts up to 10,000 matches exactly, and reports that there are more. All pages have results.
func TestSearchCountsUpToALimit(t *testing.T) {
	each(t, func(t fixture) {
		const byTag = 25 // lowest rank
		var ns []links.New
		for i := range links.MaxCounted {
			n := links.New{URL: fmt.Sprintf("https://h%d.test/walrus", i)}
			if i < byTag {
				n = links.New{URL: fmt.Sprintf("https://h%d.test/", i), Tags: []string{"walrus"}}
			}
			ns = append(ns, n)
		}
		_, err := t.Import(t.Context(), ns)
		t.must(err)
		search := func(query string, page int) links.Found {
			var found links.Found
			for _, s := range modelstest.Sent(t.T, t.db, func() error {
				var err error
				found, err = t.List(t.Context(), links.Filter{Query: query}, models.Page{Number: page, Size: 30})
				return err
			}) {
				if strings.Contains(s.SQL, "count(*)") && !strings.Contains(s.SQL, "LIMIT") {
					t.Errorf("counts without a limit: %s", s.SQL)
				}
			}
			return found
		}
		for _, c := range []struct {
			add, total int
			atLeast    bool
		}{{0, 10_000, false}, {1, 10_000, true}, {34, 10_000, true}} {
			if c.add > 0 {
				_, err := t.Import(t.Context(), newer(c.add))
				t.must(err)
			}
			for _, page := range []int{1, 334, 400} {
				if got := search("walrus", page); got.Total != c.total || got.TotalIsLowerBound != c.atLeast {
					t.Errorf("with %d more links, page %d: total %d, lower bound %v", c.add, page, got.Total, got.TotalIsLowerBound)
				}
			}
		}
		for page, want := range map[int]int{334: 30, 335: 14, 336: 0} { // 10,034 in all
			got := search("walrus", page)
			if len(got.Items) != want {
				t.Errorf("page %d: %d links, want %d", page, len(got.Items), want)
			}
			for _, l := range got.Items {
				if page == 335 && !slices.Equal(l.Tags, []string{"walrus"}) {
					t.Errorf("page %d: %s is in the wrong order", page, l.URL)
				}
			}
		}
		// Lists without a query count all links.
		all, err := t.List(t.Context(), links.Filter{Tag: "new"}, models.Page{Number: 1, Size: 30})
		t.must(err)
		if all.Total != 34 || all.TotalIsLowerBound {
			t.Errorf("by tag: %d, lower bound %v", all.Total, all.TotalIsLowerBound)
		}
	})
}

func newer(n int) (ns []links.New) {
	for i := range n {
		ns = append(ns, links.New{URL: fmt.Sprintf("https://newer%d.test/walrus", i), Tags: []string{"new"}})
	}
	return ns
}

func TestSearchNearMisses(t *testing.T) {
	each(t, func(t fixture) {
		t.titled("https://one.test/", "Example Domain", "kubernetes")
		t.titled("https://two.test/", "Другой пример")
		t.titled("https://three.test/", "Manual", "go")
		t.titled("https://four.test/", "Manual", "golang")
		for q, want := range map[string]string{
			"exmaple":         "https://one.test/",
			"exampel domian":  "https://one.test/",
			"title:exmple":    "https://one.test/",
			"tag:kubernets":   "https://one.test/",
			"tag:kuberntes,x": "",
			"manaul tag:go":   "https://three.test/", // an existing tag stays exact
			"приммер":         "https://two.test/",
			"zzzzzz":          "",
			"ex":              "https://one.test/",
			"xq":              "",
		} {
			found, err := t.List(t.Context(), links.Filter{Query: q}, firstPage)
			t.must(err)
			got := ""
			if len(found.Items) == 1 {
				got = found.Items[0].URL
			}
			if got != want || found.Total != len(found.Items) {
				t.Errorf("%q found %q of %d, want %q", q, got, found.Total, want)
			}
			if near := len(found.Near) > 0; near != (want != "" && q != "ex") {
				t.Errorf("%q: near misses %v", q, found.Near)
			}
		}
		found, err := t.List(t.Context(), links.Filter{Query: "exmaple"}, firstPage)
		t.must(err)
		if !slices.Equal(found.Near["exmaple"], []string{"example"}) {
			t.Errorf("near misses %v", found.Near)
		}
	})
}

// The near misses of a tag are words of tags. Other words are not looked up.
func TestNearMissesOfTags(t *testing.T) {
	each(t, func(t fixture) {
		t.titled("https://one.test/", "Animal", "Striped Zebra")
		for c := 'a'; c < 'r'; c++ {
			t.titled(fmt.Sprintf("https://%c.test/", c), fmt.Sprintf("zeb%cx", c)) // as near to zebrx, and before it
		}
		lists := 0
		for _, s := range modelstest.Sent(t.T, t.db, func() error {
			found, err := t.List(t.Context(), links.Filter{Query: "tag:zebrx"}, firstPage)
			if !slices.Equal(found.Near["zebrx"], []string{"zebra"}) || len(found.Items) != 1 {
				t.Errorf("near misses %v, %d links", found.Near, len(found.Items))
			}
			return err
		}) {
			if strings.Contains(s.SQL, "JOIN link_postings") {
				lists++
			}
		}
		if lists != 3 {
			t.Errorf("the lists were read %d times, want 3: for the tag, for its near miss, and for the links of that", lists)
		}
	})
}

// Words of deleted and hidden links are not used, do not replace other near misses, and are deleted by the reaper.
func TestNearMissesOfLiveLinksOnly(t *testing.T) {
	each(t, func(t fixture) {
		live := t.titled("https://a.test/", "kubernetes")
		gone, hidden := t.titled("https://b.test/", "kubernetez"), t.titled("https://c.test/", "kubernetee")
		_, err := t.Delete(t.Context(), gone.ID)
		t.must(err)
		_, err = t.SetExpired(t.Context(), true, hidden.ID)
		t.must(err)
		for _, q := range []string{"kubernetexz", "kubernetez"} {
			if got := t.urls(links.Filter{Query: q}); !slices.Equal(got, []string{live.URL}) {
				t.Errorf("%s: found %q", q, got)
			}
		}
		t.reap(t.ReapWords, 100)
		var words []string
		t.must(t.db.Read(t.Context()).Raw("SELECT word FROM link_words WHERE word LIKE 'kube%' ORDER BY word").Scan(&words).Error)
		if !slices.Equal(words, []string{"kubernetee", "kubernetes"}) {
			t.Errorf("link_words: %q", words)
		}
		again := t.titled("https://d.test/", "kubernetez") // stores the word again
		if got := t.urls(links.Filter{Query: "kubernetezz"}); !slices.Equal(got, []string{again.URL}) {
			t.Errorf("got %q", got)
		}
	})
}

// TestSearchAgainstScan compares search results with a scan of all links.
func TestSearchAgainstScan(t *testing.T) {
	each(t, func(t fixture) {
		rnd := rand.New(rand.NewPCG(1, 2)) // same links and queries in each run
		letters := []rune("abc é#%_語ß")
		text := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteRune(letters[rnd.IntN(len(letters))])
			}
			return b.String()
		}
		var all []links.Link
		for i := range 120 {
			var tags []string
			for range rnd.IntN(3) {
				tags = append(tags, "t"+text(2))
			}
			l := t.titled(fmt.Sprintf("https://h.test/%d", i), text(8), tags...)
			if rnd.IntN(5) == 0 {
				_, err := t.SetExpired(t.Context(), true, l.ID)
				t.must(err)
			}
			all = append(all, t.get(l.ID))
		}
		for range 400 {
			word := models.Fold(text(1 + rnd.IntN(4)))
			if word == "" {
				continue
			}
			var want [3][]string
			for _, l := range slices.Backward(all) {
				if l.Expired() {
					continue
				}
				in := func(s string) bool { return strings.Contains(models.Fold(s), word) }
				switch {
				case in(l.Title):
					want[0] = append(want[0], l.URL)
				case in(l.URL):
					want[1] = append(want[1], l.URL)
				case slices.ContainsFunc(l.Tags, in):
					want[2] = append(want[2], l.URL)
				}
			}
			expected := slices.Concat(want[0], want[1], want[2])
			if len(expected) == 0 {
				continue // has near misses
			}
			found, err := t.List(t.Context(), links.Filter{Query: `"` + word + `"`}, models.Page{Number: 1, Size: 100})
			t.must(err)
			var got []string
			for _, l := range found.Items {
				got = append(got, l.URL)
			}
			if found.Total != len(expected) || !slices.Equal(got, expected[:min(100, len(expected))]) {
				t.Fatalf("%q found %d %q, want %d %q", word, found.Total, got, len(expected), expected)
			}
		}
	})
}

// ListWithHealth counts the links of a list, not of the store.
func TestListWithHealth(t *testing.T) {
	each(t, func(t fixture) {
		fail := func(path string, tags ...string) {
			l := t.add("https://a.test/"+path, tags...)
			t.web.set("https://a.test/"+path, links.Page{Status: 500})
			t.recheck(l.ID)
		}
		fail("go-1", "go")
		fail("go-2", "go", "old")
		fail("rust", "rust")
		t.add("https://a.test/go-3", "go")
		for _, c := range []struct {
			filter  links.Filter
			suspect int
		}{
			{links.Filter{}, 3}, {links.Filter{Shown: links.ShowAll}, 3}, {links.Filter{Shown: links.ShowExpired}, 0}, {links.Filter{Shown: links.ShowRecent}, 0},
			{links.Filter{Tag: "go"}, 2}, {links.Filter{Query: "go"}, 2}, {links.Filter{Query: "go", Tag: "old"}, 1}, {links.Filter{Query: "rsut"}, 1}, {links.Filter{Query: "nothing-at-all"}, 0},
			{links.Filter{Query: "go", Health: links.Suspect}, 0}, // not counted
		} {
			n := modelstest.Queries(t, t.db)
			_, err := t.List(t.Context(), c.filter, firstPage)
			t.must(err)
			list := n.Load()
			found, err := t.ListWithHealth(t.Context(), c.filter, firstPage)
			t.must(err)
			if found.Health[links.Suspect] != c.suspect || found.Health[links.Dead] != 0 || found.HealthIsLowerBound {
				t.Errorf("%+v: health %v, want %d suspect", c.filter, found.Health, c.suspect)
			}
			if more := n.Load() - 2*list; more > 1 && c.filter.Shown != links.ShowRecent {
				t.Errorf("%+v: %d more queries for the counts", c.filter, more)
			}
		}
	})
}
