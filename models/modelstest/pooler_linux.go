package modelstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The modes of Pooler.
const (
	PoolTransactions = "transaction"
	PoolSessions     = "session"
)

// Pooler starts PgBouncer, with the settings of deploy/pgbouncer.ini, in front of the server of a PostgreSQL URL, and
// returns the URL through it. It ends with the test. If it fails, it starts again, as under a service manager: PgBouncer
// before 1.20 fails when a client ends while it cancels a query (pgbouncer issue 801). Without PgBouncer the test is
// skipped, or fails if CI is true.
func Pooler(t testing.TB, dsn, mode string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("pgbouncer is not installed: with CI=true, tests need it")
		}
		t.Skip("pgbouncer is not installed")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "linkwatch-pooler-") //nolint:usetesting // only root may enter the parent of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	stop, kill := context.WithCancel(context.Background())
	attr := AsPostgres(t, dir)
	attr.Pdeathsig = syscall.SIGKILL
	_, here, _, _ := runtime.Caller(0)
	shipped, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../../deploy/pgbouncer.ini"))
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(string(shipped), "linkwatch = host=db.example", "* = host="+u.Hostname()+" port="+u.Port(), 1) +
		fmt.Sprintf("unix_socket_dir = %s\nlisten_port = %s\nauth_type = trust\nauth_file = %[1]s/users\nlogfile = %[1]s/log\n", dir, poolerPort)
	switch mode {
	case PoolSessions: // more connections than all instances of a test open
		config = strings.Replace(config, "pool_mode = transaction", "pool_mode = session", 1) + "default_pool_size = 100\n"
	case PoolTransactions:
		config += "max_client_conn = 500\n" // for eight instances
	}
	for name, text := range map[string]string{"config": config, "users": strconv.Quote(u.User.Username()) + ` ""`} {
		file := filepath.Join(dir, name)
		// The mode again: the umask may keep others from reading, and PgBouncer is another user.
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chmod(file, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(stop, program, "-q", filepath.Join(dir, "config"))
		cmd.SysProcAttr, cmd.Dir = attr, dir
		if err := cmd.Start(); err != nil {
			t.Error(err)
		}
		return cmd
	}
	cmd, ended := start(), make(chan struct{})
	go func() {
		defer close(ended)
		for cmd.Process != nil && cmd.Wait() != nil && stop.Err() == nil {
			cmd = start()
		}
	}()
	t.Cleanup(func() { kill(); <-ended })
	if !Within(10*time.Second, func() bool {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL."+poolerPort))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}) {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		t.Fatalf("PgBouncer does not answer:\n%s", log)
	}
	q := u.Query()
	q.Set("host", dir)
	q.Set("port", poolerPort)
	u.Host, u.RawQuery = "", q.Encode()
	return u.String()
}

const poolerPort = "6432" // part of the name of a socket

// AsPostgres makes the user postgres the owner of a folder, and returns the attributes of a process of that user if
// this is root: PgBouncer and PostgreSQL refuse to run as root.
func AsPostgres(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	if errUID != nil || errGID != nil {
		t.Fatalf("user postgres has ids %s and %s", u.Uid, u.Gid)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
