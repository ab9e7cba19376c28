package main

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user and group of the image.
const imageUser = 65532

// imageConfig is how the image runs. It agrees with deploy/Dockerfile.
func (s source) imageConfig() v1.Config {
	return v1.Config{
		User: fmt.Sprintf("%d:%d", imageUser, imageUser), WorkingDir: "/data", Env: []string{"HTTP_HOST=0.0.0.0"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/linkwatch", "health"}, Interval: 15 * time.Second, Timeout: 6 * time.Second,
			StartPeriod: time.Minute,
		},
		Entrypoint: []string{"/linkwatch"}, Labels: s.annotations(),
	}
}

// annotations describe the image, with the keys of the OCI image specification.
func (s source) annotations() map[string]string {
	const key = "org.opencontainers.image."
	title, _, _ := strings.Cut(description, "\n")
	return map[string]string{
		key + "title": "Linkwatch", key + "description": title, key + "licenses": "MIT",
		key + "version": s.version, key + "revision": s.commit, key + "created": s.date.Format(time.RFC3339),
	}
}

// writeImage writes an OCI image for all architectures of Linux as one archive with an OCI layout.
func (s source) writeImage(programs []program, tmp, out string) error {
	index := mutate.Annotations(empty.Index, s.annotations()).(v1.ImageIndex)
	for _, p := range programs {
		if p.os != "linux" {
			continue
		}
		img, err := s.image(p, filepath.Join(tmp, "layer_"+p.arch+".tar"))
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	// The names that docker load and podman load give the image.
	tag := strings.ReplaceAll(s.version, "+", "-")
	names := map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/library/linkwatch:" + tag,
	}
	dir := filepath.Join(tmp, "oci")
	named := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: names},
	})
	if _, err := layout.Write(dir, named); err != nil {
		return err
	}
	entries, err := filesIn(dir)
	if err != nil {
		return err
	}
	file := filepath.Join(out, s.name("oci.tar"))
	return writeFile(file, func(w io.Writer) error { return writeTar(w, entries, s.date) })
}

// image returns an image of one layer, which it writes to a file.
func (s source) image(p program, layerFile string) (v1.Image, error) {
	entries := []entry{
		{name: "data/", mode: 0o700, user: imageUser},
		{name: "etc/", mode: 0o755},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: rootCertificates()},
		{name: "linkwatch", mode: 0o755, path: p.path},
		{name: "tmp/", mode: 0o1777, user: imageUser},
	}
	if err := writeFile(layerFile, func(w io.Writer) error { return writeTar(w, entries, s.date) }); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromFile(layerFile, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: s.date}}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.Created, config.OS, config.Architecture, config.Config = v1.Time{Time: s.date}, p.os, p.arch, s.imageConfig()
	return mutate.ConfigFile(img, config)
}

// rootCertificates returns the certificates that Mozilla trusts without conditions. PEM cannot express a condition, for
// example a date after which an authority is no longer trusted.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer has no errors
		}
	}
	return out.Bytes()
}

// filesIn returns the files of a folder, sorted by name.
func filesIn(dir string) (entries []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, path: file})
		return err
	})
	return entries, err
}
