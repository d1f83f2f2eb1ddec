package network

// Cut cuts JSON lines into frames and objects. It looks at nothing but the
// compressed lines, so that the cuts are the same wherever they are compressed alike.
type Cut struct {
	// FrameBytes is the compressed size from which on a frame is closed, after a line.
	FrameBytes int64
	// ObjectBytes is the size from which on an object is closed, at the end of a frame.
	ObjectBytes int64
}

// DefaultCut is the network's.
var DefaultCut = Cut{FrameBytes: 12 << 20, ObjectBytes: 128 << 20}
