package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// imageIndex unpacks the image of the release and returns its index.
func imageIndex(t *testing.T, src source) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	unpack(t, bytes.NewReader(read(t, src.name("oci.tar"))), dir)
	named, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := named.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("got %+v %v", manifest, err)
	}
	desc := manifest.Manifests[0]
	if got := desc.Annotations["org.opencontainers.image.ref.name"]; got != src.version {
		t.Errorf("the image is called %q", got)
	}
	index, err := named.ImageIndex(desc.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// The image is valid and has both architectures. It starts as its user in a root that has nothing but the image, where
// root certificates are found.
func TestImage(t *testing.T) {
	src := released(t)
	index := imageIndex(t, src)
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, desc := range manifest.Manifests {
		found = append(found, desc.Platform.String())
		img, err := index.Image(desc.Digest)
		if err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		content := mutate.Extract(img)
		unpack(t, content, root)
		content.Close()
		checkRoot(t, root)
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if !config.Platform().Equals(*desc.Platform) || !config.Created.Equal(src.date) {
			t.Errorf("got %s, created %s", config.Platform(), config.Created)
		}
		if config.Config.Labels["org.opencontainers.image.revision"] != src.commit {
			t.Errorf("got labels %v", config.Config.Labels)
		}
		if config.OS == runtime.GOOS && config.Architecture == runtime.GOARCH {
			startImage(t, root, config.Config)
		}
	}
	var want []string
	for _, p := range platforms {
		if p.os == "linux" {
			want = append(want, p.os+"/"+p.arch)
		}
	}
	if !slices.Equal(found, want) {
		t.Errorf("got images for %v, want %v", found, want)
	}
}

// checkRoot checks the root certificates and folders of an image.
func checkRoot(t *testing.T, root string) {
	t.Helper()
	certificates, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(certificates) {
		t.Error("no root certificates", err)
	}
	if n := bytes.Count(certificates, []byte("BEGIN CERTIFICATE")); n < 100 {
		t.Errorf("got %d root certificates", n)
	}
	for name, mode := range map[string]os.FileMode{
		"data": os.ModeDir | 0o700, "tmp": os.ModeDir | os.ModeSticky | 0o777, "linkwatch": 0o755,
	} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: got %v %v, want %v", name, info, err, mode)
		}
	}
}

// startImage starts the program of an image as a container engine does, except for the address that it listens on.
// Only root can change the root and the user.
func startImage(t *testing.T, root string, config v1.Config) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, config.Entrypoint[0]))
	cmd.Dir = filepath.Join(root, config.WorkingDir)
	if os.Getuid() == 0 {
		cmd.Path, cmd.Dir = config.Entrypoint[0], config.WorkingDir
		user := &syscall.Credential{Uid: imageUser, Gid: imageUser}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: user}
		for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) { // private to root
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	starts(t, cmd, config.Env...)
	info, err := os.Stat(filepath.Join(root, config.WorkingDir, "linkwatch.db"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the database: got %v %v", info, err)
	}
}

// The image runs as that of deploy/Dockerfile.
func TestImageIsThatOfTheDockerfile(t *testing.T) {
	src := released(t)
	dockerfile, err := os.ReadFile(filepath.Join(src.dir, "deploy/Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	config := src.imageConfig()
	entrypoint, err := json.Marshal(config.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"USER " + config.User, "WORKDIR " + config.WorkingDir, "ENTRYPOINT " + string(entrypoint)}
	for _, env := range config.Env {
		lines = append(lines, "ENV "+env)
	}
	for port := range config.ExposedPorts {
		lines = append(lines, "EXPOSE "+strings.TrimSuffix(port, "/tcp"))
	}
	for volume := range config.Volumes {
		lines = append(lines, "VOLUME "+volume)
	}
	check := config.Healthcheck
	lines = append(lines, fmt.Sprintf(`HEALTHCHECK --interval=%gs --timeout=%gs --start-period=%gs CMD ["%s"]`,
		check.Interval.Seconds(), check.Timeout.Seconds(), check.StartPeriod.Seconds(),
		strings.Join(check.Test[1:], `", "`)))
	for _, line := range lines {
		if !strings.Contains(string(dockerfile), "\n"+line+"\n") {
			t.Errorf("deploy/Dockerfile has no line %s", line)
		}
	}
}
