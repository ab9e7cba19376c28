package targets

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"linkwatch/models"
)

// Limits of an expectation.
const (
	DefaultStatuses = "200-399" // if Expect.Status is ""
	MaxKeyword      = 200       // runes
	MaxLatency      = 300_000   // milliseconds
	maxRanges       = 20
)

// Expect is the conditions that a response must meet for the target to be up. All must
// hold. The zero value requires DefaultStatuses only.
type Expect struct {
	Status        string `gorm:"column:status"`     // ranges such as "200-299,404"; "" = DefaultStatuses
	Keyword       string `gorm:"column:keyword"`    // the body contains it, matching case; "" = no condition
	KeywordAbsent string `gorm:"column:absent"`     // the body does not contain it; "" = no condition
	MaxLatencyMS  int    `gorm:"column:latency_ms"` // milliseconds; 0 = no limit
}

// Statuses returns the ranges of statuses that count as up.
func (e Expect) Statuses() string {
	if e.Status == "" {
		return DefaultStatuses
	}
	return e.Status
}

// NeedsBody reports whether a condition is about the body.
func (e Expect) NeedsBody() bool { return e.Keyword != "" || e.KeywordAbsent != "" }

// validate returns e in its stored form. location is the prefix of fields in errors,
// which are CodeInvalid.
func (e Expect) validate(location string) (Expect, error) {
	ranges, wrong := parseStatuses(location+".status", e.Status)
	errs := []error{wrong}
	var parts []string
	for _, r := range ranges {
		if r.from == r.to {
			parts = append(parts, strconv.Itoa(r.from))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.from, r.to))
		}
	}
	if e.Status = strings.Join(parts, ","); e.Status == DefaultStatuses {
		e.Status = ""
	}
	for _, word := range []struct{ name, text string }{{".keyword", e.Keyword}, {".keyword_absent", e.KeywordAbsent}} {
		if models.CleanText(word.text) != strings.TrimSpace(word.text) {
			errs = append(errs, models.Invalid(location+word.name, "must not contain control characters"))
		}
		if models.Runes(word.text) > MaxKeyword {
			errs = append(errs, models.TooLong(location+word.name, MaxKeyword, "characters"))
		}
	}
	e.Keyword, e.KeywordAbsent = strings.TrimSpace(e.Keyword), strings.TrimSpace(e.KeywordAbsent)
	if e.MaxLatencyMS < 0 || e.MaxLatencyMS > MaxLatency {
		errs = append(errs, models.OutOfRange(location+".max_latency_ms", "milliseconds", 1, MaxLatency))
	}
	return e, models.Invalids(errs...)
}

type statusRange struct{ from, to int }

// parseStatuses parses ranges such as "200-399" or "200,204,300-308".
func parseStatuses(location, s string) ([]statusRange, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	bad := models.Invalid(location, "must be statuses from 100 to 599 such as 200-399 or 200,204,301-308, at most %d parts", maxRanges)
	parts := strings.Split(s, ",")
	if len(parts) > maxRanges {
		return nil, bad
	}
	ranges := make([]statusRange, len(parts))
	for i, part := range parts {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		var ok, ok2 bool
		ranges[i].from, ok = parseStatusCode(from)
		ranges[i].to, ok2 = parseStatusCode(to)
		if !ok || !ok2 || ranges[i].from > ranges[i].to {
			return nil, bad
		}
	}
	return ranges, nil
}

func parseStatusCode(s string) (int, bool) {
	s = strings.TrimSpace(s)
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) == 3 && n >= 100 && n <= 599
}

// allowsStatus reports whether a status counts as up.
func (e Expect) allowsStatus(status int) bool {
	if e.Status == "" { // DefaultStatuses, as in most targets
		return status >= 200 && status <= 399
	}
	ranges, err := parseStatuses("", e.Statuses())
	if err != nil { // impossible: stored values are valid
		return false
	}
	for _, r := range ranges {
		if status >= r.from && status <= r.to {
			return true
		}
	}
	return false
}

// Evaluate returns the outcome of a response. problem is a short, stable text that is
// stored: "unexpected status 404"; "" if the outcome is UpOutcome.
func (e Expect) Evaluate(r Response) (outcome Outcome, problem string) {
	switch {
	case r.Error != "":
		return DownOutcome, r.Error
	case !e.allowsStatus(r.StatusCode) && r.StatusCode == http.StatusTooManyRequests:
		return ThrottledOutcome, "throttled: status 429"
	case !e.allowsStatus(r.StatusCode):
		return DownOutcome, "unexpected status " + strconv.Itoa(r.StatusCode)
	case r.Truncated:
		return DownOutcome, "the body is too long"
	case e.Keyword != "" && !bytes.Contains(r.Body, []byte(e.Keyword)):
		return DownOutcome, "keyword not found"
	case e.KeywordAbsent != "" && bytes.Contains(r.Body, []byte(e.KeywordAbsent)):
		return DownOutcome, "unwanted keyword found"
	case e.MaxLatencyMS > 0 && r.Latency.Milliseconds() > int64(e.MaxLatencyMS):
		return DownOutcome, fmt.Sprintf("slower than %d ms", e.MaxLatencyMS)
	}
	return UpOutcome, ""
}
