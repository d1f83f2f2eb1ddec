package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
)

// PassSocket is Pass for a websocket. Messages are passed both ways until one side closes, and with
// them the code and reason of the close. done is called once, when the websocket has ended, and not if
// there is an error. anyOrigin is as in query.SocketOptions.
func (s *Server) PassSocket(ctx context.Context, r *query.Request, anyOrigin bool, done func()) error {
	path, err := r.RoutePath()
	if err != nil {
		return err
	}
	address, err := s.address(path, r.QueryString())
	if err != nil {
		return err
	}
	conn, response, err := websocket.Dial(ctx, address.String(), &websocket.DialOptions{
		HTTPClient: s.client, HTTPHeader: s.headersOf(r), Subprotocols: protocolsOf(r.Header("Sec-WebSocket-Protocol")),
	})
	if err != nil && response != nil && response.StatusCode >= http.StatusBadRequest {
		done()
		return reply(r, response.StatusCode, response.Header, -1, response.Body) // as much of it as the library keeps
	}
	if err != nil {
		return fmt.Errorf("opening a websocket to %s: %w", s.base.Host, err)
	}
	conn.SetReadLimit(maxAnswer)
	options := query.SocketOptions{AnyOrigin: anyOrigin}
	if agreed := conn.Subprotocol(); agreed != "" {
		options.Protocols = []string{agreed}
	}
	err = r.Upgrade(options, func(ctx context.Context, client *query.Socket) error {
		defer done()
		return pass(ctx, client, conn)
	})
	if err != nil {
		conn.CloseNow()
	}
	return err
}

// protocolsOf are the subprotocols that a client offers.
func protocolsOf(header string) (list []string) {
	for offered := range strings.SplitSeq(header, ",") {
		if offered = strings.TrimSpace(offered); offered != "" {
			list = append(list, offered)
		}
	}
	return list
}

// pass passes messages between a client and the server until one of them closes.
func pass(ctx context.Context, client *query.Socket, server *websocket.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error {
		defer stop()
		return fromClient(ctx, client, server)
	})
	group.Go(func() error {
		defer stop()
		return fromServer(ctx, client, server)
	})
	defer server.CloseNow()
	return group.Wait()
}

// fromClient ends with the client's side of the connection, which is no error.
func fromClient(ctx context.Context, client *query.Socket, server *websocket.Conn) error {
	for {
		message, err := client.Receive(ctx)
		switch {
		case errors.Is(err, query.ErrBinary):
			client.Close(int(websocket.StatusUnsupportedData), "messages are texts")
			return nil
		case err != nil:
			return nil
		}
		if err := server.Write(ctx, websocket.MessageText, message); err != nil {
			return nil // the other direction knows why
		}
	}
}

// fromServer ends with the server's side of the connection.
func fromServer(ctx context.Context, client *query.Socket, server *websocket.Conn) error {
	for {
		_, message, err := server.Read(ctx)
		if err == nil {
			err = client.Send(message, []int{len(message)})
			if err != nil {
				return nil // the client is gone
			}
			continue
		}
		var closed websocket.CloseError
		switch {
		case errors.As(err, &closed):
			client.Close(int(closed.Code), closed.Reason)
			return nil
		case ctx.Err() != nil:
			client.Close(int(websocket.StatusGoingAway), "")
			return nil
		}
		client.Close(int(websocket.StatusInternalError), "the connection to the server behind this one is lost")
		return fmt.Errorf("reading a websocket: %w", err)
	}
}
