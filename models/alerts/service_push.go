package alerts

import (
	"net/url"
	"strings"
)

func ntfyURL(v values) (string, error) {
	if v.of["server"] == "" {
		v.of["server"] = "https://ntfy.sh"
	}
	u, err := v.server("server")
	if err != nil {
		return "", err
	}
	topic := strings.Trim(v.of["topic"], "/")
	if topic == "" {
		return "", v.invalid("topic", "must be the name of a topic, such as alerts-7f3k2")
	}
	to := url.URL{Scheme: "ntfy", Host: u.Host, Path: u.Path + "/" + topic, RawQuery: query("priority", v.of["priority"], "disabletls", plain(u))}
	switch {
	case v.of["token"] != "" && v.of["user"]+v.of["password"] != "":
		return "", v.invalid("token", "cannot be used beside a user or a password; leave it or both of them blank")
	case v.of["token"] != "":
		to.User = url.UserPassword("", v.of["token"]) // ntfy takes a token as the password of no user
	case v.of["user"] == "" && v.of["password"] != "":
		return "", v.invalid("user", "is missing; give the user of the password")
	case v.of["user"] != "":
		to.User = url.UserPassword(v.of["user"], v.of["password"])
	}
	return to.String(), nil
}

func gotifyURL(v values) (string, error) {
	u, err := v.server("server")
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(v.of["token"])
	if !gotifyToken.MatchString(token) {
		return "", v.invalid("token", "must be the token of an application: 15 characters that begin with A")
	}
	// In a header the token stays out of the server's log.
	to := url.URL{Scheme: "gotify", Host: u.Host, Path: u.Path + "/" + token, RawQuery: query("useheader", "yes", "disabletls", plain(u))}
	return to.String(), nil
}

func matrixURL(v values) (string, error) {
	u, err := v.server("server")
	if err != nil {
		return "", err
	}
	if u.Path != "" {
		return "", v.invalid("server", "must have no path after the host, as in https://matrix.example.com")
	}
	user, password := v.of["user"], v.of["password"]
	switch {
	case v.of["token"] != "" && user+password != "":
		return "", v.invalid("token", "cannot be used beside a user or a password; leave it or both of them blank")
	case v.of["token"] != "":
		password = v.of["token"]
	case user == "" || password == "":
		return "", v.invalid("token", "is missing; give it, or a user and a password")
	}
	rooms, err := v.list("rooms")
	if err != nil {
		return "", err
	}
	for _, room := range rooms {
		if !matrixRoom.MatchString(room) {
			return "", v.invalid("rooms", "must be aliases such as #alerts:example.com, or room ids that begin with !")
		}
	}
	if len(rooms) == 0 {
		return "", v.invalid("rooms", "is missing")
	}
	to := url.URL{Scheme: "matrix", User: url.UserPassword(user, password), Host: u.Host, Path: "/",
		RawQuery: query("rooms", strings.Join(rooms, ","), "disabletls", plain(u))}
	return to.String(), nil
}

func pagerdutyURL(v values) (string, error) {
	key, host := strings.TrimSpace(v.of["key"]), "events.pagerduty.com"
	if !pagerdutyKey.MatchString(key) {
		return "", v.invalid("key", "must be an integration key: 32 digits and letters from a to f")
	}
	if v.of["region"] == "eu" {
		host = "events.eu.pagerduty.com"
	}
	return "pagerduty://" + host + ":443/" + key, nil
}

func pushoverURL(v values) (string, error) {
	user, token := strings.TrimSpace(v.of["user"]), strings.TrimSpace(v.of["token"])
	if !pushoverKey.MatchString(user) {
		return "", v.invalid("user", "must be a key of 30 letters and digits")
	}
	if !pushoverKey.MatchString(token) {
		return "", v.invalid("token", "must be a token of 30 letters and digits")
	}
	devices, err := v.list("devices")
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "pushover", User: url.UserPassword("token", token), Host: user,
		RawQuery: query("devices", strings.Join(devices, ","), "priority", v.of["priority"])}
	return u.String(), nil
}

func opsgenieURL(v values) (string, error) {
	key, host := strings.TrimSpace(v.of["key"]), "api.opsgenie.com"
	if !opsgenieKey.MatchString(key) {
		return "", v.invalid("key", "must be the key of an API integration, such as 00000000-0000-0000-0000-000000000000")
	}
	if v.of["region"] == "eu" {
		host = "api.eu.opsgenie.com"
	}
	u := url.URL{Scheme: "opsgenie", Host: host, Path: "/" + key, RawQuery: query("priority", v.of["priority"])}
	return u.String(), nil
}
