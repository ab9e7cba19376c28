package api

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models/shortlinks"
)

// ShortLinkStats are the visits of a short link.
type ShortLinkStats struct {
	ShortKey      string     `json:"short_key" example:"abc2XYZ"`
	Visits        int64      `json:"visits" example:"42" doc:"Of all time, those of bots too"`
	Bots          int64      `json:"bots" example:"5" doc:"How many of them were those of bots"`
	LastVisitedAt *time.Time `json:"last_visited_at" doc:"null: never"`
	Days          []VisitDay `json:"days" nullable:"false" doc:"The days asked for, in UTC, oldest first, without gaps; the last is today"`
	Devices       Devices    `json:"devices" doc:"Of people, over the days asked for"`
	Referrers     []Referrer `json:"referrers" nullable:"false" doc:"Who sent people, of all time: the 50 that sent most"`
}

// VisitDay is the visits of one day.
type VisitDay struct {
	Date   string `json:"date" format:"date" example:"2025-03-24" doc:"In UTC"`
	Visits int64  `json:"visits" example:"12" doc:"Those of bots too"`
	Bots   int64  `json:"bots" example:"2"`
	Devices
}

// Devices are visits of people by what they hold in their hands.
type Devices struct {
	Desktop int64 `json:"desktop" example:"6"`
	Mobile  int64 `json:"mobile" example:"3"`
	Tablet  int64 `json:"tablet" example:"1"`
	Other   int64 `json:"other" example:"0" doc:"Programs that are not known as bots, and devices that did not say what they are"`
}

// Referrer is a host that sent people.
type Referrer struct {
	Host   *string `json:"host" example:"news.example" doc:"null: none was told, as by people who typed the address; *: all hosts beyond the first 200"`
	Visits int64   `json:"visits" example:"7"`
}

type shortLinkStatsInput struct {
	ShortLinkPath
	Days int `query:"days" default:"30" minimum:"1" maximum:"400" doc:"How far back days and devices go"`
}

func (a *API) shortLinkStats(ctx context.Context, in *shortLinkStatsInput) (*output[ShortLinkStats], error) {
	l, err := a.ShortLinks.Get(ctx, in.Key)
	if err != nil {
		return nil, err
	}
	s, err := a.ShortLinks.Stats(ctx, in.Key, in.Days)
	return answer(ShortLinkStats{
		ShortKey: l.Key, Visits: l.Visits, Bots: l.Bots, LastVisitedAt: toTime(l.LastVisitedAt),
		Days: toAll(s.Days, toVisitDay), Devices: toDevices(s.Devices), Referrers: toAll(s.Referrers, toReferrer),
	}, err)
}

func toVisitDay(d shortlinks.Day) VisitDay {
	return VisitDay{
		Date: d.Start.Format(time.DateOnly), Visits: d.People() + d.Bots, Bots: d.Bots, Devices: toDevices(d),
	}
}

func toDevices(d shortlinks.Day) Devices {
	return Devices{Desktop: d.Desktop, Mobile: d.Mobile, Tablet: d.Tablet, Other: d.Other}
}

func toReferrer(r shortlinks.Referrer) Referrer {
	return Referrer{Host: orNull(r.Host), Visits: r.Visits}
}
