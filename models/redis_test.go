package models_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/models"
)

func TestOpenRedis(t *testing.T) {
	if _, err := models.OpenRedis("redis://:secret@127.0.0.1:port/x"); err == nil {
		t.Error("a URL without sense is taken")
	}
	r := miniredis.RunT(t)
	r.RequireAuth("secret")
	client, err := models.OpenRedis("redis://:secret@" + r.Addr() + "/0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}
