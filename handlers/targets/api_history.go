package targets

import (
	"context"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/targets"
)

func (a API) registerHistory(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupHistory, middleware.Viewer, "GET", "/v1/targets/{id}/results", "list-target-results", "List the check results of a target",
		"Newest first. Results are kept for RESULT_RETENTION.", models.CodeNotFound), "checked_at"), a.targetResults)
	api.Register(r, api.Sorts(api.Operation(groupHistory, middleware.Viewer, "GET", "/v1/targets/{id}/outages", "list-target-outages", "List the outages of a target",
		"Newest first. Outages are kept for 400 days.", models.CodeNotFound), "started_at"), a.targetOutages)
	api.Register(r, api.Operation(groupHistory, middleware.Viewer, "GET", "/v1/targets/{id}/history", "get-target-history", "Get the history of a target",
		"Uptime and response times over a range, in up to 120 buckets without gaps.", models.CodeNotFound), a.targetHistory)
	api.Register(r, api.Sorts(api.Operation(groupHistory, middleware.Viewer, "GET", "/v1/checks", "list-check-results", "List the check results of all targets",
		"Newest first."), "checked_at"), a.listResults)
}

// CheckResult is one check of a target in the API.
type CheckResult struct {
	ID         string    `json:"id" example:"c_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the result"`
	TargetID   string    `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target"`
	CheckedAt  time.Time `json:"checked_at" example:"2025-03-24T12:00:00Z" doc:"When the check started"`
	Outcome    string    `json:"outcome" enum:"up,down,throttled" example:"up" doc:"Outcome of the check. throttled (429) counts as neither up nor down"`
	StatusCode *int      `json:"status_code" example:"200" doc:"HTTP status of the response. null if there was none"`
	LatencyMS  int       `json:"latency_ms" example:"87" doc:"Response time of the last attempt, in milliseconds"`
	IntervalMS *int64    `json:"interval_ms" example:"60000" doc:"Time between checks at that time, in milliseconds, or the duration of the check if longer. A result counts towards uptime until the next one, but for at most two intervals. null if unknown"`
	Attempts   int       `json:"attempts" example:"1" doc:"Number of requests. After network errors and 5xx responses, up to three are made"`
	Error      *string   `json:"error" example:"unexpected status 404" doc:"Why the check failed, as a stable text. null if it succeeded"`
}

func toResult(r targets.Result) CheckResult {
	return CheckResult{
		ID: r.ID(), TargetID: r.TargetID, CheckedAt: r.CheckedAt.Time, Outcome: r.Outcome.String(),
		StatusCode: api.OrNull(r.StatusCode), LatencyMS: r.LatencyMS, IntervalMS: api.OrNull(r.IntervalMS),
		Attempts: r.Attempts, Error: api.OrNull(r.Error),
	}
}

// ResultParams is the query parameters of lists of check results.
type ResultParams struct {
	api.SliceParams
	Since  time.Time `query:"since" example:"2025-03-24T12:00:00Z" doc:"Only checks that started at that time or later"`
	Failed bool      `query:"failed" doc:"true lists only checks whose outcome is not up"`
}

type targetResultsInput struct {
	TargetPath
	ResultParams
}

func (a API) targetResults(ctx context.Context, in *targetResultsInput) (*api.Output[api.Slice[CheckResult]], error) {
	return a.results(ctx, in.ID, in.ResultParams)
}

func (a API) listResults(ctx context.Context, in *ResultParams) (*api.Output[api.Slice[CheckResult]], error) {
	return a.results(ctx, "", *in)
}

func (a API) results(ctx context.Context, targetID string, params ResultParams) (*api.Output[api.Slice[CheckResult]], error) {
	after, limit, err := params.Parse()
	if err != nil {
		return nil, err
	}
	f := targets.ResultFilter{TargetID: targetID, Since: models.At(params.Since), Failed: params.Failed}
	l, err := a.Targets.Results(ctx, f, after, limit)
	return api.AnswerSlice(l, toResult, err)
}

// Outage is a period in which a target was down.
type Outage struct {
	ID        string     `json:"id" example:"o_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the outage"`
	TargetID  string     `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target"`
	StartedAt time.Time  `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"When the first failed check started"`
	EndedAt   *time.Time `json:"ended_at" example:"2025-03-24T12:04:00Z" doc:"When a check succeeded again, or the target was paused. null if ongoing"`
	Seconds   float64    `json:"duration_seconds" example:"240" doc:"Duration in seconds, until now if ongoing"`
	Cause     string     `json:"cause" example:"connection refused" doc:"Error of the first failed check"`
}

type targetOutagesInput struct {
	TargetPath
	api.SliceParams
}

func (a API) targetOutages(ctx context.Context, in *targetOutagesInput) (*api.Output[api.Slice[Outage]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Targets.Outages(ctx, in.ID, after, limit)
	return api.AnswerSlice(l, a.toOutage, err)
}

func (a API) toOutage(o targets.Outage) Outage {
	return Outage{
		ID: o.ID, TargetID: o.TargetID, StartedAt: o.StartedAt.Time, EndedAt: api.Time(o.EndedAt),
		Seconds: seconds(o.Duration(a.Targets.Now().Time)), Cause: o.Cause,
	}
}

// seconds returns d in seconds. Unlike Duration.Seconds it has no rounding noise below a
// microsecond.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// History is the uptime and response times of a target over a range.
type History struct {
	TargetID string     `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the target"`
	Range    string     `json:"range" enum:"24h,7d,30d,90d,365d" example:"24h" doc:"Requested range"`
	Since    *time.Time `json:"since" example:"2025-03-23T13:00:00Z" doc:"Start of the first known time in the range. null if there is none"`
	Checks   int64      `json:"checks" example:"1440" doc:"Number of checks, without throttled ones"`
	Up       float64    `json:"up_seconds" example:"86340" doc:"Time known up, in seconds"`
	Down     float64    `json:"down_seconds" example:"60" doc:"Time known down, in seconds"`
	Uptime   *float64   `json:"uptime" example:"0.9993" doc:"Time known up ÷ time known, from 0 to 1. null if unknown"`
	P50      *int       `json:"p50_ms" example:"84" doc:"Median response time in milliseconds, within 12%. null if there is none"`
	P95      *int       `json:"p95_ms" example:"210" doc:"95th percentile of response times in milliseconds, within 12%. null if there is none"`
	Buckets  []Bucket   `json:"buckets" nullable:"false" doc:"Buckets without gaps, oldest first"`
}

// Bucket is one interval of a History.
type Bucket struct {
	From   time.Time `json:"from" example:"2025-03-24T12:00:00Z" doc:"Start of the bucket"`
	To     time.Time `json:"to" example:"2025-03-24T13:00:00Z" doc:"End of the bucket, exclusive"`
	Checks int64     `json:"checks" example:"60" doc:"Number of checks, without throttled ones"`
	Up     float64   `json:"up_seconds" example:"3600" doc:"Time known up, in seconds"`
	Down   float64   `json:"down_seconds" example:"0" doc:"Time known down, in seconds"`
	Uptime *float64  `json:"uptime" example:"1" doc:"Time known up ÷ time known, from 0 to 1. null if unknown"`
	P50    *int      `json:"p50_ms" example:"84" doc:"Median response time, in milliseconds. null if there is none"`
	P95    *int      `json:"p95_ms" example:"210" doc:"95th percentile of response times, in milliseconds. null if there is none"`
}

type targetHistoryInput struct {
	TargetPath
	Range string `query:"range" default:"24h" enum:"24h,7d,30d,90d,365d" example:"7d" doc:"Range of the history, ending now"`
}

func (a API) targetHistory(ctx context.Context, in *targetHistoryInput) (*api.Output[History], error) {
	r, err := targets.ParseRange("query.range", in.Range)
	if err != nil {
		return nil, err
	}
	t, err := a.Targets.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	h, err := a.Targets.History(ctx, t, r)
	return api.Answer(History{
		TargetID: t.ID, Range: string(h.Range), Since: api.Time(h.Since), Checks: h.Checks,
		Up: seconds(h.Up), Down: seconds(h.Down), Uptime: toRatio(h.Share),
		P50: api.OrNull(h.P50), P95: api.OrNull(h.P95), Buckets: api.All(h.Buckets, toBucket),
	}, err)
}

func toBucket(b targets.Bucket) Bucket {
	return Bucket{
		From: b.From.Time, To: b.To.Time, Checks: b.Checks,
		Up: seconds(b.Up), Down: seconds(b.Down), Uptime: toRatio(b.Share), P50: api.OrNull(b.P50), P95: api.OrNull(b.P95),
	}
}
