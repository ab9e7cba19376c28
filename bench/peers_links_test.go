//go:build e2e

package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/e2e"
)

const (
	peerLinks  = 1_000
	peerSavers = 8 // requests at a time
)

// bukuFigures compares buku, a bookmark manager with a SQLite database, with Linkwatch. Its library is called in one process,
// so that its results do not include the start of Python.
func bukuFigures(t *testing.T) {
	script, err := filepath.Abs("peers/buku.py")
	if err != nil {
		t.Fatal(err)
	}
	words := newCorpus()
	hosts := farm(t, 43, crawlHosts, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		title := strings.ReplaceAll(strings.TrimPrefix(r.URL.Path, "/"), "-", " ")
		fmt.Fprintf(w, "<!doctype html><html lang=en><head><title>%s</title><meta name=description content=\"A page\"></head><body>%s</body></html>",
			title, strings.Repeat("<p>All is well.</p>\n", 200))
	})
	var urls, queries []string
	for i := range peerLinks {
		urls = append(urls, fmt.Sprintf("%s/%s-%s-%s-%d", hosts[i%crawlHosts], words.word(), words.word(), words.word(), i))
	}
	for range samples {
		queries = append(queries, words.word())
	}
	var c comparison
	for range peerRounds {
		cmd := peerCommand(t)
		for name, lines := range map[string][]string{"urls": urls, "words": queries} {
			if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// The Python of Debian, which has the modules that buku needs. Another one can be first in PATH.
		cmd.Path, cmd.Args = "/usr/bin/python3", []string{"python3", script, *peerProgram, "urls", "words"}
		ran := runToEnd(t, cmd)
		var peer struct {
			Save, CPU    float64
			Search, List []float64
		}
		out, err := os.ReadFile(filepath.Join(cmd.Dir, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &peer); err != nil {
			t.Fatal(err)
		}

		s := e2e.Start(t)
		seconds := saveLinks(t, s, urls)
		cpu := cpuOf(t, s.PID()).Seconds() * 1000
		var searches, lists []float64
		for _, word := range queries {
			searches = append(searches, timeGET(t, s.URL+"/v1/search?q="+word))
			lists = append(lists, timeGET(t, s.URL+"/v1/links"))
		}
		memory := float64(s.PeakMemory()) / 1e6
		s.Stop()
		c.add("save 1,000 links with their titles: links per second", "%.0f", peerLinks/peer.Save*1000, peerLinks/seconds)
		c.add("save 1,000 links with their titles: CPU time per link", "%.2f ms", peer.CPU/peerLinks, cpu/peerLinks)
		c.add("1,000 links: memory at most", "%.0f MB", ran.memory, memory)
		c.addTimes("1,000 links: search for a word", peer.Search, searches)
		c.addTimes("1,000 links: list", peer.List, lists)
	}
	c.print()
}

// addTimes adds the p50 and p95 of times in milliseconds.
func (c *comparison) addTimes(name string, peer, linkwatch []float64) {
	slices.Sort(peer)
	slices.Sort(linkwatch)
	for _, q := range []int{50, 95} {
		c.add(fmt.Sprintf("%s, p%d", name, q), "%.1f ms", peer[len(peer)*q/100], linkwatch[len(linkwatch)*q/100])
	}
}

// saveLinks saves links through the API, a request each, and returns the seconds that it took.
func saveLinks(t *testing.T, s *e2e.Server, urls []string) float64 {
	t.Helper()
	var next, failed atomic.Int64
	started := time.Now()
	var group sync.WaitGroup
	for range peerSavers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(len(urls)); i = next.Add(1) {
				if status, err := s.Try("POST", "/v1/links", map[string]any{"url": urls[i-1]}, nil); err != nil || status != http.StatusCreated {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() > 0 {
		t.Fatalf("%d links were not saved", failed.Load())
	}
	return time.Since(started).Seconds()
}
