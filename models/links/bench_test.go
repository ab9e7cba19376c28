package links_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// BenchmarkImport stores links with three tags and titles of six words on SQLite, 10,000 at a time.
func BenchmarkImport(b *testing.B) {
	const batch = 10_000
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.1, 5, 20_000-1)
	word := func() string { // distributed like words of a language
		n, w := zipf.Uint64(), []byte("ba")
		for ; n > 0; n /= 18 * 5 {
			w = append(w, "bcdfghjklmnprstvwz"[n%18], "aeiou"[n/18%5])
		}
		return string(w)
	}
	store := links.NewStore(modelstest.New(b), nil, nil, links.Options{CheckInterval: week})
	stored := 0
	for b.Loop() {
		b.StopTimer()
		ns := make([]links.New, batch)
		for i := range ns {
			ns[i] = links.New{
				URL:   fmt.Sprintf("https://%s.example.com/%s/%s-%d", word(), word(), word(), stored+i),
				Title: strings.Join([]string{word(), word(), word(), word(), word(), word()}, " "),
				Tags:  []string{fmt.Sprint("tag-", rnd.IntN(5000)), fmt.Sprint("tag-", rnd.IntN(5000)), fmt.Sprint("tag-", rnd.IntN(5000))},
			}
		}
		b.StartTimer()
		n, err := store.Import(b.Context(), ns)
		if stored += n; err != nil || n != batch {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(stored)/b.Elapsed().Seconds(), "links/s")
}
