// Package e2e tests Linkwatch from outside: the real binary, driven over HTTP
// and in a real browser, against a web site that the tests make up.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program under test, built once by TestMain.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	switch { // the test binary as one of the programs that figures are measured with
	case *bareGets != "":
		os.Exit(getBare(*bareGets))
	case *bareRedirects:
		os.Exit(serveBare())
	case *loadSpec != "":
		os.Exit(sendLoad(*loadSpec))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "linkwatch-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover in the temporary folder
	binary = filepath.Join(dir, "linkwatch")
	build := exec.Command("go", "build", "-o", binary, "..")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	defer closeBrowser()
	return m.Run()
}
