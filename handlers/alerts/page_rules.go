package alerts

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// RulesPage lists the rules.
func (p Pages) RulesPage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.Rules
	var all models.Slice[alerts.Rule]
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { all, err = p.Alerts.Rules(ctx, models.Cursor{}, alerts.MaxRules); return },
		func() (err error) {
			var scopes []alerts.Scope
			for _, r := range all.Items {
				scopes = append(scopes, r.Scope)
			}
			v.Names, v.Channels, err = p.names(ctx, scopes)
			return err
		},
		func() (err error) { flash, err = p.Flash(c, views.RulesPath); return },
	) {
		return
	}
	v.Rules = all.Items
	v.Page = p.Page("Rules", section, flash)
	p.Show(c, http.StatusOK, views.RulesPage(v))
}

// NewRule shows the form of a new rule.
func (p Pages) NewRule(c *gin.Context) {
	r := alerts.Rule{Events: p.Alerts.DefaultEvents(), AfterFailures: 1, Enabled: true}
	p.showRuleForm(c, http.StatusOK, r, formOf(r))
}

// RulePage shows the form of a stored rule.
func (p Pages) RulePage(c *gin.Context) {
	r, err := p.Alerts.Rule(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := formOf(r)
	v.Saved = r
	p.showRuleForm(c, http.StatusOK, r, v)
}

func formOf(r alerts.Rule) views.RuleForm {
	return views.RuleForm{
		Name: r.Name, Failures: strconv.Itoa(r.AfterFailures), Minutes: strconv.Itoa(r.AfterMinutes), Repeat: strconv.Itoa(r.RepeatMinutes), GroupWait: strconv.Itoa(r.GroupWaitSeconds),
		Escalate: strconv.Itoa(r.EscalateAfterMinutes), Private: r.PrivateTo != "",
	}
}

// AddRule adds the rule in the form, or searches for targets.
func (p Pages) AddRule(c *gin.Context) {
	p.saveRule(c, alerts.Rule{}, "rule_added", func(ctx context.Context, r alerts.Rule) (alerts.Rule, error) {
		return p.Alerts.AddRule(ctx, r)
	})
}

// EditRule saves the form of a rule, or searches for targets.
func (p Pages) EditRule(c *gin.Context) {
	saved, err := p.Alerts.Rule(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	ctx := p.Edited(c, views.RulePath(saved.ID), func(ctx context.Context) (ui.Edited, error) {
		stored, err := p.Alerts.Rule(ctx, saved.ID)
		return views.EditedRule(stored), err
	})
	p.saveRule(c, saved, "edited", func(_ context.Context, r alerts.Rule) (alerts.Rule, error) {
		return p.Alerts.EditRule(ctx, saved.ID, func(stored *alerts.Rule) {
			stored.Name, stored.Events, stored.Scope, stored.Channels, stored.Enabled = r.Name, r.Events, r.Scope, r.Channels, r.Enabled
			stored.AfterFailures, stored.AfterMinutes, stored.RepeatMinutes, stored.Quiet = r.AfterFailures, r.AfterMinutes, r.RepeatMinutes, r.Quiet
			stored.GroupWaitSeconds = r.GroupWaitSeconds
			stored.EscalateAfterMinutes, stored.EscalateChannels = r.EscalateAfterMinutes, r.EscalateChannels
			if private := pages.Private(c); private != nil {
				stored.SetPrivate(*private)
			}
		})
	})
}

func (p Pages) saveRule(c *gin.Context, saved alerts.Rule, notice string, save func(context.Context, alerts.Rule) (alerts.Rule, error)) {
	v := views.RuleForm{
		Saved: saved, Name: c.PostForm("name"), Failures: c.PostForm("after_failures"), Minutes: c.PostForm("after_minutes"),
		Repeat: c.PostForm("repeat_minutes"), GroupWait: c.PostForm("group_wait_seconds"), Escalate: c.PostForm("escalate.after_minutes"),
	}
	r := alerts.Rule{
		Name: v.Name, Events: chosen(c, "events"), Scope: postedScope(c), Channels: chosen(c, "channels"), Enabled: c.PostForm("enabled") != "",
		AfterFailures: pages.Number(v.Failures), AfterMinutes: pages.Number(v.Minutes), RepeatMinutes: pages.Number(v.Repeat), GroupWaitSeconds: pages.Number(v.GroupWait),
		Quiet:                alerts.Quiet{From: c.PostForm("quiet.from"), To: c.PostForm("quiet.to"), TimeZone: strings.TrimSpace(c.PostForm("quiet.time_zone"))},
		EscalateAfterMinutes: pages.Number(v.Escalate), EscalateChannels: chosen(c, "escalate.channels"),
	}
	r.Owner = cmp.Or(saved.Owner, models.Owner(c.Request.Context()))
	r.PrivateTo, v.Private = saved.PrivateTo, saved.PrivateTo != ""
	if private := pages.Private(c); private != nil {
		r.SetPrivate(*private)
		v.Private = *private
	}
	typed := r
	if strings.TrimSpace(v.Failures) == "" {
		r.AfterFailures = 1
	}
	if asksAgain(c) {
		p.showRuleForm(c, http.StatusOK, typed, v)
		return
	}
	_, err := save(c.Request.Context(), r)
	if v.Errors = fieldErrors(err, "name", views.RuleLabels); v.Errors != nil {
		p.showRuleForm(c, p.FormStatus(c, err), typed, v)
		return
	}
	p.Done(c, err, views.RulesPath, notice)
}

// showRuleForm shows the form of a rule with the typed texts in v. For htmx it returns the targets to choose from.
func (p Pages) showRuleForm(c *gin.Context, status int, r alerts.Rule, v views.RuleForm) {
	ctx := c.Request.Context()
	v.Types, v.Events, v.To, v.EscalateTo, v.Quiet, v.Enabled = p.Alerts.Types(), r.Events, r.Channels, r.EscalateChannels, r.Quiet, r.Enabled
	v.Scope = views.Scope{Find: strings.TrimSpace(c.PostForm("find")), Errors: v.Errors, Action: views.RulesPath, Of: "The rule"}
	title, owner := "Add rule", cmp.Or(v.Saved.Owner, models.Owner(ctx))
	v.MayShare = models.MayShare(ctx, owner) == nil
	if v.Saved.ID != "" {
		title, v.Scope.Action = "Edit "+v.Saved.Name, views.RulePath(v.Saved.ID)
	}
	if !p.Read(c,
		func() (err error) { status, err = p.fillScope(ctx, r.Scope, &v.Scope, status); return },
		func() error {
			all, err := p.channels(ctx)
			for _, to := range all {
				if to.PrivateTo != "" && to.PrivateTo != owner { // private channel of another account
					continue
				}
				v.Channels = append(v.Channels, views.Choice{ID: to.ID, Name: to.Name, Hint: views.ServiceLabel(to.Kind), Private: to.PrivateTo != ""})
			}
			return err
		},
	) {
		return
	}
	r.Owner = owner
	r.SetPrivate(v.Private)
	var newest []alerts.Target
	if !p.Read(c,
		func() (err error) { newest, err = p.Subjects.Newest(ctx, views.MaxReach); return },
		func() (err error) { v.Reach, err = p.Alerts.ReachOf(ctx, r, newest); return },
	) {
		return
	}
	v.Page = p.Page(title, section, ui.Flash{})
	part := views.ScopeChoices(v.Scope)
	if c.Query("part") == "reach" {
		part = views.RuleReach(v)
	}
	p.ShowPart(c, status, views.RuleFormPage(v), part)
}

// EnableRule enables or disables a rule.
func (p Pages) EnableRule(c *gin.Context) {
	enabled := c.PostForm("enabled") != ""
	_, err := p.Alerts.EditRule(c.Request.Context(), c.Param("id"), func(r *alerts.Rule) { r.Enabled = enabled })
	p.Done(c, err, views.RulesPath, switched("rule", enabled))
}

// DeleteRule deletes a rule. The list then offers to undo it.
func (p Pages) DeleteRule(c *gin.Context) {
	p.doneWithUndo(c, p.Alerts.DeleteRule(c.Request.Context(), c.Param("id")), views.RulesPath, "rule_deleted")
}

// RestoreRule restores a deleted rule.
func (p Pages) RestoreRule(c *gin.Context) {
	_, err := p.Alerts.RestoreRule(c.Request.Context(), c.Param("id"))
	p.Done(c, err, views.RulesPath, "rule_restored")
}
