package alerts_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

func TestAddAChannel(t *testing.T) {
	a := newPagesApp(t)
	p := a.Get("/alerts/channels")
	apptest.WantText(t, p, ".empty", "No channels yet")
	apptest.WantCount(t, p, ".services a", len(alerts.Services)+2)
	for _, s := range alerts.Services {
		p := a.Get("/alerts/channels/new?service=" + s.Kind)
		apptest.WantCount(t, p, "form.panel", 1)
		for _, f := range s.Fields {
			apptest.WantCount(t, p, `form.panel [name="`+f.Name+`"]`, 1)
			if f.Secret {
				apptest.WantCount(t, p, `input[type=password][name="`+f.Name+`"]`, 1)
			}
		}
	}
	apptest.WantText(t, a.Get("/alerts/channels/new?service=none"), "main", "Choose the service")

	p = a.Follow("/alerts/channels", url.Values{"service": {"ntfy"}, "name": {hostile}, "topic": {secretText}, "enabled": {"true"}})
	apptest.WantText(t, p, ".flash", "Channel added.")
	apptest.WantText(t, p, "tbody tr", hostile+" ntfy untested never 0")
	noSecret(t, p)
	if got := a.Sender.checked; len(got) != 1 || !strings.HasPrefix(got[0], "ntfy://ntfy.sh/"+secretText) {
		t.Errorf("the sender was asked about %q", got)
	}
	p = a.Follow("/alerts/channels", url.Values{"service": {"webhook"}, "url": {"https://hooks.test/" + secretText}, "secret": {secretText}})
	apptest.WantText(t, p, "tbody tr:nth-child(2)", "Webhook Webhook disabled")
	p = a.Follow("/alerts/channels", url.Values{"service": {"url"}, "url": {"zulip://bot:" + secretText + "@chat.test/"}})
	apptest.WantText(t, p, "tbody tr:nth-child(3)", "Zulip")
	noSecret(t, p)
}

func TestChannelErrorsAreNextToTheirField(t *testing.T) {
	a := newPagesApp(t)
	for _, c := range []struct {
		form        url.Values
		where, want string
	}{
		{url.Values{"service": {"smtp"}, "host": {"mail.test"}, "from": {"x"}, "to": {"a@b.test"}, "user": {"u"}, "password": {secretText}}, "#from-error", "Sender must be an email address"},
		{url.Values{"service": {"smtp"}, "host": {""}, "from": {"a@b.test"}, "to": {"a@b.test"}}, "#host-error", "Mail server is required."},
		{url.Values{"service": {"slack"}, "webhook": {"https://" + secretText + ".test/"}}, "#webhook-error", "Incoming webhook URL must be the URL that Slack shows"},
		{url.Values{"service": {"webhook"}, "url": {"ntfy://" + secretText}}, "#url-error", "URL must start with http:// or https://."},
		{url.Values{"service": {"webhook"}, "url": {"https://hooks.test/"}, "secret": {"short"}}, "#secret-error", "Secret must have 8 to 200 bytes."},
		{url.Values{"service": {"url"}, "url": {secretText}}, "#url-error", "Service URL is not the URL of a service."},
		{url.Values{"service": {"webhook"}, "url": {"https://hooks.test/"}, "name": {strings.Repeat("x", 201)}}, "#name-error", "Name must have at most 200 characters."},
	} {
		p := a.Post("/alerts/channels", c.form)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, c.where, c.want)
		apptest.WantCount(t, p, `[aria-invalid="true"]`, 1)
		noSecret(t, p)
		for _, name := range []string{"name", "host", "from", "to"} {
			if got := p.Find(`input[name="`+name+`"]`).AttrOr("value", ""); got != c.form.Get(name) {
				t.Errorf("%s %q came back as %q", name, c.form.Get(name), got)
			}
		}
	}
	apptest.WantText(t, a.Get("/alerts/channels"), ".empty", "No channels yet")
}

// A form shows all its errors.
func TestAllErrorsOfAChannelForm(t *testing.T) {
	a := newPagesApp(t)
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		form url.Values
		want map[string]string
	}{
		{url.Values{"service": {"smtp"}, "name": {long}, "port": {"x"}, "to": {"x"}}, map[string]string{
			"name": "Name must have at most 200 characters.", "host": "Mail server is required.", "port": "Port must be a number from 1 to 65535.",
			"from": "Sender is required.", "to": "Recipients must be email addresses such as alerts@example.com, separated by commas.",
		}},
		{url.Values{"service": {"webhook"}, "name": {long}, "url": {"ftp://files.test/"}, "secret": {"short"}}, map[string]string{
			"name": "Name must have at most 200 characters.", "url": "URL must start with http:// or https://.", "secret": "Secret must have 8 to 200 bytes.",
		}},
		{url.Values{"service": {"webhook"}, "name": {long}}, map[string]string{"name": "Name must have at most 200 characters.", "url": "URL is required."}},
	} {
		p := a.Post("/alerts/channels", c.form)
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantCount(t, p, ".field-error", len(c.want))
		apptest.WantCount(t, p, `[aria-invalid="true"]`, len(c.want))
		for field, text := range c.want {
			apptest.WantText(t, p, "#"+field+"-error", text)
		}
	}
}

// A URL that the sender refuses is an error of the URL field of the service.
func TestRefusedAddressOfAService(t *testing.T) {
	a := newPagesApp(t)
	a.Sender.refused = models.Invalid("url", "points to a private address. Use a public one, or allow it in OUTBOUND_ALLOW_CIDRS")
	const text = " points to a private address. Use a public one, or allow it in OUTBOUND_ALLOW_CIDRS."
	p := a.Post("/alerts/channels", url.Values{"service": {"ntfy"}, "server": {"http://10.0.0.1"}, "topic": {"t"}})
	apptest.WantText(t, p, "#server-error", "Server"+text)
	p = a.Post("/alerts/channels", url.Values{"service": {"webhook"}, "url": {"http://10.0.0.1/"}})
	apptest.WantText(t, p, "#url-error", "URL"+text)
}

func TestEditAChannel(t *testing.T) {
	a := newPagesApp(t)
	c := a.channel("Ops")
	path := "/alerts/channels/" + c.ID
	noSecret(t, a.Get(path))
	address := func() alerts.Address {
		now, err := a.Alerts.Channel(a.Context(), c.ID)
		a.Must(err)
		at, err := a.Alerts.Address(now)
		a.Must(err)
		return at
	}
	p := a.Follow(path, url.Values{"name": {"Operations"}, "enabled": {"true"}})
	apptest.WantText(t, p, ".flash", "Saved.")
	if got := address(); got.URL != "https://hooks.test/"+secretText {
		t.Errorf("without a new address it is %v", got)
	}
	p = a.Post(path, url.Values{"name": {"Operations"}, "secret": {secretText}})
	apptest.WantStatus(t, p, http.StatusBadRequest)
	apptest.WantCount(t, p, "details[open] #url-error", 1)
	if help := a.Get(path).Find("details > .help").Text(); strings.Contains(help, "secret") {
		t.Errorf("a channel without a secret: got help %q", help)
	}
	p = a.Follow(path, url.Values{"name": {"Operations"}, "url": {"https://signed.test/"}, "secret": {secretText}})
	apptest.WantText(t, p, ".flash", "Saved.")
	apptest.WantText(t, a.Get(path), "details > .help", "If you enter a URL without a secret, the secret is removed and requests are no longer signed.")
	p = a.Follow(path, url.Values{"name": {"Operations"}, "url": {"https://new.test/"}})
	apptest.WantText(t, p, ".flash", "The secret was removed, so requests are no longer signed.")
	if got := address(); got.URL != "https://new.test/" || got.Secret != "" {
		t.Errorf("the new address is %v", got)
	}
	p = a.Submit(a.Get("/alerts/channels"), `form[action$="/enabled"]`)
	apptest.WantText(t, p, ".flash", "Channel enabled.")
	p = a.Submit(p, `form[action$="/enabled"]`)
	apptest.WantText(t, p, "tbody tr", "Operations Webhook disabled")
	p = a.Submit(p, `form[action$="/delete"]`)
	apptest.WantText(t, p, ".flash", "Channel deleted.")
	p = a.Submit(p, ".flash form")
	apptest.WantText(t, p, ".flash", "Channel restored.")
	apptest.WantCount(t, p, "tbody tr", 1)
	for _, action := range []string{"", "/test", "/enabled", "/delete", "/restore"} {
		apptest.WantStatus(t, a.Post("/alerts/channels/"+models.NewID(models.KindChannel)+action, nil), http.StatusNotFound)
	}
}

func TestTestAChannel(t *testing.T) {
	a := newPagesApp(t)
	c := a.channel("Ops")
	path := "/alerts/channels/" + c.ID + "/test"
	button := `form[action="` + path + `"] button[data-check]`
	apptest.WantText(t, a.Get("/alerts/channels"), button+" .idle", "Test")
	apptest.WantText(t, a.Get("/alerts/channels"), button+" .busy", "Testing…")
	a.Sender.delivered, a.Sender.answer = true, hostile
	p := a.Post(path, nil)
	apptest.WantStatus(t, p, http.StatusOK)
	apptest.WantText(t, p, "#test-"+c.ID+" .state.ok strong", "Test message delivered.")
	apptest.WantText(t, p, "#test-"+c.ID+" .state.ok q", hostile)
	apptest.WantText(t, p, "tbody tr", "working")
	noSecret(t, p)
	a.Sender.delivered, a.Sender.answer = false, "Slack returned 404: no_service"
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
	r.Header.Set("HX-Request", "true")
	part := a.Browse(r) // the row of the channel; the parser drops its cells
	apptest.WantText(t, part, "#test-"+c.ID+" .state.dead", "Test message not delivered. Slack returned 404: no_service")
	apptest.WantText(t, part, ".health.failing", "failing")
	apptest.WantCount(t, part, "table, header, .failure", 0)
	if !strings.HasPrefix(strings.TrimSpace(part.HTML), `<tr id="`+c.ID+`"`) {
		t.Errorf("the part is %s", part.HTML)
	}
	apptest.WantText(t, a.Get("/alerts/channels"), "tbody tr", "Slack returned 404: no_service failing")
	a.Sender.err = models.Conflict("The stored URL cannot be decrypted.")
	p = a.Post(path, nil)
	apptest.WantText(t, p, ".state.dead", "The stored URL cannot be decrypted.")
	apptest.WantText(t, p, "tbody tr", "failing")
	a.Sender.err = &models.Error{Code: models.CodeBlocked, Detail: "The address is private."}
	apptest.WantText(t, a.Post(path, nil), ".state.dead", "Test message not delivered. The address is private.")
	*a.Sender = pageSender{}
	apptest.WantText(t, a.Post(path, nil), ".state.dead", "Test message not delivered. The service gave no reason.")
	a.Sender.err = errors.New("broken")
	apptest.WantStatus(t, a.Post(path, nil), http.StatusInternalServerError)
}

// A change of one part of the address of a service, such as its host, never keeps the credentials.
func TestPartsOfAnAddressKeepNoCredentials(t *testing.T) {
	a := newPagesApp(t)
	values := map[string]string{"from": "a@evil.test", "to": "b@evil.test", "host": "evil.test", "server": "https://evil.test", "chat": "@evil", "room": "#evil:evil.test", "channel": "C0123456789"}
	for _, s := range alerts.Services {
		before := alerts.Address{URL: s.Kind + "://user:" + secretText + "@host.test/" + secretText}
		c, err := a.Alerts.AddChannel(a.Context(), alerts.NewChannel{Name: s.Kind, Kind: s.Kind, Address: before})
		a.Must(err)
		form := url.Values{"name": {s.Kind}}
		for _, f := range s.Fields {
			if !f.Secret {
				form.Set(f.Name, values[f.Name])
			}
		}
		a.Post("/alerts/channels/"+c.ID, form)
		c, err = a.Alerts.Channel(a.Context(), c.ID)
		a.Must(err)
		if after, err := a.Alerts.Address(c); err != nil || after != before && strings.Contains(after.URL, secretText) {
			t.Errorf("%s: %+v, %v", s.Kind, after, err)
		}
	}
}
