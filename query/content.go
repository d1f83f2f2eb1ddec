package query

// Content answers 200 with a text that is the same for every caller, such as a page or a
// document. It copies it.
func (r *Request) Content(contentType string, content []byte) error {
	err := r.reply.finish(200, append(r.server.buffers.get(), content...))
	r.rc.SetContentType(contentType)
	return err
}
