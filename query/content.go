package query

import "context"

// Content answers 200 with a text that is the same for every caller, such as a page or a
// document. It copies it.
func (r *Request) Content(contentType string, content []byte) error {
	return r.ContentAs(200, contentType, content)
}

// ContentAs is Content with another status.
func (r *Request) ContentAs(status int, contentType string, content []byte) error {
	err := r.reply.finish(status, append(r.server.buffers.get(), content...))
	r.rc.SetContentType(contentType)
	return err
}

// AddHeader adds a header to the answer, beside those of the same name.
func (r *Request) AddHeader(name, value string) { r.rc.Response.Header.Add(name, value) }

// ProduceAs is Produce for content of any type of which nothing is gathered: each piece is sent when it is made, and
// has the request's whole time limit. An error after the first one cuts the connection.
func (r *Request) ProduceAs(ctx context.Context, contentType string, next Producer) error {
	first, more, err := next(ctx, r.server.buffers.get())
	if err != nil {
		r.server.buffers.put(first)
		return err
	}
	if more {
		err = r.reply.stream(first, next)
	} else {
		err = r.reply.finish(200, first)
	}
	r.rc.SetContentType(contentType)
	return err
}
