//go:build e2e

package e2e

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

func TestMain(m *testing.M) {
	// Tests mostly wait for the server and the browser. The flag -parallel overrides this.
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := Run(m)
	closeBrowser()
	os.Exit(code)
}
