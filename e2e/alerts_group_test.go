//go:build e2e

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"linkwatch/models/alerts"
	"linkwatch/models/modelstest"
)

// inbox is a server that receives messages.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
}

func receive(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{}
	in.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.bodies = append(in.bodies, body)
	}))
	t.Cleanup(in.Close)
	return in
}

// texts returns the messages so far.
func (in *inbox) texts() (all []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, b := range in.bodies {
		all = append(all, string(b))
	}
	return all
}

// messages returns the webhook messages so far.
func (in *inbox) messages(t *testing.T) (all []alerts.Notification) {
	t.Helper()
	for _, text := range in.texts() {
		var n alerts.Notification
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// states are the subjects of a message by name: "new", "down" or "recovered".
func states(n alerts.Notification) map[string]string {
	all := map[string]string{}
	for _, s := range n.Subjects {
		all[s.Name] = s.State
	}
	return all
}

// message waits for a message of an event that gives these subjects these states.
func (in *inbox) message(t *testing.T, event string, want map[string]string) (found alerts.Notification) {
	t.Helper()
	modelstest.Eventually(t, event+" arrives", func() bool {
		for _, n := range in.messages(t) {
			got, all := states(n), n.Event == event && len(n.Subjects) == len(want)
			for name, state := range want {
				all = all && got[name] == state
			}
			if all {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

// cause returns the cause of a subject of a message.
func cause(n alerts.Notification, name string) string {
	for _, s := range n.Subjects {
		if s.Name == name {
			return s.Cause
		}
	}
	return ""
}

// hang answers when the client has given up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func (s *Server) rule(channels ...string) {
	s.t.Helper()
	rule := map[string]any{"name": "all", "events": []string{"target.down", "target.up"}, "channels": channels}
	if status := s.Call("POST", "/v1/alert-rules", rule, nil); status != http.StatusCreated {
		s.t.Fatalf("add rule: status %d", status)
	}
}

func (s *Server) channel(body map[string]any) (id string) {
	s.t.Helper()
	var channel struct{ ID string }
	if status := s.Call("POST", "/v1/channels", body, &channel); status != http.StatusCreated {
		s.t.Fatalf("add channel: status %d", status)
	}
	return channel.ID
}

// watch adds a target for each path of a site that begins with a name.
func (s *Server) watch(web *website, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.addTargetAs(map[string]any{"url": web.set("/"+name, status(200)), "name": name})
	}
	modelstest.Eventually(s.t, "all targets are up", func() bool {
		all, _ := listed[target](s, "/v1/targets")
		return !slices.ContainsFunc(all, func(t target) bool { return t.Status != "up" })
	})
}

// Servers on several ports fail, hang and recover. Each has its own messages, which say what is new, down and recovered. The page behind the
// link of a message acknowledges some targets, then all.
func TestOutagesAreGroupedByHostAndPort(t *testing.T) {
	t.Parallel()
	shop, api, slow, hook, chat := site(t), site(t), site(t), receive(t), receive(t)
	s := Start(t, "CHECK_INTERVAL=500ms", "HTTP_TIMEOUT=1s", "PUBLIC_URL=http://linkwatch.test")
	s.watch(shop, "cart", "pay", "ship")
	s.watch(api, "users")
	s.watch(slow, "reports")
	s.rule(s.channel(map[string]any{"name": "hook", "kind": "webhook", "url": hook.URL}))
	s.rule(s.channel(map[string]any{"name": "chat", "url": "generic+" + chat.URL + "?template=json"}))

	shop.set("/cart", status(404))
	api.set("/users", status(410))
	slow.set("/reports", hang)
	down := hook.message(t, "target.down", map[string]string{"cart": "new"})
	users := hook.message(t, "target.down", map[string]string{"users": "new"})
	reports := hook.message(t, "target.down", map[string]string{"reports": "new"})
	if down.ID == users.ID || down.ID == reports.ID || users.ID == reports.ID {
		t.Error("outages on several ports are one alert")
	}
	for n, want := range map[*alerts.Notification]string{&down: "unexpected status 404", &users: "unexpected status 410", &reports: "timed out"} {
		if got := n.Subjects[0].Cause; !strings.Contains(got, want) || n.Subject.ID != n.Subjects[0].ID {
			t.Errorf("the cause is %q, want %q: %+v", got, want, n)
		}
	}
	shop.set("/pay", status(403))
	worse := hook.message(t, "target.down", map[string]string{"cart": "down", "pay": "new"})
	if worse.ID != down.ID || worse.Subject.Name != "pay" || cause(worse, "pay") != "unexpected status 403" || cause(worse, "cart") != "unexpected status 404" {
		t.Errorf("%+v", worse)
	}

	api.set("/users", status(200))
	if up := hook.message(t, "target.up", map[string]string{"users": "recovered"}); up.Ends == nil || *up.Ends != users.ID {
		t.Errorf("%+v", up)
	}
	shop.set("/cart", status(200))
	part := hook.message(t, "target.up", map[string]string{"cart": "recovered", "pay": "down"})
	if part.Ends != nil || part.PartOf == nil || *part.PartOf != down.ID {
		t.Errorf("%+v", part)
	}
	shop.set("/ship", status(402))
	hook.message(t, "target.down", map[string]string{"cart": "recovered", "pay": "down", "ship": "new"})

	manage := manageLink(t, chat, down.ID)
	page := getText(t, s.URL+manage)
	for _, text := range []string{"pay", "Unexpected status 403", "ship", "Unexpected status 402", "Recovered", "Acknowledge selected"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	at, key, _ := strings.Cut(manage, "?key=")
	acknowledge := func(form url.Values) alerts.Notification {
		t.Helper()
		form.Set("key", key)
		res, err := http.PostForm(s.URL+at, form)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		var a alerts.Notification
		s.Call("GET", "/v1/alerts/"+down.ID, nil, &a)
		return a
	}
	var pay string
	for _, sub := range worse.Subjects {
		if sub.Name == "pay" {
			pay = sub.ID
		}
	}
	some := acknowledge(url.Values{"action": {"acknowledge_selected"}, "subjects": {pay}})
	for _, sub := range some.Subjects {
		if acknowledged := sub.AcknowledgedAt != nil; acknowledged != (sub.Name == "pay") {
			t.Errorf("%s: acknowledged %v", sub.Name, acknowledged)
		}
	}
	if some.AcknowledgedAt != nil {
		t.Error("the alert is acknowledged")
	}
	if all := acknowledge(url.Values{"action": {"acknowledge"}}); all.AcknowledgedAt == nil {
		t.Error("the alert is not acknowledged")
	}

	for _, name := range []string{"pay", "ship"} {
		shop.set("/"+name, status(200))
	}
	modelstest.Eventually(t, "the last recovery is sent", func() bool {
		return slices.ContainsFunc(hook.messages(t), func(n alerts.Notification) bool { return n.Ends != nil && *n.Ends == down.ID })
	})
	recoveriesOfOutages(t, hook.messages(t))
}

// An acknowledged alert is sent again only when a target fails that was not in it. Three rules with one channel, one of them added during the
// outage, send each change once.
func TestAcknowledgedAlertIsSilent(t *testing.T) {
	t.Parallel()
	shop, hook := site(t), receive(t)
	s := Start(t, "CHECK_INTERVAL=500ms")
	s.watch(shop, "cart", "pay", "ship")
	to := s.channel(map[string]any{"name": "hook", "kind": "webhook", "url": hook.URL})
	s.rule(to)
	s.rule(to)
	shop.set("/cart", status(404))
	id := hook.message(t, "target.down", map[string]string{"cart": "new"}).ID
	shop.set("/pay", status(404))
	hook.message(t, "target.down", map[string]string{"cart": "down", "pay": "new"})
	if status := s.Call("POST", "/v1/alerts/"+id+"/acknowledge", nil, nil); status != http.StatusOK {
		t.Fatalf("acknowledge: status %d", status)
	}
	shop.set("/cart", status(200))
	hook.message(t, "target.up", map[string]string{"cart": "recovered", "pay": "down"})
	shop.set("/cart", status(404))
	s.rule(to)
	modelstest.Eventually(t, "cart is down again", func() bool {
		var a alerts.Notification
		s.Call("GET", "/v1/alerts/"+id, nil, &a)
		return states(a)["cart"] == "down"
	})
	sent := len(hook.messages(t))
	shop.set("/ship", status(404))
	hook.message(t, "target.down", map[string]string{"cart": "down", "pay": "down", "ship": "new"})
	if got := hook.messages(t); len(got) != sent+1 {
		t.Errorf("%d messages, want 1: %+v", len(got)-sent, got[sent:])
	}
	for _, name := range []string{"cart", "pay", "ship"} {
		shop.set("/"+name, status(200))
	}
	modelstest.Eventually(t, "all alerts are resolved", func() bool {
		var firing struct{ Items []alerts.Notification }
		s.Call("GET", "/v1/alerts?state=firing", nil, &firing)
		return len(firing.Items) == 0
	})
	modelstest.Eventually(t, "the recoveries are sent", func() bool {
		told := map[string]bool{}
		for _, n := range hook.messages(t) {
			for name, state := range states(n) {
				told[name] = told[name] || state == "recovered"
			}
		}
		return told["pay"] && told["ship"]
	})
	recoveriesOfOutages(t, hook.messages(t))
}

// recoveriesOfOutages checks that each target that a message calls recovered was sent as new before, and that no message is sent without news.
func recoveriesOfOutages(t *testing.T, all []alerts.Notification) {
	t.Helper()
	down := map[string]bool{}
	for _, n := range all {
		news := false
		for name, state := range states(n) {
			switch {
			case state == "new":
				if down[name] {
					t.Errorf("%s is new twice: %+v", name, n)
				}
				down[name], news = true, true
			case state == "down":
				down[name] = true
			case n.Event == "target.up" && state == "recovered":
				if !down[name] {
					t.Errorf("%s recovered, but was not down: %+v", name, n)
				}
				down[name], news = false, true
			}
		}
		if !news {
			t.Errorf("a message without news: %+v", n)
		}
	}
}

var manageURL = regexp.MustCompile(`http://linkwatch\.test(/alerts/v_[0-9A-Za-z]+/manage\?key=[^\s"\\]+)`)

// manageLink returns the path of the signed link to an alert in the messages.
func manageLink(t *testing.T, in *inbox, id string) (path string) {
	t.Helper()
	modelstest.Eventually(t, "a message has a link", func() bool {
		for _, text := range in.texts() {
			if found := manageURL.FindStringSubmatch(text); found != nil && strings.Contains(found[1], id) {
				path = found[1]
			}
		}
		return path != ""
	})
	return path
}

func getText(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", address, res.StatusCode, err)
	}
	return string(body)
}
