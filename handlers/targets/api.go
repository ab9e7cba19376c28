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
	api.Register(r, api.Operation(groupTargets, middleware.Viewer, "GET", "/v1/targets", "list-targets", "List targets", "Oldest first."), a.listTargets)
	api.Register(r, api.Creates(api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets", "add-target", "Watch a URL",
		"If a target of the URL that is shared or your own exists already, the answer is 200 with that target, unchanged. So is every later use of an "+
			"Idempotency-Key by the same account, whatever else the request holds. Keys are kept for 24 hours.", models.CodeConflict), "Target"), a.addTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Viewer, "GET", "/v1/targets/{id}", "get-target", "Get a target", "With its settings, status and uptime.", models.CodeNotFound), a.getTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "PATCH", "/v1/targets/{id}", "edit-target", "Change a target",
		"A JSON merge patch (RFC 7396): a member that is left out stays as it is, also within expect, and null clears it. "+
			"A paused target has no state. A resumed one is checked at once, or after the pause that its host asked for. "+
			"409 if private changes and there is a target of the URL already: a shared one, or a private one of the owner.", models.CodeNotFound, models.CodeConflict), a.editTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "DELETE", "/v1/targets/{id}", "delete-target", "Delete a target",
		"POST /v1/targets/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteTarget)
	api.Register(r, api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets/{id}/restore", "restore-target", "Restore a deleted target",
		"Its history is restored as well. 404 if it was not deleted, or more than a day ago. 409 if another target has its URL now.",
		models.CodeNotFound, models.CodeConflict), a.restoreTarget)
	check := api.Operation(groupTargets, middleware.Editor, "POST", "/v1/targets/{id}/check", "check-target", "Check a target now",
		"Waits up to 25 seconds for the result. After that the answer is 202, and the check runs as soon as it can. "+
			"409 if the target is paused, or if its host asked for a pause: Retry-After says how long it lasts.",
		models.CodeNotFound, models.CodeConflict)
	check.DefaultStatus = http.StatusAccepted // of the answer without a result
	check.Responses = map[string]*huma.Response{
		"200": {Description: "Result of the check", Content: api.Content(api.JSONMedia, "CheckResult")},
		"202": {Description: "The check has not ended after 25 seconds"},
	}
	api.Register(r, check, a.checkTarget)
	check.Responses["202"].Content = nil // huma takes the result to be of this answer
}

// TargetPath names a target.
type TargetPath struct {
	ID string `path:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target"`
}

// Target is a watched URL on the wire.
type Target struct {
	ID              string      `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target. Ids sort by creation time"`
	URL             string      `json:"url" example:"https://example.com/" doc:"URL as it was given"`
	CanonicalURL    string      `json:"canonical_url" example:"https://example.com" doc:"Canonical form of the URL, which is unique among shared targets, and among the private ones of an account"`
	Host            string      `json:"host" example:"example.com" doc:"Host of the URL, in lower case and without port"`
	Name            string      `json:"name" example:"Shop" doc:"Name. Empty if it has none"`
	IntervalSeconds int         `json:"interval_seconds" example:"60" doc:"Time between checks. CHECK_INTERVAL if the target has no interval of its own, which is also the shortest one. The first gap can be shorter, as checks are spread over the interval"`
	Expect          Expect      `json:"expect" doc:"What a response must be like for the target to be up"`
	Paused          bool        `json:"paused" example:"false" doc:"Whether checks are paused"`
	Owner           string      `json:"owner" example:"alice" doc:"Account or credential that added it. system if no one was signed in"`
	Private         bool        `json:"private" example:"false" doc:"Whether only its owner and admins see it"`
	CreatedAt       time.Time   `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the target was created"`
	UpdatedAt       time.Time   `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When its settings were last changed"`
	Status          string      `json:"status" enum:"pending,up,down,paused" example:"up" doc:"Status by the last check. pending if there is none yet"`
	LastCheckedAt   *time.Time  `json:"last_checked_at" example:"2025-03-24T14:02:00Z" doc:"When it was last checked. null if never"`
	LastStatusCode  *int        `json:"last_status_code" example:"200" doc:"HTTP status of the last response. null if there was none"`
	LastLatencyMS   *int        `json:"last_latency_ms" example:"87" doc:"Response time of the last check, in milliseconds. null if there is none"`
	LastError       *string     `json:"last_error" example:"unexpected status 404" doc:"Why the last check failed. null if it did not"`
	Failures        int         `json:"consecutive_failures" example:"0" doc:"Number of checks that failed in a row"`
	NextCheckAt     *time.Time  `json:"next_check_at" example:"2025-03-24T14:03:00Z" doc:"When it is checked next. null if it is paused"`
	TLSExpiresAt    *time.Time  `json:"tls_expires_at" example:"2025-06-24T12:00:00Z" doc:"When its certificate expires. null if it has none or it is not known"`
	Uptime          Uptime      `json:"uptime" doc:"Uptime over several ranges"`
	UptimeSince     UptimeSince `json:"uptime_since" doc:"Since when each uptime counts, if the history does not fill its range"`
}

// Expect is what an answer must be like for a target to be up.
type Expect struct {
	Status       string  `json:"status" example:"200-399" doc:"HTTP statuses that count as up, as ranges. Up to five redirects are followed first"`
	Keyword      *string `json:"keyword" example:"Add to cart" doc:"Text that the body must contain, matching case. null if none is set"`
	Absent       *string `json:"keyword_absent" example:"Out of order" doc:"Text that the body must not contain, matching case. null if none is set"`
	MaxLatencyMS *int    `json:"max_latency_ms" example:"2000" doc:"Longest response time that counts as up. null if there is no limit"`
}

// Uptime is time known up ÷ time known, by range. A range counts whole hours or
// days in UTC, with the current one: 24h is this hour and the 23 before.
type Uptime struct {
	Last24h *float64 `json:"24h" example:"1" doc:"Over this hour and the 23 before. From 0 to 1, null if unknown. A result counts until the next one, but at most for two intervals; throttled and paused time does not count"`
	Last7d  *float64 `json:"7d" example:"0.9995" doc:"Over today and the 6 days before"`
	Last30d *float64 `json:"30d" example:"0.9991" doc:"Over today and the 29 days before"`
	Last90d *float64 `json:"90d" example:"0.9987" doc:"Over today and the 89 days before"`
}

// UptimeSince is since when each Uptime counts, where the history does not fill
// the range.
type UptimeSince struct {
	Last24h *time.Time `json:"24h" example:"2025-03-24T13:00:00Z" doc:"null if the history fills the range, or the uptime is unknown"`
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
		NextCheckAt: api.Time(t.NextCheckAt), TLSExpiresAt: api.Time(t.TLSExpiresAt),
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

// toRatio is null if no time is known.
func toRatio(s targets.Share) *float64 {
	ratio, ok := s.Ratio()
	if !ok {
		return nil
	}
	return &ratio
}

type listTargetsInput struct {
	api.SliceParams
	Host   string `query:"host" example:"example.com" doc:"Host of the URL, ignoring case. With a port, only targets at that port. At most 512 bytes"`
	Status string `query:"status" enum:"pending,up,down,paused" example:"down" doc:"Status: pending, up, down or paused"`
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

// TargetSettings are what the owner of a target sets.
type TargetSettings struct {
	Name            api.Member[string]        `json:"name,omitempty" example:"Shop" doc:"Name, at most 200 characters. null clears it"`
	IntervalSeconds api.Member[int]           `json:"interval_seconds,omitempty" minimum:"1" maximum:"2592000" example:"60" doc:"Time between checks. null uses CHECK_INTERVAL, which is also the shortest one"`
	Expect          api.Member[expectChanges] `json:"expect,omitempty" doc:"What a response must be like for the target to be up. All conditions must hold. null clears them all"`
	Private         api.Member[bool]          `json:"private,omitempty" nullable:"false" doc:"true shows the target to its owner and admins only, false to all accounts. Only its owner and admins can change it"`
}

type expectChanges struct {
	Status       api.Member[string] `json:"status,omitempty" example:"200-299,404" doc:"HTTP statuses that count as up, from 100 to 599, after up to five redirects. null uses 200-399"`
	Keyword      api.Member[string] `json:"keyword,omitempty" example:"Add to cart" doc:"Text that the body must contain, matching case, at most 200 characters. null clears it"`
	Absent       api.Member[string] `json:"keyword_absent,omitempty" example:"Out of order" doc:"Text that the body must not contain, matching case, at most 200 characters. null clears it"`
	MaxLatencyMS api.Member[int]    `json:"max_latency_ms,omitempty" minimum:"1" maximum:"300000" example:"2000" doc:"Longest time until the response begins. null removes the limit"`
}

// apply is e with what was given.
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

// checkPatience is how long POST …/check waits. It lies well below what servers
// and proxies allow an answer to take.
const checkPatience = 25 * time.Second

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
	r, done, err := a.Targets.CheckNow(ctx, in.ID, checkPatience)
	if err != nil || !done {
		return nil, err // nil, nil is the 202
	}
	return &checkOutput{http.StatusOK, toResult(r)}, nil
}
