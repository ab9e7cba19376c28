package models_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"linkwatch/models"
)

// The line of a slow statement names the unit of its duration.
func TestSlowQuery(t *testing.T) {
	var lines bytes.Buffer
	db, err := models.Open(t.Context(), models.SQLite, filepath.Join(t.TempDir(), "test.db"), slog.New(slog.NewJSONHandler(&lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test is over
	db.Read(t.Context()).Logger.Trace(t.Context(), time.Now().Add(-time.Second), func() (string, int64) { return "SELECT 1", 1 }, nil)
	var line struct {
		Msg    string `json:"msg"`
		TookUS int64  `json:"took_us"`
	}
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Msg != "slow query" || line.TookUS < 1e6 || line.TookUS > 1e8 {
		t.Errorf("%s: %v", lines.String(), err)
	}
}
