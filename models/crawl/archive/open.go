package archive

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Location is the location of an archive: a folder or a bucket.
type Location struct {
	Folder string // "" = a bucket

	Bucket    string
	Prefix    string   // of all keys, with a trailing slash; "" = none
	Region    string   // "" = from the environment, or us-east-1
	Endpoint  *url.URL // nil = the AWS endpoint of the region
	AccessKey string   // "" = credentials from the environment, as for other AWS tools
	SecretKey string
}

// ParseLocation parses CRAWLER_ARCHIVE_URL: a path, file:///path, or s3://[key:secret@]bucket[/prefix][?region=…&endpoint=…]. Its
// errors do not contain the value.
func ParseLocation(raw string) (Location, error) {
	scheme, _, isURL := strings.Cut(raw, "://")
	if !isURL {
		return Location{Folder: raw}, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return Location{}, errors.New("archive: URL is not valid")
	}
	switch scheme {
	case "file":
		return Location{Folder: u.Path}, nil
	case "s3":
	default:
		return Location{}, errors.New("archive: URL must start with file:// or s3://")
	}
	l := Location{Bucket: u.Host, Region: u.Query().Get("region")}
	if path := strings.Trim(u.Path, "/"); path != "" {
		l.Prefix = path + "/"
	}
	if u.User != nil {
		l.AccessKey = u.User.Username()
		l.SecretKey, _ = u.User.Password()
	}
	if endpoint := u.Query().Get("endpoint"); endpoint != "" {
		if l.Endpoint, err = url.Parse(endpoint); err != nil || l.Endpoint.Host == "" {
			return Location{}, errors.New("archive: endpoint is not a valid URL")
		}
	}
	return l, nil
}

// Options are the settings of an archive that are not part of its location.
type Options struct {
	Client *http.Client  // sends all requests and limits them; unused for a folder
	Pause  time.Duration // before the second attempt; 0 = 250 ms. Each later pause is four times as long.
}

// Open opens the archive at a location. It creates a missing folder. It sends no request to a bucket: the first use does.
func Open(l Location, o Options) (*Archive, error) {
	a := &Archive{pause: cmp.Or(o.Pause, backoff)}
	var err error
	if l.Folder != "" {
		a.store, err = openFolder(l.Folder)
	} else {
		a.store, err = openBucket(l, o.Client)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}
