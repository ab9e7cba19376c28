// Package docs embeds the pages that the program serves as its help.
package docs

import "embed"

// FS holds the guides and the pages for operators, without their images.
//
//go:embed guide/*.md operating.md postgresql.md settings.md
var FS embed.FS
