package modelstest

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// Main is for TestMain of a package whose tests mostly wait: it runs three times as many of them at once as there are
// CPUs. The flag -parallel overrides this.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
