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

func seal(t testing.TB, b *secret.Box, plain, of string) []byte {
	t.Helper()
	sealed, err := b.Seal([]byte(plain), of)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// opens reports whether a box opens a value, and fails the test for what neither opens nor has ErrKey.
func opens(t testing.TB, b *secret.Box, sealed []byte, of, plain string) bool {
	t.Helper()
	got, err := b.Open(sealed, of)
	if err == nil && string(got) == plain {
		return true
	}
	if !errors.Is(err, secret.ErrKey) || got != nil {
		t.Errorf("%q, %v", got, err)
	}
	return false
}

func TestSealAndOpen(t *testing.T) {
	b := box(t, "a key")
	for _, plain := range []string{"", "x", `{"private_key": "…"}`, strings.Repeat("long ", 10_000)} {
		for _, of := range []string{"", "w_1"} {
			one, two := seal(t, b, plain, of), seal(t, b, plain, of)
			if bytes.Equal(one, two) || len(plain) > 5 && bytes.Contains(one, []byte(plain[:5])) {
				t.Errorf("%.20q is sealed as %.40x and %.40x", plain, one, two)
			}
			for _, sealed := range [][]byte{one, two} {
				if !opens(t, box(t, "a key"), sealed, of, plain) {
					t.Errorf("%.20q of %q does not open", plain, of)
				}
			}
		}
	}
}

// The format does not change, or stored credentials are lost.
func TestStoredValuesOpen(t *testing.T) {
	sealed, err := hex.DecodeString("01bdde25f8c75cb1ee486686ced7451ed56280c8c9cb33340e798412f2504cb942fe")
	if err != nil {
		t.Fatal(err)
	}
	if !opens(t, box(t, "a key"), sealed, "w_1", "plain") {
		t.Error("does not open")
	}
}

func TestNothingElseOpens(t *testing.T) {
	b := box(t, "a key")
	sealed := seal(t, b, "plain", "w_1")
	for name, is := range map[string]bool{
		"another key":       opens(t, box(t, "a Key"), sealed, "w_1", "plain"),
		"another row":       opens(t, b, sealed, "w_2", "plain"),
		"no row":            opens(t, b, sealed, "", "plain"),
		"nothing":           opens(t, b, nil, "w_1", ""),
		"a version":         opens(t, b, sealed[:1], "w_1", ""),
		"something after":   opens(t, b, append(bytes.Clone(sealed), 0), "w_1", "plain"),
		"a version of nuls": opens(t, b, make([]byte, 60), "w_1", ""),
	} {
		if is {
			t.Errorf("%s opens", name)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if opens(t, b, changed, "w_1", "plain") || opens(t, b, sealed[:i], "w_1", "plain") {
			t.Errorf("opens with another byte %d, or cut there", i)
		}
	}
	if _, err := secret.FromText(""); err == nil {
		t.Error("an empty key")
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
		t.Error("the next start has another key, or another file the same")
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) || len(before) != 65 {
		t.Errorf("%q became %q: %v", before, after, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("left: %v, %v", files, err)
	}
	// As an editor may leave it.
	if err := os.WriteFile(other, []byte("\n "+strings.ToUpper(string(before))+"\r\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !opens(t, fromFile(t, other), sealed, "w_1", "plain") {
		t.Error("the same key in upper case does not open")
	}
}

// What is no key file is refused and stays as it is.
func TestKeyFileThatIsRefused(t *testing.T) {
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
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != c.content {
				t.Errorf("it was changed: %v", err)
			}
		})
	}
	if _, err := secret.FromFile(t.TempDir()); err == nil {
		t.Error("a folder is a key file")
	}
	if _, err := secret.FromFile(filepath.Join(t.TempDir(), "none", "a.key")); err == nil || !strings.Contains(err.Error(), "a.key") {
		t.Errorf("in a folder that is not there: %v", err)
	}
	dangling := filepath.Join(t.TempDir(), "a.key")
	if err := os.Symlink(filepath.Join(t.TempDir(), "none"), dangling); err != nil {
		t.Skip(err)
	}
	if _, err := secret.FromFile(dangling); err == nil {
		t.Error("a link to nothing is a key file")
	}
}

// Processes that make the file at the same time have the same key.
func TestKeyFileThatManyMake(t *testing.T) {
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
				t.Fatalf("process %d has another key", i)
			}
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Fatalf("left: %v, %v", files, err)
		}
	}
}

// FuzzOpen: what was not sealed does not open, and what opens is what was sealed.
func FuzzOpen(f *testing.F) {
	b := box(f, "a key")
	for _, of := range []string{"", "w_1"} {
		sealed := seal(f, b, "plain", of)
		f.Add(sealed, of)
		f.Add(sealed[:13], of)
		f.Add([]byte{1}, of)
	}
	f.Add([]byte(nil), "")
	f.Fuzz(func(t *testing.T, sealed []byte, of string) {
		plain, err := b.Open(sealed, of)
		if err != nil {
			if !errors.Is(err, secret.ErrKey) || plain != nil {
				t.Errorf("%q, %v", plain, err)
			}
			return
		}
		if string(plain) != "plain" { // only the seeds are known to open
			t.Errorf("opens as %q", plain)
		}
		if !opens(t, b, seal(t, b, string(plain), of), of, string(plain)) {
			t.Error("does not open again")
		}
	})
}
