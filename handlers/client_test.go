package handlers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"linkwatch/app/apptest"
)

// TestGeneratedClient generates a Go client from each OpenAPI document. tools/client uses it to
// clear members with null.
func TestGeneratedClient(t *testing.T) {
	for _, document := range []string{"/openapi.json", "/openapi-3.0.json"} {
		t.Run(document, func(t *testing.T) {
			s := apptest.New(t)
			dir := t.TempDir()
			for _, name := range []string{"go.mod", "go.sum", "main.go", "oapi.yaml"} {
				b, err := os.ReadFile(filepath.Join("../tools/client", name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), b)
			}
			write(t, filepath.Join(dir, "openapi.json"), []byte(s.Do("GET", document, "").Body))
			if err := os.Mkdir(filepath.Join(dir, "client"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"tool", "oapi-codegen", "-config", "oapi.yaml", "openapi.json"},
				{"run", "-trimpath", ".", s.URL}, // -trimpath: the build cache does not depend on the folder
			} {
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("go %v: %v\n%s", args, err, out)
				}
			}
		})
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
