// Package authtest has tokens that every interface must refuse.
package authtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// Sign makes a token of any header and claims, signed with a shared secret (HS256).
func Sign(secret []byte, header, claims string) string {
	text := encode(header) + "." + encode(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// goodHeader is that of a token with a shared secret.
const goodHeader = `{"alg":"HS256","typ":"JWT"}`

// Wrong are tokens for a user and an audience, by what is wrong with them. All but the last few are
// signed well.
func Wrong(secret []byte, user, audience string, now time.Time) map[string]string {
	good := fmt.Sprintf(`"sub":%q,"aud":%q,"exp":%d`, user, audience, now.Unix()+3600)
	wrong := map[string]string{}
	for name, claims := range map[string]string{
		"another user before, in another case": `{"sub":"nobody","Sub":%q,` + good[len(`"sub":`)+len(user)+3:] + `}`,
		"the user in another case":             strings.Replace("{"+good+"}", `"sub"`, `"SUB"`, 1),
		"the user beside one in another case":  `{` + good + `,"SUB":"nobody"}`,
		"two users":                            `{"sub":"nobody",` + good + `}`,
		"the same user twice":                  `{` + good + `,"sub":` + fmt.Sprintf("%q", user) + `}`,
		"two users, one escaped":               `{"s\u0075b":"nobody",` + good + `}`,
		"no user":                              fmt.Sprintf(`{"aud":%q}`, audience),
		"an empty user":                        fmt.Sprintf(`{"sub":"","aud":%q}`, audience),
		"a user that is null":                  fmt.Sprintf(`{"sub":null,"aud":%q}`, audience),
		"a user that is a list":                fmt.Sprintf(`{"sub":[%q],"aud":%q}`, user, audience),
		"a user that is a number":              fmt.Sprintf(`{"sub":7,"aud":%q}`, audience),
		"a user that is an object":             fmt.Sprintf(`{"sub":{},"aud":%q}`, audience),
		"a user that is a step in a path":      fmt.Sprintf(`{"sub":"..","aud":%q}`, audience),
		"no audience":                          fmt.Sprintf(`{"sub":%q}`, user),
		"an empty audience":                    fmt.Sprintf(`{"sub":%q,"aud":""}`, user),
		"an audience in another case":          fmt.Sprintf(`{"sub":%q,"aud":%q}`, user, strings.ToUpper(audience)),
		"an audience that is longer":           fmt.Sprintf(`{"sub":%q,"aud":%q}`, user, audience+"/"),
		"an audience that is null":             fmt.Sprintf(`{"sub":%q,"aud":null}`, user),
		"an audience that is a number":         fmt.Sprintf(`{"sub":%q,"aud":7}`, user),
		"an audience that is an object":        fmt.Sprintf(`{"sub":%q,"aud":{%q:true}}`, user, audience),
		"an audience among numbers":            fmt.Sprintf(`{"sub":%q,"aud":[%q,7]}`, user, audience),
		"an audience beside null":              fmt.Sprintf(`{"sub":%q,"aud":[%q,null]}`, user, audience),
		"the audience in another member":       fmt.Sprintf(`{"sub":%q,"Aud":%q}`, user, audience),
		"two audiences":                        `{` + good + `,"aud":"x"}`,
		"made in the future":                   fmt.Sprintf(`{%s,"iat":%d}`, good, now.Unix()+300),
		"good in the future":                   fmt.Sprintf(`{%s,"nbf":%d}`, good, now.Unix()+300),
		"made when it has expired":             fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":%d,"iat":%d}`, user, audience, now.Unix()+5, now.Unix()+30),
		"a time of making that is a text":      fmt.Sprintf(`{%s,"iat":"%d"}`, good, now.Unix()),
		"a time of making that is null":        `{` + good + `,"iat":null}`,
		"a time of making that is an object":   `{` + good + `,"iat":{}}`,
		"a beginning that is a text":           fmt.Sprintf(`{%s,"nbf":"%d"}`, good, now.Unix()),
		"a negative beginning":                 `{` + good + `,"nbf":-1}`,
		"expired":                              fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":%d}`, user, audience, now.Unix()-1),
		"expiring now":                         fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":%d}`, user, audience, now.Unix()),
		"expired, and then again not":          fmt.Sprintf(`{"exp":%d,%s}`, now.Unix()-1, good),
		"expired, in another case":             fmt.Sprintf(`{%s,"EXP":%d}`, good, now.Unix()-1),
		"an expiry of zero":                    fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":0}`, user, audience),
		"a negative expiry":                    fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":-1}`, user, audience),
		"an expiry that is a text":             fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":"%d"}`, user, audience, now.Unix()+3600),
		"an expiry that is null":               fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":null}`, user, audience),
		"an expiry that is true":               fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":true}`, user, audience),
		"an expiry that is no number":          fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":1e400}`, user, audience),
		"an expiry far away":                   fmt.Sprintf(`{"sub":%q,"aud":%q,"exp":1e18}`, user, audience),
		"an issuer that is a number":           `{` + good + `,"iss":7}`,
		"a scope that is a list":               `{` + good + `,"scope":["daml_ledger_api"]}`,
		"an id that is an object":              `{` + good + `,"jti":{}}`,
		"a doubled member inside":              `{` + good + `,"x":{"a":1,"a":2}}`,
		"text behind the claims":               `{` + good + `}{}`,
		"claims that are a list":               `[{` + good + `}]`,
		"claims that are null":                 `null`,
		"claims that are cut off":              `{` + good,
		"claims that are nothing":              ``,
		"claims with many levels":              `{` + good + `,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		if name == "another user before, in another case" {
			claims = fmt.Sprintf(claims, user)
		}
		wrong[name] = Sign(secret, goodHeader, claims)
	}
	for name, header := range map[string]string{
		"crit":                             `{"alg":"HS256","crit":["exp"]}`,
		"crit that is empty":               `{"alg":"HS256","crit":[]}`,
		"crit of something unknown":        `{"alg":"HS256","crit":["urn:x"],"urn:x":true}`,
		"an unencoded payload":             `{"alg":"HS256","b64":false,"crit":["b64"]}`,
		"no encoding without saying so":    `{"alg":"HS256","b64":false}`,
		"no method":                        `{"typ":"JWT"}`,
		"a method that is null":            `{"alg":null}`,
		"a method that is a list":          `{"alg":["HS256"]}`,
		"a method in another case":         `{"alg":"hs256"}`,
		"a method in another member":       `{"Alg":"HS256"}`,
		"two methods":                      `{"alg":"none","alg":"HS256"}`,
		"a method that is none":            `{"alg":"none"}`,
		"another method":                   `{"alg":"HS512"}`,
		"a method for public keys":         `{"alg":"RS256"}`,
		"a key id that is a number":        `{"alg":"HS256","kid":7}`,
		"a key id that is null":            `{"alg":"HS256","kid":null}`,
		"a type that is a number":          `{"alg":"HS256","typ":7}`,
		"a header that is a list":          `["HS256"]`,
		"text behind the header":           `{"alg":"HS256"} x`,
		"a header that is cut off":         `{"alg":"HS256"`,
		"a critical header, in other case": `{"alg":"HS256","CRIT":["x"]}`,
	} {
		wrong["a header with "+name] = Sign(secret, header, `{`+good+`}`)
	}
	token := Sign(secret, goodHeader, `{`+good+`}`)
	head, signature := token[:strings.LastIndexByte(token, '.')], token[strings.LastIndexByte(token, '.')+1:]
	wrong["no signature"] = head + "."
	wrong["two parts"] = head
	wrong["four parts"] = token + ".x"
	wrong["a cut-off signature"] = token[:len(token)-3]
	wrong["a padded signature"] = token + "="
	wrong["another signature"] = head + "." + strings.ToUpper(signature)
	wrong["another secret"] = Sign([]byte("another secret of 32 bytes, or more"), goodHeader, `{`+good+`}`)
	wrong["standard encoding"] = strings.Replace(token, ".", "+.", 1)
	return wrong
}
