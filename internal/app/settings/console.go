package settings

import "errors"

// checkConsole rejects half of a provider.
func (c *Config) checkConsole() error {
	switch {
	case (c.ConsoleOIDCIssuer == "") != (c.ConsoleOIDCClientID == ""):
		return errors.New("--console-oidc-issuer and --console-oidc-client-id go together: give both, or neither")
	case c.ConsoleOIDCIssuer == "" && c.ConsoleOIDCClientSecret+c.ConsoleOIDCAudience != "":
		return errors.New("--console-oidc-client-secret and --console-oidc-audience are for the provider of --console-oidc-issuer, which is missing")
	}
	return nil
}
