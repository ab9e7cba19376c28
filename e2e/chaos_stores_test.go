//go:build e2e

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"linkwatch/models/modelstest"
)

// chaosPostgres is a PostgreSQL server for this test only.
type chaosPostgres struct {
	*process
	bin, dir string
	port     int
	as       *syscall.SysProcAttr
	log      *os.File
}

// newPostgres creates and starts a database cluster. It ends with the test.
func newPostgres(t *testing.T) *chaosPostgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		missing(t, "PostgreSQL")
	}
	slices.Sort(found)
	// Not t.TempDir: only root may enter its parent, and PostgreSQL does not run as root.
	dir, err := os.MkdirTemp("", "linkwatch-chaos-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pg := &chaosPostgres{bin: filepath.Dir(found[len(found)-1]), dir: dir, port: freePort(t), as: modelstest.AsPostgres(t, dir)}
	if pg.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.log.Close() })
	init := exec.Command(pg.bin+"/initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	init.SysProcAttr, init.Dir = pg.as, dir
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if pg.process != nil {
			pg.end(syscall.SIGQUIT)
		}
	})
	if err := pg.start(); err != nil {
		t.Fatal(err)
	}
	modelstest.Eventually(t, "PostgreSQL answers", pg.answers)
	return pg
}

// start starts the server and does not wait until it is ready.
func (pg *chaosPostgres) start() (err error) {
	// fsync=off loses nothing here: only processes die, not the machine.
	cmd := exec.Command(pg.bin+"/postgres", "-D", pg.dir+"/data", "-p", strconv.Itoa(pg.port), "-k", pg.dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "fsync=off", "-c", "synchronous_commit=on")
	attr := *pg.as
	cmd.SysProcAttr, cmd.Dir, cmd.Stdout, cmd.Stderr = &attr, pg.dir, pg.log, pg.log
	pg.process, err = launch(cmd)
	return err
}

// restart stops the server at once, without a checkpoint, and starts it again after a
// delay.
func (pg *chaosPostgres) restart(after time.Duration) error {
	pg.end(syscall.SIGQUIT)
	time.Sleep(after)
	if err := pg.start(); err != nil {
		return err
	}
	if !modelstest.Within(patience, pg.answers) {
		return fmt.Errorf("PostgreSQL did not start within %s", patience)
	}
	return nil
}

func (pg *chaosPostgres) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", pg.port)
}

// open returns a connection that is closed when the test ends.
func (pg *chaosPostgres) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", pg.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (pg *chaosPostgres) answers() bool {
	db, err := sql.Open("pgx", pg.url())
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return db.PingContext(ctx) == nil
}

// chaosRedis is a Redis server for this test only, without persistence.
type chaosRedis struct {
	*process
	dir  string
	port int
}

// newRedis starts Redis. It ends with the test.
func newRedis(t *testing.T) *chaosRedis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, "redis-server")
	}
	r := &chaosRedis{dir: t.TempDir(), port: freePort(t)}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.kill() })
	client := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", r.port)})
	defer func() { _ = client.Close() }()
	modelstest.Eventually(t, "Redis answers", func() bool { return client.Ping(t.Context()).Err() == nil })
	return r
}

// start starts the server, empty.
func (r *chaosRedis) start() (err error) {
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--save", "", "--appendonly", "no", "--dir", r.dir)
	r.process, err = launch(cmd)
	return err
}

func (r *chaosRedis) url() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", r.port) }

// missing skips a test, or fails it in CI, because a program is not installed.
func missing(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(program + " is not installed: with CI=true the chaos test must run")
	}
	t.Skip(program + " is not installed, so the chaos test does not run")
}
