package middleware

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
)

type subpathKey struct{}

// Subpath serves next below the path of PUBLIC_URL, such as /linkwatch. A request may have the path or not, because
// some proxies remove it. next sees URLs without it. Local URLs in response headers get it here. Pages get it by
// LocalURLs, and problems by Problem.For. Without a path, Subpath returns next.
func Subpath(publicURL string, next http.Handler) http.Handler {
	path := SubpathOf(publicURL)
	if path == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), subpathKey{}, path))
		if u := withoutSubpath(path, r.URL); u != r.URL {
			r.URL, r.RequestURI = u, u.RequestURI()
		}
		next.ServeHTTP(&subpathWriter{ResponseWriter: w, path: path}, r)
	})
}

// SubpathOf returns the path of PUBLIC_URL; "" = none.
func SubpathOf(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return u.Path
}

// subpath returns the path below which Subpath serves the request of ctx; "" = none.
func subpath(ctx context.Context) string {
	path, _ := ctx.Value(subpathKey{}).(string)
	return path
}

// withoutSubpath returns u without the path of PUBLIC_URL, or u itself if it does not start with that path.
func withoutSubpath(path string, u *url.URL) *url.URL {
	rest, ok := strings.CutPrefix(u.Path, path)
	raw, rawOK := strings.CutPrefix(u.RawPath, path)
	if path == "" || !ok || u.RawPath != "" && !rawOK || rest != "" && rest[0] != '/' {
		return u
	}
	short := *u
	short.Path, short.RawPath = rest, raw
	if rest == "" {
		short.Path = "/"
	}
	return &short
}

// urlAttributes are the attributes of pages with a URL. Their values can be local URLs.
var urlAttributes = map[string]bool{
	"action": true, "data-root": true, "data-stream": true, "href": true, "hx-get": true, "hx-post": true, "src": true,
}

// LocalURLs returns html with the path of PUBLIC_URL before all local URLs, such as "/links", if Subpath serves the
// request of ctx. html must escape quotes in texts and in values of attributes, as templ does.
func LocalURLs(ctx context.Context, html []byte) []byte {
	if path := subpath(ctx); path != "" {
		return below(path, html)
	}
	return html
}

// below returns html with path before all local URLs.
func below(path string, html []byte) []byte {
	out := make([]byte, 0, len(html)+len(html)/16)
	for {
		before, after, found := bytes.Cut(html, []byte(`="/`))
		out = append(out, before...)
		if !found {
			return out
		}
		out = append(out, `="`...)
		name := before[bytes.LastIndexAny(before, " \t\n")+1:]
		if urlAttributes[string(name)] && !bytes.HasPrefix(after, []byte("/")) { // "//host" is not local
			out = append(out, path...)
		}
		out = append(out, '/')
		html = after
	}
}

// subpathWriter puts path before the local URLs in the headers of a response, and in the link that http.Redirect
// writes.
type subpathWriter struct {
	http.ResponseWriter
	path      string
	sent      bool
	redirects bool
}

// WriteHeader implements http.ResponseWriter.
func (w *subpathWriter) WriteHeader(status int) {
	if !w.sent {
		w.sent, w.redirects = true, status >= http.StatusMultipleChoices && status < http.StatusBadRequest
		h := w.Header()
		for _, name := range []string{"Location", "HX-Redirect", "HX-Replace-Url"} {
			if to := h.Get(name); strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") {
				h.Set(name, w.path+to)
			}
		}
		if next, ok := strings.CutPrefix(h.Get("Link"), "</"); ok {
			h.Set("Link", "<"+w.path+"/"+next)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *subpathWriter) Write(b []byte) (int, error) {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	if w.redirects {
		_, err := w.ResponseWriter.Write(below(w.path, b))
		return len(b), err
	}
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher, for streams.
func (w *subpathWriter) Flush() {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // an error only says that the server cannot flush
}

// Unwrap is for http.ResponseController.
func (w *subpathWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
