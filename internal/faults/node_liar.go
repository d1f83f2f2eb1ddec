package faults

import (
	"bytes"
	"encoding/json"
)

// NodeLiar tells one lie about one update of a node's own stream, in frames and in lists. It
// is safe for concurrent use.
type NodeLiar struct {
	teller
	lie     NodeLie
	subject NodeSubject
}

// NodeSubject is an update of a node's own stream that a lie may be told about.
type NodeSubject struct {
	UpdateID string
	Offset   int64

	frame []byte
}

// String names the subject.
func (s NodeSubject) String() string { return "update " + s.UpdateID }

// ReadNodeSubject reads a frame of the updates stream; ok is false for checkpoints.
func ReadNodeSubject(frame []byte) (s NodeSubject, ok bool) {
	var f struct {
		Update map[string]struct {
			Value struct {
				UpdateID string `json:"updateId"`
				Offset   int64  `json:"offset"`
			} `json:"value"`
		} `json:"update"`
	}
	if json.Unmarshal(frame, &f) != nil {
		return s, false
	}
	for _, u := range f.Update {
		s = NodeSubject{u.Value.UpdateID, u.Value.Offset, bytes.Clone(frame)}
	}
	return s, s.UpdateID != ""
}

// NewNodeLiar returns one that begins at once, or, for a lie that is Late, with Begin.
func NewNodeLiar(seed Seed, lie NodeLie, subject NodeSubject) *NodeLiar {
	l := &NodeLiar{teller: teller{name: lie.Name, about: subject.String(), seed: seed}, lie: lie, subject: subject}
	l.telling.Store(!lie.Late)
	return l
}

// frames are those that go out for one that came in.
func (l *NodeLiar) frames(frame []byte) [][]byte {
	if l == nil || !l.telling.Load() || !bytes.Contains(frame, []byte(`"updateId":"`+l.subject.UpdateID+`"`)) {
		return [][]byte{frame}
	}
	l.told.Add(1)
	return l.lie.tell(l.rand(), frame)
}

// rewrite is the answer of a list call as it is given.
func (l *NodeLiar) rewrite(body []byte) []byte {
	if l == nil || !l.telling.Load() || !bytes.Contains(body, []byte(l.subject.UpdateID)) {
		return body
	}
	var elements []json.RawMessage
	if json.Unmarshal(body, &elements) != nil {
		return body
	}
	var told [][]byte
	for _, e := range elements {
		told = append(told, l.frames(e)...)
	}
	return append(append([]byte{'['}, bytes.Join(told, []byte{','})...), ']')
}
