package remote

import (
	"errors"
	"net"
	"net/url"
)

// Redact names a URL without user, password, query and fragment.
func Redact(u *url.URL) string {
	if u == nil {
		return ""
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// WithoutURL takes the request URL, which may hold credentials, out of a transport error.
func WithoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
