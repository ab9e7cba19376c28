package accounts

import (
	"crypto/subtle"
	"strconv"
	"strings"

	"linkwatch/models"
)

// DeviceMaxAge is how long a browser is known after a login.
const DeviceMaxAge = 365 * models.Day

// NewDevice returns a signed token for a browser in which an account has signed in. It shows later that the browser is
// not a stranger, and allows nothing else. It stays valid after the session, and after a change of the password.
func (s *Store) NewDevice(u User) string {
	text := newSecret() + "." + strconv.FormatInt(s.clock.Now().Add(DeviceMaxAge).Unix(), 36)
	return text + "." + s.signDevice(text, u.Username)
}

// Device returns the ID of the browser that has a token, or "" if the account with this username has not signed in there.
// It makes no query.
func (s *Store) Device(token, username string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	expires, err := strconv.ParseInt(parts[1], 36, 64)
	if err != nil || s.clock.Now().Unix() >= expires {
		return ""
	}
	want := s.signDevice(parts[0]+"."+parts[1], foldUsername(username))
	if subtle.ConstantTimeCompare([]byte(want), []byte(parts[2])) != 1 {
		return ""
	}
	return parts[0]
}

func (s *Store) signDevice(text, username string) string {
	return s.opts.Sign("device " + text + " " + username)
}
