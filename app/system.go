package app

import (
	"context"

	"linkwatch/demo"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	"linkwatch/models/cleanup"
	"linkwatch/models/event"
)

// System is what one system is made of. The program, the server, the jobs and
// the demo only loop over systems: none of them knows one by name. All parts may
// be left out.
type System struct {
	handlers.System // what it serves and shows

	Services []jobs.Service // its background work
	Last     []jobs.Service // services that stop after the listener has drained, because they store what requests left
	Jobs     []jobs.Job     // its scheduled jobs
	Deletes  []cleanup.Kind // what the reaper deletes for it
	Events   []event.Type   // the kinds of events that it stores, of which alerts tell

	// Serve receives all routes of the server before it starts; nil = not needed.
	Serve func(routes []middleware.Route)
	Close func() // releases what the system holds, once nothing runs any more

	// Demo invents data and returns what it stored: "1000 made-up links".
	Demo func(ctx context.Context, r *demo.Run) (did string, err error)
}
