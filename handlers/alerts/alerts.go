// Package alerts implements the API and the pages of alerts.
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

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Alerts   *alerts.Store
	Sender   Sender
	Subjects Subjects
	Others   []pages.Related // sections of other systems on the page of an alert
}

// Subjects finds the targets and status pages that rules and maintenance windows can select.
type Subjects interface {
	// Targets returns the existing targets that the actor of ctx may see, by ID.
	Targets(ctx context.Context, ids []string) (map[string]Target, error)
	// FindTargets returns up to n targets whose name or URL contains a text, and whether there are more. The error is CodeInvalid
	// ("query.q") for an invalid text.
	FindTargets(ctx context.Context, text string, n int) (found []views.Choice, more bool, err error)
	// StatusPages returns all status pages.
	StatusPages(ctx context.Context) ([]views.Choice, error)
	// Newest returns up to n targets, newest first.
	Newest(ctx context.Context, n int) ([]alerts.Target, error)
	// Items returns the items that exist and that the actor of ctx may see.
	Items(ctx context.Context, refs []alerts.Ref) (map[alerts.Ref]alerts.Item, error)
	// FindItems returns up to n links, crawl jobs, crawled pages, websites, website pages and short links each that a text
	// finds, and the sources of the jobs. It returns none of a kind for which the text is invalid.
	FindItems(ctx context.Context, text string, n int) ([]alerts.Item, error)
}

// Target is a target that a rule or a maintenance window can select.
type Target struct {
	Name      string
	PrivateTo string // owner of a private target; "" if shared
}

// API implements the operations under /v1.
type API struct{ *Deps }

// Pages implements the pages under /alerts.
type Pages struct{ *Deps }

// Sender validates the URLs of channels and sends test messages.
type Sender interface {
	// Check parses the URL of a channel and returns its kind. The error is CodeInvalid ("url").
	Check(url string) (kind string, err error)
	// Test sends a test message. delivered reports whether the service accepted it. answer is the response of the service: one line of
	// at most 500 characters, without secrets. Errors are CodeBlocked if the address guard refuses the service, CodeConflict if the
	// address of the channel cannot be decrypted, and the error of ctx.
	Test(ctx context.Context, c alerts.Channel) (delivered bool, answer string, err error)
}

// test sends a test message to a channel and records the result. t.Answer is the response of the service, or the reason why the message
// was not delivered. Errors are those of Sender.Test. For CodeBlocked and CodeConflict, t.Answer is set too.
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
	if noted := d.Alerts.RecordTest(ctx, c, problem); noted != nil {
		return t, noted
	}
	return t, err
}
