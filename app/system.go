package app

import (
	"context"

	"linkwatch/demo"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/event"
)

// System describes one system. The server, the jobs and the demo iterate over systems and refer to none by name. All fields are
// optional.
type System struct {
	handlers.System // routes, operations and pages

	Services []jobs.Service // background services
	Last     []jobs.Service // services that stop after the listener has drained, because they store data of requests
	Jobs     []jobs.Job     // scheduled jobs
	Deletes  []cleanup.Kind // data that the reaper deletes
	// Items are the kinds of items that can be private, by the prefix of their IDs or the name of the path parameter. The audit
	// log records which of them an admin reads.
	Items  map[string]audit.Item
	Events []event.Type // types of events that the system stores, for alerts

	// Serve receives all routes of the server before it starts.
	Serve func(routes []middleware.Route)
	Close func() // releases resources, after all services have stopped

	// Demo adds sample data and returns what it added, such as "1000 links".
	Demo func(ctx context.Context, r *demo.Run) (added string, err error)
}
