package openapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedClient generates a Go client from each OpenAPI document. tools/client uses it to clear members with null.
func TestGeneratedClient(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!DOCTYPE html><title>A page</title>"))
	}))
	t.Cleanup(site.Close)
	for _, document := range []string{"/openapi.json", "/openapi-3.0.json"} {
		t.Run(document, func(t *testing.T) {
			server := start(t)
			dir := t.TempDir()
			for _, name := range []string{"go.mod", "go.sum", "main.go", "oapi.yaml"} {
				b, err := os.ReadFile(filepath.Join("../client", name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), b)
			}
			write(t, filepath.Join(dir, "openapi.json"), fetch(t, server+document))
			if err := os.Mkdir(filepath.Join(dir, "client"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"tool", "oapi-codegen", "-config", "oapi.yaml", "openapi.json"},
				{"run", "-trimpath", ".", server, site.URL}, // -trimpath: the build cache does not depend on the folder
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
