package shortlinks

import "time"

// On a busy machine a database may take its time. How soon a visit gives up is
// tested where visits come by HTTP.
func init() { loadTimeout = time.Minute }
