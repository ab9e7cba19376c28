package modelstest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// Main is for TestMain of a package with many tests: it runs three times as many of them at once as there are CPUs, because most
// of them wait. It also reduces garbage collections, which take a sixth of the CPU time otherwise. The flag -parallel and the
// variable GOGC override this.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
