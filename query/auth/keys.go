package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

// Keys check the signatures of tokens.
type Keys interface {
	// Methods are the signing methods that the keys are for, such as "RS256".
	Methods() []string
	// Func finds the key of a token.
	Func(ctx context.Context) jwt.Keyfunc
	// Ready returns nil when there are keys.
	Ready(ctx context.Context) error
}

// fixedKey is one key that does not change.
type fixedKey struct {
	methods []string
	key     any
}

func (k fixedKey) Methods() []string { return k.methods }

func (k fixedKey) Func(context.Context) jwt.Keyfunc {
	return func(*jwt.Token) (any, error) { return k.key, nil }
}

func (k fixedKey) Ready(context.Context) error { return nil }

// minSecret is the least length of a shared secret, that of the hash it is used with.
const minSecret = 32

// Secret are tokens signed with a shared secret of at least 32 bytes (HS256). Whoever can
// check such a token can make one: it is for development.
func Secret(secret []byte) (Keys, error) {
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the shared secret of tokens has %d bytes, at least %d are needed", len(secret), minSecret)
	}
	return UnsafeSecret(secret)
}

// UnsafeSecret is Secret for one of any length that is not empty, such as the conventional
// "unsafe" of development networks. It must not be reachable by others.
func UnsafeSecret(secret []byte) (Keys, error) {
	if len(secret) == 0 {
		return nil, errors.New("the shared secret of tokens is empty")
	}
	return fixedKey{[]string{"HS256"}, bytes.Clone(secret)}, nil
}

// Certificate are tokens signed with the key of a certificate, or with a public key, in PEM:
// RS256, or the method of the elliptic curve.
func Certificate(text []byte) (Keys, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("there is no PEM block")
	}
	key, err := publicKey(block)
	if err != nil {
		return nil, err
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 {
			return nil, fmt.Errorf("the RSA key has %d bits, at least 2048 are needed", key.N.BitLen())
		}
		return fixedKey{[]string{"RS256"}, key}, nil
	case *ecdsa.PublicKey:
		if method, ok := curves[key.Curve]; ok {
			return fixedKey{[]string{method}, key}, nil
		}
	}
	return nil, fmt.Errorf("no signing method is known for a key of type %T", key)
}

var curves = map[elliptic.Curve]string{elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512"}

func publicKey(block *pem.Block) (crypto.PublicKey, error) {
	switch block.Type {
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("reading the certificate: %w", err)
		}
		return c.PublicKey, nil
	case "PUBLIC KEY":
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("reading the public key: %w", err)
		}
		return key, nil
	}
	return nil, fmt.Errorf("the PEM block is a %s, neither a CERTIFICATE nor a PUBLIC KEY", block.Type)
}

// Times of a key set. A key that is not known makes the set be read again, but callers with
// made-up keys must not make that a load: a real new key is seen by the next regular reading
// at the latest.
const (
	keySetTimeout  = 10 * time.Second
	keySetInterval = time.Minute
	unknownKeys    = 10 * time.Second
	// rateWait is how long a token waits for its turn to have the set read; most do not.
	rateWait = 100 * time.Millisecond
)

// keySet is a JSON Web Key Set that is read from a URL.
type keySet struct {
	keyfunc.Keyfunc
	url string
}

// KeySet are tokens signed with the keys of a JSON Web Key Set: RS256, ES256 and ES512. It
// is read at once, and again until ctx ends; when it cannot be read, Ready tells.
func KeySet(ctx context.Context, url string, log *slog.Logger) (Keys, error) {
	set, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{url}, keyfunc.Override{
		Client: &http.Client{Timeout: keySetTimeout}, HTTPTimeout: keySetTimeout, RefreshInterval: keySetInterval,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeys), 1), RateLimitWaitMax: rateWait,
		RefreshErrorHandlerFunc: func(url string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				log.WarnContext(ctx, "cannot read the key set of tokens", "url", url, "err", err)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the key set %s: %w", url, err)
	}
	return keySet{set, url}, nil
}

func (k keySet) Methods() []string { return []string{"RS256", "ES256", "ES512"} }

func (k keySet) Func(ctx context.Context) jwt.Keyfunc { return k.KeyfuncCtx(ctx) }

func (k keySet) Ready(ctx context.Context) error {
	all, err := k.Storage().KeyReadAll(ctx)
	if err != nil {
		return fmt.Errorf("reading the keys of %s: %w", k.url, err)
	}
	if len(all) == 0 {
		return fmt.Errorf("the key set %s has returned no key yet", k.url)
	}
	return nil
}
