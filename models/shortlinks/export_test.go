package shortlinks

import "time"

// On a busy machine the database can be slow. The timeout of visits is tested over HTTP.
func init() { LoadTimeout = time.Minute }
