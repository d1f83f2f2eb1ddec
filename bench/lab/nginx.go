package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Nginx is compared with downloads.
var Nginx = Comparator{"nginx", "apt-get install nginx-light", func() error {
	_, err := exec.LookPath("nginx")
	return err
}}

const nginxStart = 10 * time.Second

// StartNginx serves a folder by nginx with its usual settings for files.
func (l *Lab) StartNginx(ctx context.Context, folder string) (*Product, error) {
	dir := l.Folder("nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for nginx: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	account := ""
	if os.Getuid() == 0 {
		account = "user root;" // the objects are ours alone
	}
	conf := fmt.Sprintf(`%s
worker_processes auto;
daemon off;
pid %[2]s/nginx.pid;
error_log %[2]s/error.log;
events { worker_connections 512; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	client_body_temp_path %[2]s/body;
	proxy_temp_path %[2]s/proxy;
	fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	server { listen 127.0.0.1:%[3]d; root %[4]s; }
}
`, account, dir, port, folder)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		return nil, fmt.Errorf("configuring nginx: %w", err)
	}
	cmd := exec.CommandContext(ctx, "nginx", "-c", file, "-e", filepath.Join(dir, "error.log"))
	cmd.Stderr = l.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	p := &Product{Cmd: cmd, URL: fmt.Sprintf("http://127.0.0.1:%d", port)}
	if err := Until(ctx, 50*time.Millisecond, nginxStart, "starting nginx", func() (bool, error) {
		response, err := http.Head(p.URL)
		if err != nil {
			return false, ctx.Err()
		}
		return true, response.Body.Close() // a folder without an index: any answer will do
	}); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}
