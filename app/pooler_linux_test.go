package app

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

// The output of a command has no lines of the log: scripts write it to a file with a token.
func TestOutputOfCommandsBehindPooler(t *testing.T) {
	t.Parallel()
	getenv := env(t, map[string]string{
		"DATABASE_URL": modelstest.Pooler(t, modelstest.NewPostgres(t), modelstest.PoolTransactions), "SECRET_KEY": "a key of this test",
	})
	err := withCore(t.Context(), getenv, func(c *core) error {
		ctx := models.WithActor(context.WithoutCancel(t.Context()), models.Actor{Name: models.SystemOwner})
		_, err := accounts.NewStore(c.DB, nil, accounts.Options{}).Add(ctx, accounts.NewUser{Username: "ann", Role: "admin", Password: "correct horse battery"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"token", "add", "ann", "--name", "Prometheus", "--scope", "read"}, getenv, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 1 || strings.Contains(lines[0], "pooler") {
		t.Errorf("the command wrote %d lines, want the token alone", len(lines))
	}
}
