package gateway

import (
	"slices"
	"testing"

	"hovor/gateway/call/conversation"
	"hovor/gateway/config"
)

func TestTheFileAndTheGateNameTheSameFields(t *testing.T) {
	file, gate := slices.Sorted(slices.Values(config.ClientFields)), slices.Sorted(slices.Values(conversation.FieldNames()))
	if !slices.Equal(file, gate) {
		t.Errorf("the configuration knows %v\nthe gate knows %v", file, gate)
	}
}

func TestASecretOnlyNarrows(t *testing.T) {
	for _, c := range []struct{ all, some, want []string }{
		{nil, nil, nil}, {[]string{"a"}, nil, []string{"a"}}, {nil, []string{"a"}, []string{"a"}},
		{[]string{"a", "b"}, []string{"b", "c"}, []string{"b"}}, {[]string{"a"}, []string{}, []string{}},
	} {
		if got := narrow(c.all, c.some); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("narrow(%v, %v) = %v", c.all, c.some, got)
		}
	}
	if shorter(0, 0) != 0 || shorter(5, 0) != 5 || shorter(0, 3) != 3 || shorter(5, 3) != 3 || shorter(3, 5) != 3 {
		t.Error("the shorter of two bounds")
	}
}
