package links

import (
	"strings"

	"linkwatch/models/links"
)

// LinkPath is the path parameter of a link.
type LinkPath struct {
	ID string `path:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

// TagPath is the path parameter of a tag.
type TagPath struct {
	TagID string `path:"tag_id" example:"g_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the tag"`
}

// LinkTagPath is the path parameters of a tag of a link.
type LinkTagPath struct {
	LinkPath
	TagPath
}

// ShownParam filters links by expiry.
type ShownParam struct {
	Expired string `query:"expired" enum:"true,recent,all,false" example:"all" doc:"true: expired links. recent: links that expired in the last 7 days. all: active and expired links. Default: active links"`
}

// FilterParams filter links.
type FilterParams struct {
	ShownParam
	Health string `query:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"dead" doc:"Only links with this health"`
	Tag    string `query:"tag" example:"Go" doc:"Only links with this tag, ignoring case. At most 512 bytes"`
}

func (p FilterParams) filter() (links.Filter, error) {
	shown, err := links.ParseShown(p.Expired)
	if err != nil {
		return links.Filter{}, err
	}
	health, err := links.ParseHealth(p.Health)
	if err != nil {
		return links.Filter{}, err
	}
	return links.Filter{Tag: p.Tag, Health: health, Shown: shown}, nil
}

// tagNames splits the value of a tag field at commas.
func tagNames(typed string) []string {
	var names []string
	for name := range strings.SplitSeq(typed, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
