package settings

import "testing"

func TestCheckConsole(t *testing.T) {
	for name, c := range map[string]struct {
		console Console
		ok      bool
	}{
		"nothing":               {Console{}, true},
		"a public client":       {Console{ConsoleOIDCIssuer: "https://id.example.com", ConsoleOIDCClientID: "console"}, true},
		"no client":             {Console{ConsoleOIDCIssuer: "https://id.example.com"}, false},
		"no issuer":             {Console{ConsoleOIDCClientID: "console"}, false},
		"a secret of nobody":    {Console{ConsoleOIDCClientSecret: "secret"}, false},
		"an audience of nobody": {Console{ConsoleOIDCAudience: "https://a.example.com"}, false},
	} {
		cfg := Config{Console: c.console}
		if err := cfg.checkConsole(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
