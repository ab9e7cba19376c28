package accounts_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

// A device token is valid for the account that signed in, for a year, and cannot be made without the key.
func TestDevice(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	alice := accounts.User{Username: "alice"}
	token := s.NewDevice(alice)
	parts := strings.Split(token, ".")
	id := s.Device(token, " Alice")
	if id == "" || id != s.Device(token, "alice") || id == s.Device(s.NewDevice(alice), "alice") {
		t.Errorf("got ID %q", id)
	}
	for name, got := range map[string]string{
		"another account": s.Device(token, "bob"),
		"no token":        s.Device("", "alice"),
		"another ID":      s.Device("x"+token, "alice"),
		"a later end":     s.Device(parts[0]+".zzzzzzz."+parts[2], "alice"),
		"no signature":    s.Device(parts[0]+"."+parts[1]+".", "alice"),
		"two parts":       s.Device(parts[0]+"."+parts[1], "alice"),
		"four parts":      s.Device(token+".x", "alice"),
	} {
		if got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	s.clock.Advance(accounts.DeviceMaxAge - time.Second)
	if s.Device(token, "alice") != id {
		t.Error("not valid after a year")
	}
	s.clock.Advance(time.Second)
	if s.Device(token, "alice") != "" {
		t.Error("valid after more than a year")
	}
}
