package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/targets"
)

func (a *API) registerTargets() {
	register(a, operation(tagTargets, "GET", "/v1/targets", "list-targets", "List targets", "Oldest first."), a.listTargets)
	register(a, creates(operation(tagTargets, "POST", "/v1/targets", "add-target", "Watch a URL",
		"A URL that is watched already is answered with 200 and its target as it is. So is every later use of an "+
			"Idempotency-Key, whatever else it sends: keys are kept for 24 hours."), "Target"), a.addTarget)
	register(a, operation(tagTargets, "GET", "/v1/targets/{id}", "get-target", "A target", ""), a.getTarget)
	register(a, operation(tagTargets, "PATCH", "/v1/targets/{id}", "edit-target", "Change how a target is watched",
		"A JSON merge patch (RFC 7396): what is left out stays, also within expect, and null clears. "+
			"Pausing forgets whether the target was up; resuming has it checked at once."), a.editTarget)
	register(a, operation(tagTargets, "DELETE", "/v1/targets/{id}", "delete-target", "Stop watching a target",
		"POST /v1/targets/{id}/restore takes it back for a day."), a.deleteTarget)
	register(a, operation(tagTargets, "POST", "/v1/targets/{id}/restore", "restore-target", "Take a deleted target back",
		"With its history. 404 if it was not deleted, or more than a day ago; 409 if its URL is watched anew."), a.restoreTarget)
	check := operation(tagTargets, "POST", "/v1/targets/{id}/check", "check-target", "Check a target now",
		"Waits until the check is done, 25 seconds at most: later than that the answer is 202, and the check comes "+
			"as soon as it can. 409 while the target is paused, and while its host asked for a pause: then Retry-After says how long that lasts.")
	check.DefaultStatus = http.StatusAccepted // of the answer without a result
	check.Responses = map[string]*huma.Response{
		"200":     {Description: "OK", Content: content(jsonMedia, "CheckResult")},
		"202":     {Description: "It did not end in time"},
		"default": {Description: "Error", Content: content("application/problem+json", "Problem")},
	}
	register(a, check, a.checkTarget)
	check.Responses["202"].Content = nil // huma takes the result to be of this answer
}

// TargetPath names a target.
type TargetPath struct {
	ID string `path:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"The target's id"`
}

// Target is a watched URL on the wire (contract §4).
type Target struct {
	ID              string      `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Opaque; ids of newer targets sort after those of older ones"`
	URL             string      `json:"url" example:"https://example.com/" doc:"As it was given"`
	CanonicalURL    string      `json:"canonical_url" example:"https://example.com" doc:"The form by which duplicates are found"`
	Host            string      `json:"host" example:"example.com" doc:"In lower case, without port"`
	Name            string      `json:"name" example:"Shop" doc:"Empty: none was given"`
	IntervalSeconds int         `json:"interval_seconds" example:"60" doc:"Its own interval, else CHECK_INTERVAL in whole seconds. As a rule checks are never closer than CHECK_INTERVAL; the first gap may be shorter, since every target gets its own place in the interval"`
	Expect          Expect      `json:"expect"`
	Paused          bool        `json:"paused" example:"false"`
	CreatedAt       time.Time   `json:"created_at" example:"2025-03-24T12:00:00Z"`
	UpdatedAt       time.Time   `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"Of what the owner set; checks leave it"`
	Status          string      `json:"status" enum:"pending,up,down,paused" example:"up"`
	LastCheckedAt   *time.Time  `json:"last_checked_at" doc:"null: never"`
	LastStatusCode  *int        `json:"last_status_code" example:"200" doc:"null: no answer, or never checked"`
	LastLatencyMS   *int        `json:"last_latency_ms" example:"87" doc:"null: never checked"`
	LastError       *string     `json:"last_error" example:"unexpected status 404" doc:"null: the last check found it up, or never checked"`
	Failures        int         `json:"consecutive_failures" example:"0" doc:"Checks in a row that found it down"`
	NextCheckAt     *time.Time  `json:"next_check_at" doc:"null: paused"`
	TLSExpiresAt    *time.Time  `json:"tls_expires_at" doc:"When its certificate ends; null: it has none, or is not known"`
	Uptime          Uptime      `json:"uptime"`
	UptimeSince     UptimeSince `json:"uptime_since"`
}

// Expect is what an answer must be like for a target to be up.
type Expect struct {
	Status       string  `json:"status" example:"200-399" doc:"The statuses that count as up, as ranges. Redirects are followed, five at most, so it is about the final answer"`
	Keyword      *string `json:"keyword" example:"Add to cart" doc:"Stands in the body, in this casing; null: anything may"`
	Absent       *string `json:"keyword_absent" example:"Out of order" doc:"Does not stand in the body; null: anything may"`
	MaxLatencyMS *int    `json:"max_latency_ms" example:"2000" doc:"null: any"`
}

// Uptime is time known up ÷ time known, by range. A range counts whole hours or
// days in UTC, with the current one: 24h is this hour and the 23 before.
type Uptime struct {
	Last24h *float64 `json:"24h" example:"1" doc:"From 0 to 1; null: unknown. The state of a check lasts until the next one, but at most two intervals; paused and throttled time is unknown"`
	Last7d  *float64 `json:"7d" example:"0.9995" doc:"Today and the 6 days before"`
	Last30d *float64 `json:"30d" example:"0.9991" doc:"Today and the 29 days before"`
	Last90d *float64 `json:"90d" example:"0.9987" doc:"Today and the 89 days before"`
}

// UptimeSince is since when each Uptime counts, where the history does not fill
// the range.
type UptimeSince struct {
	Last24h *time.Time `json:"24h" doc:"null: the range is filled from its start, or its uptime is unknown"`
	Last7d  *time.Time `json:"7d" doc:"As 24h"`
	Last30d *time.Time `json:"30d" doc:"As 24h"`
	Last90d *time.Time `json:"90d" doc:"As 24h"`
}

func (a *API) toTarget(t targets.Target) Target {
	out := Target{
		ID: t.ID, URL: t.URL, CanonicalURL: t.CanonicalURL, Host: t.Host, Name: t.Name,
		IntervalSeconds: t.IntervalSeconds, Paused: t.Paused, CreatedAt: t.CreatedAt.Time, UpdatedAt: t.UpdatedAt.Time,
		Expect: Expect{
			Status: t.Expect.Statuses(), Keyword: orNull(t.Expect.Keyword),
			Absent: orNull(t.Expect.Absent), MaxLatencyMS: orNull(t.Expect.MaxLatencyMS),
		},
		Status: string(t.Status()), LastCheckedAt: toTime(t.LastCheckedAt), LastStatusCode: orNull(t.LastStatusCode),
		LastError: orNull(t.LastError), Failures: t.Failures,
		NextCheckAt: toTime(t.NextCheckAt), TLSExpiresAt: toTime(t.TLSExpiresAt),
		Uptime: Uptime{
			toRatio(t.Uptime[targets.Last24h]), toRatio(t.Uptime[targets.Last7d]),
			toRatio(t.Uptime[targets.Last30d]), toRatio(t.Uptime[targets.Last90d]),
		},
		UptimeSince: UptimeSince{
			toSince(t, targets.Last24h), toSince(t, targets.Last7d), toSince(t, targets.Last30d), toSince(t, targets.Last90d),
		},
	}
	if out.IntervalSeconds == 0 {
		out.IntervalSeconds = int(math.Ceil(a.Targets.Options().CheckInterval.Seconds()))
	}
	if out.LastCheckedAt != nil {
		out.LastLatencyMS = &t.LastLatencyMS
	}
	return out
}

func toSince(t targets.Target, r targets.Range) *time.Time {
	return toTime(r.CountsSince(t.Uptime[r], t.AsOf))
}

// toRatio is null if no time is known.
func toRatio(s targets.Share) *float64 {
	ratio, ok := s.Ratio()
	if !ok {
		return nil
	}
	return &ratio
}

type listTargetsInput struct {
	SliceParams
	Host   string `query:"host" example:"example.com" doc:"The whole host, in any case; with a port only the targets at that port; at most 512 bytes"`
	Status string `query:"status" example:"down" doc:"pending, up, down or paused"`
	Text   string `query:"q" example:"shop" doc:"Part of the name or the address, in any case; at most 512 bytes"`
}

func (a *API) listTargets(ctx context.Context, in *listTargetsInput) (*output[Slice[Target]], error) {
	status, err := targets.ParseStatus(in.Status)
	if err != nil {
		return nil, err
	}
	after, limit, err := in.cursor()
	if err != nil {
		return nil, err
	}
	l, err := a.Targets.List(ctx, targets.Filter{Host: in.Host, Status: status, Text: in.Text}, after, limit)
	return answerSlice(l, a.toTarget, err)
}

// TargetSettings are what the owner of a target sets.
type TargetSettings struct {
	Name            member[string]        `json:"name,omitempty" example:"Shop" doc:"At most 200 characters"`
	IntervalSeconds member[int]           `json:"interval_seconds,omitempty" minimum:"1" maximum:"2592000" example:"60" doc:"null: CHECK_INTERVAL, which is also the least that counts"`
	Expect          member[expectChanges] `json:"expect,omitempty" doc:"What an answer must be like for the target to be up; all of it has to hold"`
}

type expectChanges struct {
	Status       member[string] `json:"status,omitempty" example:"200-299,404" doc:"Statuses from 100 to 599, of the final answer: redirects are followed, five at most; default 200-399"`
	Keyword      member[string] `json:"keyword,omitempty" example:"Add to cart" doc:"Must stand in the body, in this casing; at most 200 characters"`
	Absent       member[string] `json:"keyword_absent,omitempty" example:"Out of order" doc:"Must not stand in the body; at most 200 characters"`
	MaxLatencyMS member[int]    `json:"max_latency_ms,omitempty" minimum:"1" maximum:"300000" example:"2000" doc:"Until the answer begins"`
}

// apply is e with what was given.
func (c expectChanges) apply(e targets.Expect) targets.Expect {
	c.Status.set(&e.Status)
	c.Keyword.set(&e.Keyword)
	c.Absent.set(&e.Absent)
	c.MaxLatencyMS.set(&e.MaxLatencyMS)
	return e
}

type addTargetInput struct {
	Key  string `header:"Idempotency-Key" example:"8e03978e-40d5-43dd-bc93-6894a57f9324" doc:"1 to 255 visible ASCII characters, made anew for each target: makes it safe to send the request again"`
	Body struct {
		URL string `json:"url" example:"https://example.com/" doc:"http or https, at most 2048 bytes"`
		TargetSettings
	}
}

type addTargetOutput struct {
	Status   int
	Location string `header:"Location" doc:"The target's address here"`
	Body     Target
}

func (a *API) addTarget(ctx context.Context, in *addTargetInput) (*addTargetOutput, error) {
	t, created, err := a.Targets.Add(ctx, targets.New{
		URL: in.Body.URL, Name: in.Body.Name.value, IntervalSeconds: in.Body.IntervalSeconds.value,
		Expect: in.Body.Expect.value.apply(targets.Expect{}), Key: in.Key,
	})
	if err != nil {
		return nil, err
	}
	out := &addTargetOutput{Status: http.StatusOK, Location: "/v1/targets/" + t.ID, Body: a.toTarget(t)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (a *API) getTarget(ctx context.Context, in *TargetPath) (*output[Target], error) {
	t, err := a.Targets.Get(ctx, in.ID)
	return answer(a.toTarget(t), err)
}

type editTargetInput struct {
	TargetPath
	Body struct {
		TargetSettings
		Paused member[bool] `json:"paused,omitempty" nullable:"false" doc:"true stops the checks, false resumes them"`
	}
}

func (a *API) editTarget(ctx context.Context, in *editTargetInput) (*output[Target], error) {
	if in.Body.Paused.null {
		return nil, models.Invalid("paused", "must be true or false")
	}
	e := targets.Edit{
		Name: in.Body.Name.pointer(), IntervalSeconds: in.Body.IntervalSeconds.pointer(), Paused: in.Body.Paused.pointer(),
	}
	if expect := in.Body.Expect; expect.null {
		e.Expect = func(targets.Expect) targets.Expect { return targets.Expect{} }
	} else if expect.given {
		e.Expect = expect.value.apply
	}
	t, err := a.Targets.Edit(ctx, in.ID, e)
	return answer(a.toTarget(t), err)
}

func (a *API) deleteTarget(ctx context.Context, in *TargetPath) (*struct{}, error) {
	return nil, a.Targets.Delete(ctx, in.ID)
}

func (a *API) restoreTarget(ctx context.Context, in *TargetPath) (*output[Target], error) {
	t, err := a.Targets.Restore(ctx, in.ID)
	return answer(a.toTarget(t), err)
}

// checkPatience is how long POST …/check waits. It lies well below what servers
// and proxies allow an answer to take.
const checkPatience = 25 * time.Second

type checkOutput struct {
	Status int
	Body   CheckResult
}

func (a *API) checkTarget(ctx context.Context, in *TargetPath) (*checkOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with this function
		select {
		case <-a.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	r, done, err := a.Targets.CheckNow(ctx, in.ID, checkPatience)
	if err != nil || !done {
		return nil, err // nil, nil is the 202
	}
	return &checkOutput{http.StatusOK, toResult(r)}, nil
}
