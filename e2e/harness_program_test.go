//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// demoIn is storeIn with the demo, which is generated once because it takes seconds.
func demoIn(t testing.TB) string {
	t.Helper()
	database, err := demo()
	if err != nil {
		t.Fatal("generate demo: ", err)
	}
	store := storeIn(t)
	if err := os.WriteFile(strings.TrimPrefix(store, "DATABASE_URL="), database, 0o600); err != nil {
		t.Fatal(err)
	}
	return store
}

var demo = sync.OnceValues(func() (database []byte, err error) {
	dir, err := os.MkdirTemp("", "linkwatch-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "linkwatch.db")
	cmd := exec.Command(binary, "demo", "-links", "60")
	cmd.Env = environ("DATABASE_URL=" + file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(file)
})
