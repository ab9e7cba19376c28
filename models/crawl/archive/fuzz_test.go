package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"linkwatch/models/crawl/archive"
)

// bomb returns n zeros, compressed.
func bomb(t *testing.T, n int) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(bytes.Repeat([]byte{0}, n), nil)
}

// FuzzLocate checks that errors never contain a password, and that a folder is never empty.
func FuzzLocate(f *testing.F) {
	for _, s := range []string{"a", "file:///a", "s3://b", "s3://k:s@b/p?region=x&endpoint=http://h:1", "s3://%zz", "://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		l, err := archive.ParseLocation(raw)
		if err != nil && len(raw) > 60 && strings.Contains(err.Error(), raw) {
			t.Errorf("the error contains %q: %v", raw, err)
		}
		if err == nil && l.Prefix != "" && !strings.HasSuffix(l.Prefix, "/") {
			t.Errorf("%q: got prefix %q", raw, l.Prefix)
		}
	})
}
