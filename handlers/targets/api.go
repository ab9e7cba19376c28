package targets

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/targets"
)

func (a API) registerTargets(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupTargets, middleware.Viewer, "GET", "/v1/targets", "list-targets", "List targets", "Oldest first."), targets.ListOrders.Fields()...), a.listTargets)
	api.Register(r, api.Creates(api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets", "add-target", "Add a target",
		"If the URL already has a target that is shared or your own, the response is 200 with that target, unchanged. The same is true if the account "+
			"used the Idempotency-Key before, even with another body. Keys expire after 24 hours.", models.CodeConflict), "Target"), a.addTarget)
	api.Register(r, api.Item(api.Operation(groupTargets, middleware.Viewer, "GET", "/v1/targets/{id}", "get-target", "Get a target", "Returns its settings, status and uptime.", models.CodeNotFound),
		"id", "url", "name", "interval_seconds", "expect", "paused", "private"), a.getTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "PATCH", "/v1/targets/{id}", "edit-target", "Edit a target",
		"A JSON merge patch (RFC 7396). Omitted members do not change, also within expect, and null clears a member. "+
			"Pausing a target resets its state. A resumed target is checked at once, or when its Retry-After ends. "+
			"409 if private changes and the URL already has another target that is shared, or private to the same owner.", models.CodeNotFound, models.CodeConflict), a.editTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "DELETE", "/v1/targets/{id}", "delete-target", "Delete a target",
		"It can be restored within a day with POST /v1/targets/{id}/restore.", models.CodeNotFound), a.deleteTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets/{id}/restore", "restore-target", "Restore a deleted target",
		"Restores its history too. 404 if it was not deleted, or more than a day ago. 409 if another target has its URL now.",
		models.CodeNotFound, models.CodeConflict), a.restoreTarget)
	check := api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets/{id}/check", "check-target", "Check a target now",
		"The check precedes all others of its host and port that wait. "+
			"Waits up to 25 seconds for the result. After that the response is 202, and the check still runs. "+
			"409 if the target is paused, or its last response was a 429 or 503 whose Retry-After has not ended. Retry-After is then the time until it ends.",
		models.CodeNotFound, models.CodeConflict)
	check.DefaultStatus = http.StatusAccepted // without a result
	check.Responses = map[string]*huma.Response{
		"200": {Description: "Result of the check", Content: api.Content(api.JSONMedia, "CheckResult")},
		"202": {Description: "The check is still running after 25 seconds"},
	}
	api.Register(r, check, a.checkTarget)
	check.Responses["202"].Content = nil // huma adds the schema of the result, but this response has no body
}

// TargetPath is the path parameter of a target.
type TargetPath struct {
	ID string `path:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target"`
}

// Target is a target in the API.
type Target struct {
	ID              string      `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target. Ids sort by creation time"`
	URL             string      `json:"url" example:"https://example.com/" doc:"URL as entered"`
	CanonicalURL    string      `json:"canonical_url" example:"https://example.com" doc:"Canonical form of the URL. It is unique among shared targets and among the private targets of an account"`
	Host            string      `json:"host" example:"example.com" doc:"Host of the URL, in lower case and without port"`
	Name            string      `json:"name" example:"Shop" doc:"Name. Empty if there is none"`
	IntervalSeconds int         `json:"interval_seconds" example:"60" doc:"Time between checks, in seconds. CHECK_INTERVAL is the default and the minimum. The first interval can be shorter because checks are spread evenly"`
	Expect          Expect      `json:"expect" doc:"Conditions that a response must meet for the target to be up"`
	Paused          bool        `json:"paused" example:"false" doc:"Whether checks are paused"`
	Owner           string      `json:"owner" example:"alice" doc:"Account or credential that added it. system if sign-in was not required"`
	Private         bool        `json:"private" example:"false" doc:"Whether only its owner and admins see it"`
	CreatedAt       time.Time   `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the target was created"`
	UpdatedAt       time.Time   `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When its settings were last changed"`
	Status          string      `json:"status" enum:"pending,up,down,paused" example:"up" doc:"Status. pending if there is no result yet"`
	LastCheckedAt   *time.Time  `json:"last_checked_at" example:"2025-03-24T14:02:00Z" doc:"When it was last checked. null if never"`
	LastStatusCode  *int        `json:"last_status_code" example:"200" doc:"HTTP status of the last response. null if there was none"`
	LastLatencyMS   *int        `json:"last_latency_ms" example:"87" doc:"Response time of the last check, in milliseconds. null if there is none"`
	LastError       *string     `json:"last_error" example:"unexpected status 404" doc:"Why the last check failed. null if it succeeded"`
	Failures        int         `json:"consecutive_failures" example:"0" doc:"Number of failed checks in a row"`
	NextCheckAt     *time.Time  `json:"next_check_at" example:"2025-03-24T14:03:00Z" doc:"When it is checked next. null if it is paused"`
	LateSince       *time.Time  `json:"late_since" example:"2025-03-24T14:03:00Z" doc:"Since when its check is due, if it waits for other checks. null if it is not late"`
	LateReason      *string     `json:"late_reason" example:"another check of example.com is running" doc:"What its check waits for. null if it is not late"`
	TLSExpiresAt    *time.Time  `json:"tls_expires_at" example:"2025-06-24T12:00:00Z" doc:"When its TLS certificate expires: the earliest date of all redirects and their certificate chains. null if there is none or it is unknown"`
	Uptime          Uptime      `json:"uptime" doc:"Uptime over several ranges"`
	UptimeSince     UptimeSince `json:"uptime_since" doc:"Start of the history of each uptime, if it is shorter than the range"`
}

// Expect is the conditions that a response must meet for a target to be up.
type Expect struct {
	Status       string  `json:"status" example:"200-399" doc:"HTTP statuses that count as up, as ranges. Up to five redirects are followed first"`
	Keyword      *string `json:"keyword" example:"Add to cart" doc:"Text that the body must contain, matching case. null if none is set"`
	Absent       *string `json:"keyword_absent" example:"Out of order" doc:"Text that the body must not contain, matching case. null if none is set"`
	MaxLatencyMS *int    `json:"max_latency_ms" example:"2000" doc:"Maximum response time, in milliseconds. null if there is no limit"`
}

// Uptime is time known up ÷ time known, by range. Ranges are whole hours or days in UTC,
// including the current one: 24h is this hour and the 23 before.
type Uptime struct {
	Last24h *float64 `json:"24h" example:"1" doc:"Over this hour and the 23 before, from 0 to 1. null if unknown. A result counts until the next one, but for at most two intervals. Throttled and paused time does not count"`
	Last7d  *float64 `json:"7d" example:"0.9995" doc:"Over today and the 6 days before"`
	Last30d *float64 `json:"30d" example:"0.9991" doc:"Over today and the 29 days before"`
	Last90d *float64 `json:"90d" example:"0.9987" doc:"Over today and the 89 days before"`
}

// UptimeSince is the start of the history of each Uptime, if it is shorter than the
// range.
type UptimeSince struct {
	Last24h *time.Time `json:"24h" example:"2025-03-24T13:00:00Z" doc:"null if the history covers the range, or if the uptime is unknown"`
	Last7d  *time.Time `json:"7d" example:"2025-03-24T13:00:00Z" doc:"As for 24h"`
	Last30d *time.Time `json:"30d" example:"2025-03-24T13:00:00Z" doc:"As for 24h"`
	Last90d *time.Time `json:"90d" example:"2025-03-24T13:00:00Z" doc:"As for 24h"`
}

func (a API) toTarget(t targets.Target) Target {
	out := Target{
		ID: t.ID, URL: t.URL, CanonicalURL: t.CanonicalURL, Host: t.Host, Name: t.Name,
		IntervalSeconds: t.IntervalSeconds, Paused: t.Paused, Owner: t.Owner, Private: t.Private(), CreatedAt: t.CreatedAt.Time, UpdatedAt: t.UpdatedAt.Time,
		Expect: Expect{
			Status: t.Expect.Statuses(), Keyword: api.OrNull(t.Expect.Keyword),
			Absent: api.OrNull(t.Expect.KeywordAbsent), MaxLatencyMS: api.OrNull(t.Expect.MaxLatencyMS),
		},
		Status: string(t.Status()), LastCheckedAt: api.Time(t.LastCheckedAt), LastStatusCode: api.OrNull(t.LastStatusCode),
		LastError: api.OrNull(t.LastError), Failures: t.Failures,
		NextCheckAt: api.Time(t.NextCheckAt), LateSince: api.Time(t.Late.Since), LateReason: api.OrNull(t.Late.Reason), TLSExpiresAt: api.Time(t.TLSExpiresAt),
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
	return api.Time(r.CountsSince(t.Uptime[r], t.AsOf))
}

// toRatio returns nil if no time is known.
func toRatio(s targets.Share) *float64 {
	ratio, ok := s.Ratio()
	if !ok {
		return nil
	}
	return &ratio
}

type listTargetsInput struct {
	api.SliceParams
	Host   string `query:"host" example:"example.com" doc:"Host of the URL, ignoring case. With a port, only targets with that port match. At most 512 bytes"`
	Status string `query:"status" enum:"pending,up,down,paused" example:"down" doc:"Status"`
	Text   string `query:"q" example:"shop" doc:"Part of the name or the URL, ignoring case. At most 512 bytes"`
}

func (a API) listTargets(ctx context.Context, in *listTargetsInput) (*api.Output[api.Slice[Target]], error) {
	status, err := targets.ParseStatus(in.Status)
	if err != nil {
		return nil, err
	}
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Targets.List(ctx, targets.Filter{Host: in.Host, Status: status, Text: in.Text}, after, limit)
	return api.AnswerSlice(l, a.toTarget, err)
}

// TargetSettings is the settings of a target.
type TargetSettings struct {
	Name            api.Member[string]        `json:"name,omitempty" example:"Shop" doc:"Name, at most 200 characters. null clears it"`
	IntervalSeconds api.Member[int]           `json:"interval_seconds,omitempty" minimum:"1" maximum:"2592000" example:"60" doc:"Time between checks, in seconds. null uses CHECK_INTERVAL, which is also the minimum"`
	Expect          api.Member[expectChanges] `json:"expect,omitempty" doc:"Conditions that a response must meet for the target to be up. All must hold. null clears all"`
	Private         api.Member[bool]          `json:"private,omitempty" nullable:"false" doc:"true makes the target visible to its owner and admins only, false to all accounts. Only its owner and admins can change it"`
}

type expectChanges struct {
	Status       api.Member[string] `json:"status,omitempty" example:"200-299,404" doc:"HTTP statuses that count as up, from 100 to 599, after up to five redirects. null uses 200-399"`
	Keyword      api.Member[string] `json:"keyword,omitempty" example:"Add to cart" doc:"Text that the body must contain, matching case, at most 200 characters. null clears it"`
	Absent       api.Member[string] `json:"keyword_absent,omitempty" example:"Out of order" doc:"Text that the body must not contain, matching case, at most 200 characters. null clears it"`
	MaxLatencyMS api.Member[int]    `json:"max_latency_ms,omitempty" minimum:"1" maximum:"300000" example:"2000" doc:"Maximum response time, in milliseconds. null removes the limit"`
}

func (c expectChanges) apply(e targets.Expect) targets.Expect {
	c.Status.Set(&e.Status)
	c.Keyword.Set(&e.Keyword)
	c.Absent.Set(&e.KeywordAbsent)
	c.MaxLatencyMS.Set(&e.MaxLatencyMS)
	return e
}

type addTargetInput struct {
	IdempotencyKey string `header:"Idempotency-Key" example:"8e03978e-40d5-43dd-bc93-6894a57f9324" doc:"Unique key of the new target, 1 to 255 visible ASCII characters. It makes the request safe to repeat"`
	Body           struct {
		URL string `json:"url" example:"https://example.com/" doc:"URL to check, http or https, at most 2048 bytes"`
		TargetSettings
	}
}

type addTargetOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the target in this API"`
	Body     Target
}

func (a API) addTarget(ctx context.Context, in *addTargetInput) (*addTargetOutput, error) {
	if in.Body.Private.Null {
		return nil, errPrivate
	}
	t, created, err := a.Targets.Add(ctx, targets.New{
		URL: in.Body.URL, Name: in.Body.Name.Value, IntervalSeconds: in.Body.IntervalSeconds.Value,
		Expect: in.Body.Expect.Value.apply(targets.Expect{}), IdempotencyKey: in.IdempotencyKey,
		Private: in.Body.Private.Value,
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

func (a API) getTarget(ctx context.Context, in *TargetPath) (*api.Output[Target], error) {
	t, err := a.Targets.Get(ctx, in.ID)
	return api.Answer(a.toTarget(t), err)
}

var errPrivate = models.Invalid("private", "must be true or false")

type editTargetInput struct {
	TargetPath
	Body struct {
		TargetSettings
		Paused api.Member[bool] `json:"paused,omitempty" nullable:"false" doc:"true pauses checks, false resumes them"`
	}
}

func (a API) editTarget(ctx context.Context, in *editTargetInput) (*api.Output[Target], error) {
	if in.Body.Paused.Null {
		return nil, models.Invalid("paused", "must be true or false")
	}
	if in.Body.Private.Null {
		return nil, errPrivate
	}
	e := targets.Edit{
		Name: in.Body.Name.Pointer(), IntervalSeconds: in.Body.IntervalSeconds.Pointer(), Paused: in.Body.Paused.Pointer(),
		Private: in.Body.Private.Pointer(),
	}
	if expect := in.Body.Expect; expect.Null {
		e.Expect = func(targets.Expect) targets.Expect { return targets.Expect{} }
	} else if expect.Given {
		e.Expect = expect.Value.apply
	}
	t, err := a.Targets.Edit(ctx, in.ID, e)
	return api.Answer(a.toTarget(t), err)
}

func (a API) deleteTarget(ctx context.Context, in *TargetPath) (*struct{}, error) {
	return nil, a.Targets.Delete(ctx, in.ID)
}

func (a API) restoreTarget(ctx context.Context, in *TargetPath) (*api.Output[Target], error) {
	t, err := a.Targets.Restore(ctx, in.ID)
	return api.Answer(a.toTarget(t), err)
}

// checkTimeout is how long POST …/check waits for the result. It is well below the
// usual timeouts of servers and proxies.
const checkTimeout = 25 * time.Second

type checkOutput struct {
	Status int
	Body   CheckResult
}

func (a API) checkTarget(ctx context.Context, in *TargetPath) (*checkOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with this function
		select {
		case <-a.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	r, done, err := a.Targets.CheckNow(ctx, in.ID, checkTimeout)
	if err != nil || !done {
		return nil, err // nil, nil is the 202
	}
	return &checkOutput{http.StatusOK, toResult(r)}, nil
}
