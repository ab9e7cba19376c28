//go:build e2e

// Package bench measures the real binary and prints the tables of docs/benchmarks.md. Baselines are servers and clients
// without the features of Linkwatch. The tests assert no times, except that the program stops in time. Without -figures
// only that test runs.
package bench

import (
	"flag"
	"os"
	"testing"

	"linkwatch/e2e"
)

var figures = flag.Bool("figures", false, "run the benchmarks on large databases and print the tables of docs/benchmarks.md")

// With one of these flags the test binary runs as a server or client, so that each of them has its own process.
var (
	bareRedirects = flag.Bool("bare-redirects", false, "internal: run a bare net/http server that always responds with 302")
	bareGets      = flag.String("bare-gets", "", "internal: GET the URLs in `file` as fast as possible and print the result")
	loadSpec      = flag.String("load", "", "internal: send the requests that `spec` (JSON) describes and print the result")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *bareGets != "":
		os.Exit(getBare(*bareGets))
	case *bareRedirects:
		os.Exit(serveBare())
	case *loadSpec != "":
		os.Exit(sendLoad(*loadSpec))
	}
	os.Exit(e2e.Run(m))
}
