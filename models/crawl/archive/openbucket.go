package archive

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// defaultRegion is the region of buckets without one. Services other than AWS have none, but signatures contain one.
const defaultRegion = "us-east-1"

// openBucket returns the bucket at a location. Without keys in the location, it reads the settings for AWS tools: the
// environment, and then the files of the profile.
func openBucket(l Location, client *http.Client) (*bucket, error) {
	sender := *client
	sender.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a signature is valid for one host
	}
	b := &bucket{client: &sender, prefix: l.Prefix, region: cmp.Or(l.Region, defaultRegion)}
	endpoint := l.Endpoint
	if l.AccessKey != "" {
		b.credentials = credentials.NewStaticV4(l.AccessKey, l.SecretKey, "")
	} else {
		profile := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")
		b.credentials = credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{Profile: profile}, &credentials.IAM{},
		})
		region, err := awsRegion(profile)
		if err != nil {
			return nil, err
		}
		b.region = cmp.Or(l.Region, region, defaultRegion)
		if set := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")); endpoint == nil && set != "" {
			if endpoint, err = url.Parse(set); err != nil || endpoint.Host == "" {
				return nil, errors.New("archive: AWS_ENDPOINT_URL is not a valid URL")
			}
		}
	}
	switch host := awsHost(b.region); {
	case endpoint != nil: // the host must be the one that client connects to
		b.url = endpoint.Scheme + "://" + endpoint.Host + "/" + l.Bucket + "/"
	case strings.Contains(l.Bucket, "."): // no certificate has such a host
		b.url = "https://" + host + "/" + l.Bucket + "/"
	default:
		b.url = "https://" + l.Bucket + "." + host + "/"
	}
	return b, nil
}

// awsRegion returns the region in the environment or the config file of AWS tools; "" = none.
func awsRegion(profile string) (string, error) {
	if region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")); region != "" {
		return region, nil
	}
	file := os.Getenv("AWS_CONFIG_FILE")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil //nolint:nilerr // a service may have no home
		}
		file = filepath.Join(home, ".aws", "config")
	}
	settings, err := ini.LooseLoad(file) // a missing file is empty
	if err != nil {
		return "", errors.New("archive: config file of AWS is not valid") // the error may contain a key
	}
	named := settings.Section("profile " + profile).Key("region").String()
	return cmp.Or(named, settings.Section(profile).Key("region").String()), nil
}

// awsHost returns the host of S3 in a region.
func awsHost(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "s3." + region + ".amazonaws.com.cn"
	}
	return "s3." + region + ".amazonaws.com"
}
