// Package bench measures the real binary and prints the figures of docs/benchmarks.md, compared with baselines:
// servers and clients that do nothing else. It asserts nothing about time, except that the program stops in time.
// Without -figures it measures only that.
package bench

import (
	"flag"
	"os"
	"testing"

	"linkwatch/e2e"
)

var figures = flag.Bool("figures", false, "measure the program on large stores and print the figures of docs/benchmarks.md")

// With one of these flags the test binary runs as a program of its own. So each server and each client that the
// figures compare has its own process.
var (
	bareRedirects = flag.Bool("bare-redirects", false, "be a bare net/http server that answers 302 to everything (for the figures)")
	bareGets      = flag.String("bare-gets", "", "GET the addresses in this `file` as fast as may be, and tell what it took (for the figures)")
	loadSpec      = flag.String("load", "", "send the requests of this `spec` (JSON) and tell how they were answered (for the figures)")
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
