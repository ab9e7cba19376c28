package accounts

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	views "linkwatch/views/accounts"
)

const (
	auditSize = 50     // entries on a page of the audit log
	maxCSV    = 10_000 // entries in a CSV file
	csvBatch  = 500
)

// AuditPage is the page of the audit log.
func (p Pages) AuditPage(c *gin.Context) {
	at := auditPlace(c)
	v := views.Audit{Place: at, Page: p.Frame.Page("Audit log", "admin", p.Frame.Notice(c))}
	status := http.StatusOK
	after, err := models.ParseToken(at.Token)
	if err == nil {
		var filter accounts.AuditFilter
		if filter, err = auditFilter(at); err == nil {
			v.Entries, err = p.Accounts.Audit(c.Request.Context(), filter, after, auditSize)
		}
	}
	if errs, ok := filterErrors(err); ok {
		v.Errors, status = errs, http.StatusBadRequest
	} else if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	p.Frame.Show(c, status, views.AuditPage(v))
}

func auditPlace(c *gin.Context) views.AuditPlace {
	param := func(name string) string { return models.CleanLine(c.Query(name)) }
	return views.AuditPlace{
		Actor: param("actor"), Action: param("action"), Subject: param("subject_id"), Address: param("address"), Since: param("since"), Until: param("until"), Token: c.Query("page_token"),
	}
}

// auditFilter parses the filters.
func auditFilter(at views.AuditPlace) (f accounts.AuditFilter, err error) {
	f = accounts.AuditFilter{Actor: at.Actor, Action: at.Action, SubjectID: at.Subject, Address: at.Address}
	var sinceErr, untilErr error
	f.Since, sinceErr = parseTime("query.since", at.Since)
	f.Until, untilErr = parseTime("query.until", at.Until)
	return f, models.Invalids(sinceErr, untilErr)
}

// parseTime parses a time in UTC, as browsers and people write it; "" = none.
func parseTime(field, typed string) (models.Time, error) {
	if typed == "" {
		return models.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02", time.RFC3339Nano} {
		if t, err := time.Parse(layout, strings.ToUpper(typed)); err == nil && t.Year() >= 1970 {
			return models.At(t), nil
		}
	}
	return models.Time{}, models.Invalid(field, "must be a time such as 2026-03-24T12:00")
}

// filterErrors returns the messages of an error in the filters, by parameter.
func filterErrors(err error) (map[string]string, bool) {
	labels := map[string]string{}
	for name, label := range views.AuditLabels {
		labels["query."+name] = label
	}
	found, ok := pages.FormErrors(err, "", labels)
	errs := map[string]string{}
	for name := range views.AuditLabels {
		if text := found["query."+name]; text != "" {
			errs[name] = text
		}
	}
	return errs, ok && len(errs) > 0
}

// DownloadAudit sends the filtered audit log as CSV: the newest maxCSV entries.
func (p Pages) DownloadAudit(c *gin.Context) {
	filter, err := auditFilter(auditPlace(c))
	next := func(after models.Cursor) (models.Slice[audit.Entry], error) {
		return p.Accounts.Audit(c.Request.Context(), filter, after, csvBatch)
	}
	var list models.Slice[audit.Entry]
	if err == nil {
		list, err = next(models.Cursor{})
	}
	if err != nil {
		p.Frame.Fail(c, err)
		return
	}
	if err := p.Accounts.AuditDownload(c.Request.Context(), filter); err != nil {
		p.Frame.Fail(c, err)
		return
	}
	pages.CSVBatches(c, "audit.csv", func(yield func([][]string, error) bool) {
		if !yield([][]string{auditColumns}, nil) {
			return
		}
		for sent := 0; ; {
			if !yield(auditRows(list.Items), err) || err != nil {
				return
			}
			if sent += len(list.Items); !list.More() || sent >= maxCSV {
				return
			}
			list, err = next(list.Next)
		}
	})
}

var auditColumns = []string{
	"id", "at", "actor", "actor_id", "via", "credential", "address", "request_id", "action", "subject_kind", "subject_id", "subject_name", "before", "after", "attempts",
}

func auditRows(entries []audit.Entry) [][]string {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		rows[i] = []string{
			accounts.EntryID(e), e.At.Format(time.RFC3339Nano), e.Actor, e.ActorID, e.Via, e.Credential, e.Address, e.RequestID, e.Action,
			e.SubjectKind, e.SubjectID, e.SubjectName, e.Before, e.After, strconv.Itoa(e.Attempts),
		}
	}
	return rows
}
