package middleware

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

// The fast path of a line writes what slog writes.
func FuzzRequestLine(f *testing.F) {
	f.Add("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "GET", "/s/abcd", 302, 0, int64(1_764_000_000_123_456_789), int64(41_000), 0, false)
	f.Add("a-b_c1234", "PURGE", `/a"b\c<d>&e/\u00e9`, 404, 1234, int64(0), int64(1), -4, true)
	f.Add("a-b_c1234", "GET", "/\u00fc \x7f\xff\n", -1, -1, int64(-1), int64(-1), 5, true)
	f.Fuzz(func(t *testing.T, id, method, path string, status, size int, ended, took int64, level int, stream bool) {
		l := RequestLine{
			Ended: time.Unix(0, ended).UTC(), Level: slog.Level(level), ID: id, Method: method, Path: path, Status: status, Bytes: size,
			Took: time.Duration(took), Stream: stream,
		}
		var want bytes.Buffer
		if err := slog.NewJSONHandler(&want, nil).Handle(t.Context(), l.Record()); err != nil {
			t.Fatal(err)
		}
		if got, ok := l.AppendJSON(nil); ok && string(got) != want.String() {
			t.Errorf("got %q, want %q", got, want.String())
		}
	})
}

func TestPlainLinesAreNotRecords(t *testing.T) {
	if _, ok := (RequestLine{ID: newID(), Method: "GET", Path: "/s/abcd"}).AppendJSON(nil); !ok {
		t.Error("a usual line is written as a record")
	}
}
