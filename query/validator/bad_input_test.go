package validator

import "testing"

func (r *reality) access(t *testing.T)   {}
func (r *reality) badInput(t *testing.T) {}
