package send

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/generic"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/standard"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// genericService sends to a generic:// URL, which the library parses. The library's own service can also execute templates, which no
// URL can define. With code that executes templates, the linker keeps each exported method of each type in the program, because a
// template could call it. That is a third of the size of the program.
type genericService struct {
	standard.Standard
	config *generic.Config
}

// Initialize implements types.Service.
func (s *genericService) Initialize(u *url.URL, logger types.StdLogger) error {
	s.SetLogger(logger)
	s.config, _ = generic.DefaultConfig()
	return s.config.SetURL(u)
}

// GetID implements types.Service.
func (*genericService) GetID() string { return generic.Scheme }

// GetConfigURLFromCustom implements types.CustomURLService.
func (*genericService) GetConfigURLFromCustom(custom *url.URL) (*url.URL, error) {
	webhook := *custom
	webhook.Scheme = strings.TrimPrefix(webhook.Scheme, generic.Scheme+"+")
	config, _, err := generic.ConfigFromWebhookURL(webhook)
	if err != nil {
		return nil, err
	}
	return config.GetURL(), nil
}

// Send implements types.Sender. The body is the message, or JSON with the message and the parameters.
func (s *genericService) Send(message string, params *types.Params) error {
	body, contentType := []byte(message), "text/plain"
	headers, extra := customValues(s.config)
	switch s.config.Template {
	case "":
	case "json", generic.JSONTemplate:
		fields := types.Params{}
		for key, value := range *params {
			if key == types.TitleKey {
				key = s.config.TitleKey
			}
			fields[key] = value
		}
		fields[s.config.MessageKey] = message
		maps.Copy(fields, extra)
		var err error
		if body, err = json.Marshal(fields); err != nil {
			return err
		}
		contentType = s.config.ContentType
	default:
		return errors.New("unknown template")
	}
	r, err := http.NewRequest(s.config.RequestMethod, s.config.WebhookURL().String(), bytes.NewReader(body)) //nolint:noctx // as the services of the library; outbound.Relay ends it
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", contentType)
	for key, value := range headers {
		r.Header.Set(key, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the Relay has read it
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// customValues returns the headers (@name=value) and the additional JSON fields ($name=value) of a URL.
func customValues(config *generic.Config) (headers, extra map[string]string) {
	headers, extra = map[string]string{}, map[string]string{}
	for key, values := range config.GetURL().Query() {
		switch name := key[min(1, len(key)):]; {
		case name == "":
		case key[0] == generic.HeaderPrefixChar:
			headers[name] = values[0]
		case key[0] == generic.ExtraPrefixChar:
			extra[name] = values[0]
		}
	}
	return headers, extra
}
