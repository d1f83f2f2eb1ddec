package nodeapi

import (
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// identityProviders are those that were configured beside the node's own, until it ends. Nothing is asked
// of them: tokens are checked with the node's own secret, whoever a user belongs to.
type identityProviders struct {
	mu   sync.Mutex
	byID map[string]identityProvider
}

// identityProvider is a configuration as requests and answers have it.
type identityProvider struct {
	ID          string `json:"identityProviderId"`
	Deactivated bool   `json:"isDeactivated"`
	Issuer      string `json:"issuer"`
	JwksURL     string `json:"jwksUrl"`
	Audience    string `json:"audience"`
}

// checkIdentityProvider refuses identity providers that are not there.
func (n *nodeCore) checkIdentityProvider(id string) error {
	if id == "" || id == "default" {
		return nil
	}
	_, err := n.providers.get(id)
	return err
}

func unknownProvider(id string) error {
	return nodeRefusal("IDENTITY_PROVIDER_CONFIG_NOT_FOUND", "Identity provider config %q has not been found.", id)
}

func (p *identityProviders) get(id string) (identityProvider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.byID[id]
	if !ok {
		return identityProvider{}, unknownProvider(id)
	}
	return found, nil
}

// put adds a configuration, or replaces one; no two have the same issuer.
func (p *identityProviders) put(c identityProvider, replace bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.byID[c.ID]; ok && !replace {
		return nodeRefusal("IDENTITY_PROVIDER_CONFIG_ALREADY_EXISTS", "Identity provider config %q already exists.", c.ID)
	}
	for id, other := range p.byID {
		if id != c.ID && other.Issuer == c.Issuer {
			return nodeRefusal("IDENTITY_PROVIDER_CONFIG_ISSUER_ALREADY_EXISTS", "Identity provider config with issuer %q already exists.", c.Issuer)
		}
	}
	p.byID[c.ID] = c
	return nil
}

type providerRequest struct {
	Config *identityProvider `json:"identityProviderConfig"`
	Mask   *fieldMask        `json:"updateMask"`
}

func providerAnswer(c identityProvider, err error) (any, error) {
	return map[string]any{"identityProviderConfig": c}, err
}

// listProviders lists those beside the node's own, by id.
func (n *userServer) listProviders(*http.Request) (any, error) {
	n.providers.mu.Lock()
	defer n.providers.mu.Unlock()
	list := []identityProvider{}
	for _, id := range slices.Sorted(maps.Keys(n.providers.byID)) {
		list = append(list, n.providers.byID[id])
	}
	return map[string]any{"identityProviderConfigs": list}, nil
}

func (n *userServer) createProvider(_ *http.Request, q *providerRequest) (any, error) {
	c := q.Config
	switch {
	case c == nil:
		return nil, reply.BadRequest("invalid body: identityProviderConfig is required")
	case c.ID == "" || c.ID == "default":
		return nil, missingField("identity_provider_id")
	case c.Issuer == "":
		return nil, missingField("issuer")
	case c.JwksURL == "":
		return nil, missingField("jwks_url")
	}
	return providerAnswer(*c, n.providers.put(*c, false))
}

func (n *userServer) getProvider(r *http.Request) (any, error) {
	return providerAnswer(n.providers.get(r.PathValue("provider")))
}

// updateProvider changes the members that a mask names.
func (n *userServer) updateProvider(r *http.Request, q *providerRequest) (any, error) {
	id := r.PathValue("provider")
	switch {
	case q.Config == nil:
		return nil, reply.BadRequest("invalid body: identityProviderConfig is required")
	case q.Mask == nil || len(q.Mask.Paths) == 0:
		return nil, missingField("update_mask")
	case q.Config.ID != "" && q.Config.ID != id:
		return nil, invalidArgument("identity_provider_id %q is not that of the path, %q", q.Config.ID, id)
	}
	c, err := n.providers.get(id)
	if err != nil {
		return nil, err
	}
	for _, path := range q.Mask.Paths {
		switch path {
		case "is_deactivated", "isDeactivated":
			c.Deactivated = q.Config.Deactivated
		case "issuer":
			c.Issuer = q.Config.Issuer
		case "jwks_url", "jwksUrl":
			c.JwksURL = q.Config.JwksURL
		case "audience":
			c.Audience = q.Config.Audience
		default:
			return nil, invalidArgument("update_mask has the unknown path %q", path)
		}
	}
	return providerAnswer(c, n.providers.put(c, true))
}

func (n *userServer) deleteProvider(r *http.Request) (any, error) {
	id := r.PathValue("provider")
	n.providers.mu.Lock()
	defer n.providers.mu.Unlock()
	if _, ok := n.providers.byID[id]; !ok {
		return nil, unknownProvider(id)
	}
	delete(n.providers.byID, id)
	return struct{}{}, nil
}

type moveUserRequest struct {
	UserID string `json:"userId"`
	Source string `json:"sourceIdentityProviderId"`
	Target string `json:"targetIdentityProviderId"`
}

// moveUser gives a user another identity provider.
func (n *userServer) moveUser(r *http.Request, q *moveUserRequest) (any, error) {
	id := r.PathValue("user")
	if q.UserID != "" && q.UserID != id {
		return nil, invalidArgument("userId %q is not the user of the path, %q", q.UserID, id)
	}
	for _, provider := range []string{q.Source, q.Target} {
		if err := n.checkIdentityProvider(provider); err != nil {
			return nil, err
		}
	}
	return struct{}{}, n.users.move(id, q.Source, q.Target)
}

// move changes the identity provider of a user.
func (u *nodeUsers) move(id, source, target string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	user := u.users[id]
	if user == nil || user.IdentityProviderID != source {
		return unknownUser(id)
	}
	changed := *user
	changed.IdentityProviderID = target
	changed.version++
	if err := u.keep(&changed, false); err != nil {
		return err
	}
	*user = changed
	return nil
}
