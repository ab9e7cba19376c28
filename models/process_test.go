package models_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
)

const writtenFile = "LINKWATCH_TEST_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(writtenFile); file != "" { // this is a process of TestKilledProcesses
		fmt.Fprintln(os.Stderr, writeUntilKilled(file))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled stores one number after the other, and prints each when it
// is stored.
func writeUntilKilled(file string) error {
	db, err := models.Open(context.Background(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := db.Write(context.Background(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO written (process, n) VALUES (?, ?)", os.Getpid(), n).Error
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Several processes write to one file at a time and are killed. All
// acknowledged writes exist, and the file is undamaged.
func TestKilledProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shared.db")
	db := openSQLite(t, file)
	err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("CREATE TABLE written (process INTEGER, n INTEGER)").Error })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const processes, enough = 3, 50
	stored := make(map[int]int) // by process
	var running []*exec.Cmd
	var told []*bufio.Scanner
	for range processes {
		p := exec.CommandContext(t.Context(), os.Args[0])
		p.Env, p.Stderr = append(os.Environ(), writtenFile+"="+file), os.Stderr
		out, err := p.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		running, told = append(running, p), append(told, bufio.NewScanner(out))
	}
	for i, p := range running { // all have written much
		for stored[p.Process.Pid] < enough && told[i].Scan() {
			stored[p.Process.Pid]++
		}
	}
	for i, p := range running {
		if err := p.Process.Kill(); err != nil {
			t.Error(err)
		}
		for told[i].Scan() {
			stored[p.Process.Pid]++
		}
		_ = p.Wait() // it was killed
	}

	db = openSQLite(t, file)
	for process, n := range stored {
		var there int
		err := db.Read(t.Context()).Raw("SELECT count(DISTINCT n) FROM written WHERE process = ?", process).Scan(&there).Error
		if err != nil || n < enough || there < n || there > n+1 { // the last may not have been told
			t.Errorf("%d rows of %d are there, %v", there, n, err)
		}
	}
	for _, e := range db.Examine(t.Context()) {
		if len(e.Problems) > 0 {
			t.Errorf("%s: %q", e.Name, e.Problems)
		}
	}
}
