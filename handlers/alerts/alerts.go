// Package alerts holds the operations of alerts under /v1, and their pages.
package alerts

import (
	"cmp"
	"context"
	"errors"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Alerts   *alerts.Store
	Sender   Sender
	Subjects Subjects
	Others   []pages.Beside // what other systems show on the page of an alert
}

// Subjects are what rules and maintenance windows can name.
type Subjects interface {
	// Targets returns those targets that exist and that the actor of ctx may see, by their ids.
	Targets(ctx context.Context, ids []string) (map[string]Target, error)
	// FindTargets returns up to n targets with a text in their name or address, and whether there are more. The error of a text that
	// is not valid is CodeInvalid ("query.q").
	FindTargets(ctx context.Context, text string, n int) (found []views.Choice, more bool, err error)
	// StatusPages returns all status pages.
	StatusPages(ctx context.Context) ([]views.Choice, error)
}

// Target is a target that a rule or a maintenance window names.
type Target struct {
	Name      string
	PrivateTo string // the owner of a private target; "" = it is shared
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }

// Sender checks URLs of channels and sends test messages.
type Sender interface {
	// Check parses a URL of a channel and returns its kind; CodeInvalid ("url").
	Check(url string) (kind string, err error)
	// Test sends a test message. delivered reports whether the service accepted it. answer is its answer: one line of at most 500 characters, without secrets. Errors are
	// CodeBlocked if the address guard refuses the service, CodeConflict if the address of the channel cannot be decrypted, and that of ctx.
	Test(ctx context.Context, c alerts.Channel) (delivered bool, answer string, err error)
}

// test sends a test message to a channel and records the result. t.Answer is what the service answered, or why the message was not
// delivered. Errors are those of Sender.Test. With those that are CodeBlocked or CodeConflict, t says why as well.
func (d *Deps) test(ctx context.Context, c alerts.Channel) (t views.Tested, err error) {
	t.ID = c.ID
	t.Delivered, t.Answer, err = d.Sender.Test(ctx, c)
	if refused, ok := errors.AsType[*models.Error](err); ok {
		t.Delivered, t.Answer = false, refused.Detail
	} else if err != nil {
		return t, err
	}
	problem := ""
	if !t.Delivered {
		t.Answer = cmp.Or(t.Answer, "The service gave no reason.")
		problem = t.Answer
	}
	if noted := d.Alerts.Tested(ctx, c, problem); noted != nil {
		return t, noted
	}
	return t, err
}
