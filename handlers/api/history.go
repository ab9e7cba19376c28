package api

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/targets"
)

func (a *API) registerHistory() {
	register(a, operation(tagHistory, "GET", "/v1/targets/{id}/results", "list-target-results", "List a target's check results",
		"Newest first. Single results are kept for RESULT_RETENTION."), a.targetResults)
	register(a, operation(tagHistory, "GET", "/v1/targets/{id}/outages", "list-target-outages", "List a target's outages",
		"Newest first. They are kept for 400 days."), a.targetOutages)
	register(a, operation(tagHistory, "GET", "/v1/targets/{id}/history", "get-target-history", "A target's uptime and latency over time",
		"In up to 120 buckets without gaps. It costs the same however long the target has been watched."), a.targetHistory)
	register(a, operation(tagHistory, "GET", "/v1/checks", "list-check-results", "List the check results of all targets",
		"Newest first."), a.listResults)
}

// CheckResult is one check of a target on the wire (contract §4).
type CheckResult struct {
	ID         string    `json:"id" example:"c_01HZ8QK3V5W7X9YABCDEFG" doc:"Opaque"`
	TargetID   string    `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG"`
	CheckedAt  time.Time `json:"checked_at" example:"2025-03-24T12:00:00Z" doc:"When it began"`
	Outcome    string    `json:"outcome" enum:"up,down,throttled" example:"up" doc:"throttled: the host asked for a pause (429), which counts neither way"`
	StatusCode *int      `json:"status_code" example:"200" doc:"null: no answer"`
	LatencyMS  int       `json:"latency_ms" example:"87" doc:"Of the last attempt, until the answer began"`
	IntervalMS int64     `json:"interval_ms" example:"60000" doc:"Between checks, by the settings of that time. In the uptime the result counts until the next one, but at most for two intervals"`
	Attempts   int       `json:"attempts" example:"1" doc:"Requests made: network errors and 5xx are tried up to three times"`
	Error      *string   `json:"error" example:"unexpected status 404" doc:"Short and stable; null: up"`
}

func toResult(r targets.Result) CheckResult {
	return CheckResult{
		ID: r.ID(), TargetID: r.TargetID, CheckedAt: r.CheckedAt.Time, Outcome: r.Outcome.String(),
		StatusCode: orNull(r.StatusCode), LatencyMS: r.LatencyMS, IntervalMS: r.IntervalMS,
		Attempts: r.Attempts, Error: orNull(r.Error),
	}
}

// ResultParams ask for a page of chosen check results.
type ResultParams struct {
	SliceParams
	Since  time.Time `query:"since" example:"2025-03-24T12:00:00Z" doc:"Only checks that began then or later"`
	Failed bool      `query:"failed" doc:"true: only checks that did not find the target up"`
}

type targetResultsInput struct {
	TargetPath
	ResultParams
}

func (a *API) targetResults(ctx context.Context, in *targetResultsInput) (*output[Slice[CheckResult]], error) {
	return a.results(ctx, in.ID, in.ResultParams)
}

func (a *API) listResults(ctx context.Context, in *ResultParams) (*output[Slice[CheckResult]], error) {
	return a.results(ctx, "", *in)
}

func (a *API) results(ctx context.Context, targetID string, params ResultParams) (*output[Slice[CheckResult]], error) {
	after, limit, err := params.cursor()
	if err != nil {
		return nil, err
	}
	f := targets.ResultFilter{TargetID: targetID, Since: models.At(params.Since), Failed: params.Failed}
	l, err := a.Targets.Results(ctx, f, after, limit)
	return answerSlice(l, toResult, err)
}

// Outage is a time in which a target was down.
type Outage struct {
	ID        string     `json:"id" example:"o_01HZ8QK3V5W7X9YABCDEFG"`
	TargetID  string     `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG"`
	StartedAt time.Time  `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"The first check that failed"`
	EndedAt   *time.Time `json:"ended_at" doc:"The first that did not, or when the target was paused; null: it goes on"`
	Seconds   float64    `json:"duration_seconds" example:"240" doc:"Until now while it goes on"`
	Cause     string     `json:"cause" example:"connection refused" doc:"The error of the first check"`
}

type targetOutagesInput struct {
	TargetPath
	SliceParams
}

func (a *API) targetOutages(ctx context.Context, in *targetOutagesInput) (*output[Slice[Outage]], error) {
	after, limit, err := in.cursor()
	if err != nil {
		return nil, err
	}
	l, err := a.Targets.Outages(ctx, in.ID, after, limit)
	return answerSlice(l, a.toOutage, err)
}

func (a *API) toOutage(o targets.Outage) Outage {
	return Outage{
		ID: o.ID, TargetID: o.TargetID, StartedAt: o.StartedAt.Time, EndedAt: toTime(o.EndedAt),
		Seconds: o.Duration(a.Targets.Now().Time).Seconds(), Cause: o.Cause,
	}
}

// History is what happened to a target over a range.
type History struct {
	TargetID string     `json:"target_id" example:"t_01HZ8QK3V5W7X9YABCDEFG"`
	Range    string     `json:"range" enum:"24h,7d,30d,90d,365d" example:"24h"`
	Since    *time.Time `json:"since" example:"2025-03-23T13:00:00Z" doc:"The first moment that counts; null: none does"`
	Checks   int64      `json:"checks" example:"1440" doc:"Without those that were throttled"`
	Up       float64    `json:"up_seconds" example:"86340" doc:"Time known up"`
	Down     float64    `json:"down_seconds" example:"60" doc:"Time known down"`
	Uptime   *float64   `json:"uptime" example:"0.9993" doc:"Time known up ÷ time known, from 0 to 1; null: unknown"`
	P50      *int       `json:"p50_ms" example:"84" doc:"Median latency, right within 12 %; null: no answers"`
	P95      *int       `json:"p95_ms" example:"210" doc:"95 of 100 answers began within it"`
	Buckets  []Bucket   `json:"buckets" nullable:"false" doc:"Oldest first"`
}

// Bucket is a part of a history.
type Bucket struct {
	From   time.Time `json:"from" example:"2025-03-24T12:00:00Z"`
	To     time.Time `json:"to" example:"2025-03-24T13:00:00Z" doc:"Not within it any more"`
	Checks int64     `json:"checks" example:"60" doc:"Without those that were throttled"`
	Up     float64   `json:"up_seconds" example:"3600" doc:"Time known up"`
	Down   float64   `json:"down_seconds" example:"0" doc:"Time known down"`
	Uptime *float64  `json:"uptime" example:"1" doc:"Time known up ÷ time known, from 0 to 1; null: unknown"`
	P50    *int      `json:"p50_ms" example:"84" doc:"Median latency; null: no answers"`
	P95    *int      `json:"p95_ms" example:"210" doc:"95 of 100 answers began within it; null: no answers"`
}

type targetHistoryInput struct {
	TargetPath
	Range string `query:"range" default:"24h" example:"7d" doc:"24h, 7d, 30d, 90d or 365d"`
}

func (a *API) targetHistory(ctx context.Context, in *targetHistoryInput) (*output[History], error) {
	r, err := targets.ParseRange("query.range", in.Range)
	if err != nil {
		return nil, err
	}
	t, err := a.Targets.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	h, err := a.Targets.History(ctx, t, r)
	return answer(History{
		TargetID: t.ID, Range: string(h.Range), Since: toTime(h.Since), Checks: h.Checks,
		Up: h.Up.Seconds(), Down: h.Down.Seconds(), Uptime: toRatio(h.Share),
		P50: orNull(h.P50), P95: orNull(h.P95), Buckets: toAll(h.Buckets, toBucket),
	}, err)
}

func toBucket(b targets.Bucket) Bucket {
	return Bucket{
		From: b.From.Time, To: b.To.Time, Checks: b.Checks,
		Up: b.Up.Seconds(), Down: b.Down.Seconds(), Uptime: toRatio(b.Share), P50: orNull(b.P50), P95: orNull(b.P95),
	}
}
