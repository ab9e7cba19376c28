package archive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/s3blob"
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

// Open opens the archive at a location. It creates a missing folder. It sends no request to a bucket: the first use does.
// client sends all requests and limits them.
func Open(ctx context.Context, l Location, client *http.Client) (*Archive, error) {
	if l.Folder != "" {
		// Temporary files are in the same folder, so that renaming them is atomic.
		b, err := fileblob.OpenBucket(l.Folder, &fileblob.Options{CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
		if pathErr, ok := errors.AsType[*os.PathError](err); ok {
			err = pathErr.Err
		}
		if err != nil {
			return nil, fmt.Errorf("archive: open folder: %w", err)
		}
		a := New(b, 0)
		a.folder = l.Folder
		return a, nil
	}
	cfg, err := l.aws(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("archive: read AWS settings from the environment: %w", err)
	}
	svc := s3.NewFromConfig(cfg, func(o *s3.Options) {
		if l.Endpoint != nil {
			o.BaseEndpoint = aws.String(l.Endpoint.Scheme + "://" + l.Endpoint.Host)
			o.UsePathStyle = true // the host is the one that client connects to
		}
		o.Retryer = aws.NopRetryer{}                                              // Archive retries
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired // not all services support checksums; Get compares the hash
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	b, err := s3blob.OpenBucket(ctx, svc, l.Bucket, &s3blob.Options{RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired})
	if err != nil {
		return nil, fmt.Errorf("archive: open bucket: %w", err)
	}
	if l.Prefix != "" {
		b = blob.PrefixedBucket(b, l.Prefix)
	}
	a := New(b, 0)
	a.client = client
	return a, nil
}

// aws returns the configuration of the S3 client.
func (l Location) aws(ctx context.Context, client *http.Client) (aws.Config, error) {
	const usual = "us-east-1" // other services have no regions, but signatures contain one
	if l.AccessKey != "" {
		region := l.Region
		if region == "" {
			region = usual
		}
		return aws.Config{
			Region: region, HTTPClient: client, Credentials: credentials.NewStaticCredentialsProvider(l.AccessKey, l.SecretKey, ""),
		}, nil
	}
	options := []func(*awsconfig.LoadOptions) error{
		awsconfig.WithHTTPClient(client), awsconfig.WithEC2IMDSClientEnableState(imds.ClientDisabled), awsconfig.WithDefaultRegion(usual),
	}
	if l.Region != "" {
		options = append(options, awsconfig.WithRegion(l.Region))
	}
	return awsconfig.LoadDefaultConfig(ctx, options...)
}
