package standin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
)

// Fault responds to a request instead of the service. serve is the normal response.
type Fault func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter))

// Fail queues faults for the next requests of a service, one per request. nil is a normal response.
func (s *Server) Fail(service string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[service] = append(s.faults[service], faults...)
}

// Times repeats a fault.
func Times(n int, f Fault) []Fault {
	out := make([]Fault, n)
	for i := range out {
		out[i] = f
	}
	return out
}

// Answer is a response with a body and headers, given as names and values.
func Answer(status int, body string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// APIError is an error in the format of Google's APIs. reason is for the older part of the format, details for the newer.
func APIError(status int, message, reason string, details ...map[string]any) Fault {
	e := map[string]any{"code": status, "message": message, "status": statusNames[status]}
	if reason != "" {
		e["errors"] = []any{map[string]any{"message": message, "domain": "global", "reason": reason}}
	}
	if len(details) > 0 {
		e["details"] = details
	}
	b, err := json.Marshal(map[string]any{"error": e})
	if err != nil {
		panic(err)
	}
	return Answer(status, string(b), "Content-Type", "application/json; charset=UTF-8")
}

var statusNames = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}

func info(reason string, metadata map[string]string) map[string]any {
	return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com", "metadata": metadata}
}

// NotOwner is the response of the Indexing API for a page of another owner.
func NotOwner() Fault {
	return APIError(403, "Permission denied. Failed to verify the URL ownership.", "")
}

// NoPermission is the response of Search Console for a property of another owner.
func NoPermission(property string) Fault {
	return APIError(403, "User does not have sufficient permission for site '"+property+"'. See also: https://support.google.com/webmasters/answer/2451999.", "forbidden")
}

// Disabled is the response of an API that is not enabled, such as "indexing.googleapis.com".
func Disabled(host string) Fault {
	return APIError(403, "The API has not been used in project 123456789 before or it is disabled.", "accessNotConfigured",
		info("SERVICE_DISABLED", map[string]string{"service": host, "consumer": "projects/123456789"}))
}

// DailyLimit is the response when the daily quota is used up.
func DailyLimit() Fault {
	return APIError(429, "Quota exceeded for quota metric 'Publish requests' and limit 'Publish requests per day' of service 'indexing.googleapis.com' for consumer 'project_number:123456789'.",
		"rateLimitExceeded", info("RATE_LIMIT_EXCEEDED", map[string]string{"quota_limit": "PublishRequestsPerDayPerProject", "quota_unit": "1/d/{project}"}))
}

// MinuteLimit is the response when the quota per minute is used up. seconds > 0 sets Retry-After.
func MinuteLimit(seconds int) Fault {
	f := APIError(429, "Quota exceeded for quota metric 'All requests' and limit 'All requests per minute'.",
		"rateLimitExceeded", info("RATE_LIMIT_EXCEEDED", map[string]string{"quota_limit": "RequestsPerMinutePerProject", "quota_unit": "1/min/{project}"}))
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) {
		if seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
		f(w, r, serve)
	}
}

// OldLimit is the older response for a used-up quota, a 403.
func OldLimit() Fault {
	return APIError(403, "Quota Exceeded", "quotaExceeded")
}

// Internal is a 500 response.
func Internal() Fault { return APIError(500, "Internal error encountered.", "backendError") }

// Garbage is a 200 response that is not JSON.
func Garbage() Fault {
	return Answer(200, "<html>Welcome to the Wi-Fi</html>", "Content-Type", "text/html")
}

// TokenError is an error response of the token endpoint.
func TokenError(status int, code, description string) Fault {
	b, err := json.Marshal(map[string]string{"error": code, "error_description": description})
	if err != nil {
		panic(err)
	}
	return Answer(status, string(b), "Content-Type", "application/json; charset=utf-8")
}

// Slow responds normally once release is closed, or never if the client disconnects first. nil is never closed.
func Slow(release <-chan struct{}) Fault {
	return After(release, func(w http.ResponseWriter, _ *http.Request, serve func(http.ResponseWriter)) { serve(w) })
}

// After is a fault that waits until release is closed or the client disconnects.
func After(release <-chan struct{}, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) {
		select {
		case <-release:
			f(w, r, serve)
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
}

// Lost processes the request and closes the connection without a response.
func Lost() Fault {
	return func(_ http.ResponseWriter, _ *http.Request, serve func(http.ResponseWriter)) {
		serve(httptest.NewRecorder())
		panic(http.ErrAbortHandler)
	}
}

// Cut is a 200 response with an incomplete body.
func Cut() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"urlNotificationMetadata":`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}
