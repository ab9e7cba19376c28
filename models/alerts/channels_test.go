package alerts_test

import (
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// The secret can be changed without the URL. Another URL removes the secret: it must not sign messages to another receiver.
func TestPartsOfAnAddressAreChanged(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		edit := func(e alerts.ChannelEdit, want alerts.Address) {
			w.Helper()
			c, err := w.EditChannel(w.Context(), c.ID, e)
			w.ok(err)
			if got, err := w.Address(c); err != nil || got != want {
				w.Errorf("the address is %+v, %v, want %+v", got, err, want)
			}
		}
		webhook, ntfy := alerts.KindWebhook, "ntfy"
		edit(alerts.ChannelEdit{URL: new("https://hooks.test/c"), Kind: &webhook}, alerts.Address{URL: "https://hooks.test/c", Secret: "secret-of-c"})
		edit(alerts.ChannelEdit{URL: new("https://hooks.test/other"), Kind: &webhook}, alerts.Address{URL: "https://hooks.test/other"})
		edit(alerts.ChannelEdit{URL: new("https://b.test/"), Secret: new("secret-of-b"), Kind: &webhook}, alerts.Address{URL: "https://b.test/", Secret: "secret-of-b"})
		edit(alerts.ChannelEdit{Secret: new("another-secret")}, alerts.Address{URL: "https://b.test/", Secret: "another-secret"})
		edit(alerts.ChannelEdit{URL: new("ntfy://ntfy.sh/t"), Kind: &ntfy}, alerts.Address{URL: "ntfy://ntfy.sh/t"})
		_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Secret: new("another-secret")})
		w.code(err, models.CodeInvalid)
		edit(alerts.ChannelEdit{URL: new("https://c.test/"), Kind: &webhook}, alerts.Address{URL: "https://c.test/"})
	})
}

// An address that was encrypted with another key can only be replaced as a whole.
func TestAddressSealedWithAnotherKeyIsReplaced(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
			return tx.Exec("UPDATE channels SET config = ?", []byte("of another key")).Error
		}))
		for _, e := range []alerts.ChannelEdit{{URL: new("https://b.test/")}, {Secret: new("another-secret")}} {
			_, err := w.EditChannel(w.Context(), c.ID, e)
			w.code(err, models.CodeConflict)
		}
		_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{URL: new("https://b.test/"), Secret: new("")})
		w.ok(err)
	})
}
