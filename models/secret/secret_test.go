package secret_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"linkwatch/models/secret"
)

func box(t testing.TB, text string) *secret.Box {
	t.Helper()
	b, err := secret.FromText(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seal(t testing.TB, b *secret.Box, plain, owner string) []byte {
	t.Helper()
	sealed, err := b.Seal([]byte(plain), owner)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// opens reports whether a box decrypts a value to plain. Results other than this and ErrKey fail the test.
func opens(t testing.TB, b *secret.Box, sealed []byte, owner, plain string) bool {
	t.Helper()
	got, err := b.Open(sealed, owner)
	if err == nil && string(got) == plain {
		return true
	}
	if !errors.Is(err, secret.ErrKey) || got != nil {
		t.Errorf("Open: got %q, %v; want ErrKey", got, err)
	}
	return false
}

func TestSealAndOpen(t *testing.T) {
	b := box(t, "a key")
	for _, plain := range []string{"", "x", `{"private_key": "…"}`, strings.Repeat("long ", 10_000)} {
		for _, owner := range []string{"", "w_1"} {
			one, two := seal(t, b, plain, owner), seal(t, b, plain, owner)
			if bytes.Equal(one, two) || len(plain) > 5 && bytes.Contains(one, []byte(plain[:5])) {
				t.Errorf("%.20q: got %.40x and %.40x, want different values without the text", plain, one, two)
			}
			for _, sealed := range [][]byte{one, two} {
				if !opens(t, box(t, "a key"), sealed, owner, plain) {
					t.Errorf("%.20q for owner %q does not open", plain, owner)
				}
			}
		}
	}
}

// The format of sealed values must not change, because stored credentials would be lost.
func TestStoredValuesOpen(t *testing.T) {
	sealed, err := hex.DecodeString("01bdde25f8c75cb1ee486686ced7451ed56280c8c9cb33340e798412f2504cb942fe")
	if err != nil {
		t.Fatal(err)
	}
	if !opens(t, box(t, "a key"), sealed, "w_1", "plain") {
		t.Error("a stored value does not open")
	}
}

func TestInvalidValuesDoNotOpen(t *testing.T) {
	b := box(t, "a key")
	sealed := seal(t, b, "plain", "w_1")
	for name, opened := range map[string]bool{
		"another key":      opens(t, box(t, "a Key"), sealed, "w_1", "plain"),
		"another row":      opens(t, b, sealed, "w_2", "plain"),
		"no row":           opens(t, b, sealed, "", "plain"),
		"empty":            opens(t, b, nil, "w_1", ""),
		"only the version": opens(t, b, sealed[:1], "w_1", ""),
		"trailing byte":    opens(t, b, append(bytes.Clone(sealed), 0), "w_1", "plain"),
		"zeros":            opens(t, b, make([]byte, 60), "w_1", ""),
	} {
		if opened {
			t.Errorf("%s opens", name)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if opens(t, b, changed, "w_1", "plain") || opens(t, b, sealed[:i], "w_1", "plain") {
			t.Errorf("opens with byte %d changed, or truncated there", i)
		}
	}
	if _, err := secret.FromText(""); err == nil {
		t.Error("an empty key was accepted")
	}
}

func fromFile(t *testing.T, path string) *secret.Box {
	t.Helper()
	b, err := secret.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.key"), filepath.Join(dir, "b.key")
	sealed := seal(t, fromFile(t, path), "plain", "w_1")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !opens(t, fromFile(t, path), sealed, "w_1", "plain") || opens(t, fromFile(t, other), sealed, "w_1", "plain") {
		t.Error("the key must be the same after a restart, and differ between files")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) || len(before) != 65 {
		t.Errorf("key file changed from %q to %q, %v", before, after, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("key file: got mode %v, %v; want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("got files %v, %v; want only key files", files, err)
	}
	// An editor may add white space.
	if err := os.WriteFile(other, []byte("\n "+strings.ToUpper(string(before))+"\r\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !opens(t, fromFile(t, other), sealed, "w_1", "plain") {
		t.Error("the same key in upper case does not open")
	}
}

// Invalid key files are an error and do not change.
func TestInvalidKeyFile(t *testing.T) {
	good := strings.Repeat("0f", 32)
	for name, c := range map[string]struct {
		content, want string
		mode          os.FileMode
	}{
		"empty":           {"", "64 hex digits", 0o600},
		"white space":     {"\n\n", "64 hex digits", 0o600},
		"too short":       {good[2:], "64 hex digits", 0o600},
		"odd":             {good[1:], "64 hex digits", 0o600},
		"too long":        {good + "00", "64 hex digits", 0o600},
		"much too long":   {strings.Repeat(good, 1000), "64 hex digits", 0o600},
		"other letters":   {"xx" + good[2:], "64 hex digits", 0o600},
		"good and a line": {good + strings.Repeat("\n", 200) + good, "64 hex digits", 0o600},
		"group may read":  {good, "chmod 600 ", 0o640},
		"all may read":    {good, "chmod 600 ", 0o604},
		"all may write":   {good, "chmod 600 ", 0o602},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.mode != 0o600 {
				t.Skip("Windows has no such permissions")
			}
			path := filepath.Join(t.TempDir(), "a.key")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			b, err := secret.FromFile(path)
			if err == nil || b != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), good[:20]) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != c.content {
				t.Errorf("the file changed: got %q, %v", after, err)
			}
		})
	}
	if _, err := secret.FromFile(t.TempDir()); err == nil {
		t.Error("a directory was accepted as a key file")
	}
	if _, err := secret.FromFile(filepath.Join(t.TempDir(), "none", "a.key")); err == nil || !strings.Contains(err.Error(), "a.key") {
		t.Errorf("in a missing directory: got %v", err)
	}
	dangling := filepath.Join(t.TempDir(), "a.key")
	if err := os.Symlink(filepath.Join(t.TempDir(), "none"), dangling); err != nil {
		t.Skip(err)
	}
	if _, err := secret.FromFile(dangling); err == nil {
		t.Error("a dangling symlink was accepted as a key file")
	}
}

// Processes that create the file at the same time get the same key.
func TestConcurrentKeyFileCreation(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		boxes := make([]*secret.Box, 16)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range boxes {
			all.Go(func() {
				<-start
				var err error
				if boxes[i], err = secret.FromFile(filepath.Join(dir, "a.key")); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
		if t.Failed() {
			return
		}
		sealed := seal(t, boxes[0], "plain", "w_1")
		for i, b := range boxes {
			if !opens(t, b, sealed, "w_1", "plain") {
				t.Fatalf("process %d got another key", i)
			}
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Fatalf("got files %v, %v; want only the key file", files, err)
		}
	}
}

// FuzzOpen checks that only sealed values open.
func FuzzOpen(f *testing.F) {
	b := box(f, "a key")
	for _, owner := range []string{"", "w_1"} {
		sealed := seal(f, b, "plain", owner)
		f.Add(sealed, owner)
		f.Add(sealed[:13], owner)
		f.Add([]byte{1}, owner)
	}
	f.Add([]byte(nil), "")
	f.Fuzz(func(t *testing.T, sealed []byte, owner string) {
		plain, err := b.Open(sealed, owner)
		if err != nil {
			if !errors.Is(err, secret.ErrKey) || plain != nil {
				t.Errorf("%q, %v", plain, err)
			}
			return
		}
		if string(plain) != "plain" { // only values of f.Add open
			t.Errorf("Open: got %q, want plain", plain)
		}
		if !opens(t, b, seal(t, b, string(plain), owner), owner, string(plain)) {
			t.Error("the value does not open after sealing it again")
		}
	})
}
