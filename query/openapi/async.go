package openapi

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// asyncDocument is what a page shows of an AsyncAPI document beside its title and prose.
type asyncDocument struct {
	Servers  ordered[asyncServer]
	Channels ordered[channel]
}

type asyncServer struct{ Host, Protocol, Description string }

// channel is one websocket. Its messages are by name.
type channel struct {
	Address, Title, Description string
	Messages                    ordered[message]
}

// message is a kind of frame.
type message struct {
	Name    string
	Payload struct {
		Ref string `yaml:"$ref"`
	}
}

// parseAsync gives an AsyncAPI document the form of the others for its page: each channel is
// an operation that begins a websocket, with the frames that follow as its answers.
func parseAsync(text []byte, d *document) (*document, error) {
	var async asyncDocument
	if err := yaml.Unmarshal(text, &async); err != nil {
		return nil, fmt.Errorf("reading an AsyncAPI document: %w", err)
	}
	for _, s := range async.Servers {
		d.Servers = append(d.Servers, server{s.Value.Protocol + "://" + s.Value.Host, s.Value.Description})
	}
	for _, c := range async.Channels {
		d.Tags = append(d.Tags, struct{ Name, Description string }{Name: c.Value.Title})
		op := operation{OperationID: c.Key, Tags: []string{c.Value.Title}, Summary: c.Value.Title, Description: c.Value.Description}
		for _, m := range c.Value.Messages {
			frame := response{Description: fmt.Sprintf("A frame: `%s`, described in %s", m.Value.Name, m.Value.Payload.Ref)}
			op.Responses = append(op.Responses, entry[response]{m.Key, frame})
		}
		d.Paths = append(d.Paths, entry[ordered[operation]]{c.Value.Address, ordered[operation]{{"get", op}}})
	}
	return d, nil
}
