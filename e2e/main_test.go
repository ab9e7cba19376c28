package e2e

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := Run(m)
	closeBrowser()
	os.Exit(code)
}
