package archive_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

// A write that is interrupted leaves no file.
func TestInterruptedWrite(t *testing.T) {
	a, dir := folder(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := hello(ended, a); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if files, err := filepath.Glob(dir + "/*/*"); err != nil || len(files) != 0 {
		t.Errorf("got files %v, %v", files, err)
	}
}

// A key, for example from a restored database, cannot name a file outside the folder.
func TestKeysStayInTheFolder(t *testing.T) {
	a, dir := folder(t)
	at := put(t, a, []byte("hello"))[0]
	outside := filepath.Join(filepath.Dir(dir), "outside")
	if err := os.Rename(filepath.Join(dir, at.Key), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	h := archive.HashOf([]byte("hello"))
	for _, key := range []string{"../outside", outside, "link", at.Key[:2] + "/../../outside"} {
		if got, err := a.Get(t.Context(), crawl.BodyLocation{Key: key, Length: at.Length}, h); err == nil {
			t.Errorf("%s: got %q", key, got)
		}
	}
	for _, key := range []string{"../outside", outside, at.Key[:2] + "/../../outside"} {
		if err := a.Delete(t.Context(), key); err == nil {
			t.Errorf("%s: the deletion succeeded", key)
		}
		if _, err := os.Stat(outside); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder that was deleted is created again.
func TestDeletedFolder(t *testing.T) {
	a, dir := folder(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := hello(t.Context(), a); err != nil {
		t.Error(err)
	}
}
