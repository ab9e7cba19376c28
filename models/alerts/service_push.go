package alerts

import (
	"net/url"
	"strings"
)

func ntfyURL(v *values) string {
	if v.byName["server"] == "" {
		v.byName["server"] = "https://ntfy.sh"
	}
	u := v.serverURL("server")
	topic := strings.Trim(v.byName["topic"], "/")
	if topic == "" {
		v.invalid("topic", "must be a topic name such as alerts-7f3k2")
	}
	to := url.URL{Scheme: "ntfy", Host: u.Host, Path: u.Path + "/" + topic, RawQuery: query("priority", v.byName["priority"], "disabletls", disableTLS(u))}
	switch {
	case v.byName["token"] != "" && v.byName["user"]+v.byName["password"] != "":
		v.invalid("token", "cannot be combined with a user or password. Leave the token, or the user and password, blank")
	case v.byName["token"] != "":
		to.User = url.UserPassword("", v.byName["token"]) // ntfy accepts a token as the password of an empty user
	case v.byName["user"] == "" && v.byName["password"] != "":
		v.invalid("user", "is required with a password")
	case v.byName["user"] != "":
		to.User = url.UserPassword(v.byName["user"], v.byName["password"])
	}
	return to.String()
}

func gotifyURL(v *values) string {
	u := v.serverURL("server")
	token := strings.TrimSpace(v.byName["token"])
	if !gotifyToken.MatchString(token) {
		v.invalid("token", "must be an application token, which has 15 characters and starts with A")
	}
	// Send the token in a header, which keeps it out of the server's access log.
	to := url.URL{Scheme: "gotify", Host: u.Host, Path: u.Path + "/" + token, RawQuery: query("useheader", "yes", "disabletls", disableTLS(u))}
	return to.String()
}

func matrixURL(v *values) string {
	u := v.serverURL("server")
	if u.Path != "" {
		v.invalid("server", "must have no path after the host, as in https://matrix.example.com")
	}
	user, password := v.byName["user"], v.byName["password"]
	switch {
	case v.byName["token"] != "" && user+password != "":
		v.invalid("token", "cannot be combined with a user or password. Leave the token, or the user and password, blank")
	case v.byName["token"] != "":
		password = v.byName["token"]
	case user == "" || password == "":
		v.invalid("token", "is required, or a user and a password")
	}
	if !matrixRoom.MatchString(v.byName["room"]) {
		v.invalid("room", "must be an alias such as #alerts:example.com, or a room ID that starts with !")
	}
	to := url.URL{Scheme: "matrix", User: url.UserPassword(user, password), Host: u.Host, Path: "/",
		RawQuery: query("rooms", v.byName["room"], "disabletls", disableTLS(u))}
	return to.String()
}

func pagerdutyURL(v *values) string {
	key, host := strings.TrimSpace(v.byName["key"]), "events.pagerduty.com"
	if !pagerdutyKey.MatchString(key) {
		v.invalid("key", "must be an integration key, which has 32 digits and letters from a to f")
	}
	if v.byName["region"] == "eu" {
		host = "events.eu.pagerduty.com"
	}
	return "pagerduty://" + host + ":443/" + key
}

func pushoverURL(v *values) string {
	user, token := strings.TrimSpace(v.byName["user"]), strings.TrimSpace(v.byName["token"])
	if !pushoverKey.MatchString(user) {
		v.invalid("user", "must have 30 letters and digits")
	}
	if !pushoverKey.MatchString(token) {
		v.invalid("token", "must have 30 letters and digits")
	}
	devices := v.list("devices")
	u := url.URL{Scheme: "pushover", User: url.UserPassword("token", token), Host: user,
		RawQuery: query("devices", strings.Join(devices, ","), "priority", v.byName["priority"])}
	return u.String()
}

func opsgenieURL(v *values) string {
	key, host := strings.TrimSpace(v.byName["key"]), "api.opsgenie.com"
	if !opsgenieKey.MatchString(key) {
		v.invalid("key", "must be an API integration key such as 00000000-0000-0000-0000-000000000000")
	}
	if v.byName["region"] == "eu" {
		host = "api.eu.opsgenie.com"
	}
	u := url.URL{Scheme: "opsgenie", Host: host, Path: "/" + key, RawQuery: query("priority", v.byName["priority"])}
	return u.String()
}
