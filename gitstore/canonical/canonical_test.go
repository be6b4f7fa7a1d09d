package canonical

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestMarshalIsRFC8785(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"members by UTF-16 code units", `{"\ufb33":1,"\ud83d\ude00":2,"a":3}`, "{\"a\":3,\"\U0001F600\":2,\"\uFB33\":1}"},
		{"only the escapes prescribed", `"\u003c\u0026\u003e\u2028\/\u0007\u0009"`, "\"<&>\u2028/\\u0007\\t\""},
		{"numbers as ECMAScript", `[1.0,1e3,-0,9007199254740991]`, `[1,1000,0,9007199254740991]`},
		{"no spaces", "{ \"b\" : [ 1 , 2 ] }", `{"b":[1,2]}`},
	} {
		got, err := Marshal(jsontext.Value(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

type record struct {
	A string   `json:"a"`
	B []string `json:"b,omitempty"`
	N int64    `json:"n,omitzero"`
}

func TestDecodeReadsOnlyWhatEncodeWrites(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"canonical", `{"a":"x","b":["y"],"n":1}` + "\n", true},
		{"optional members left out", `{"a":"x"}` + "\n", true},
		{"no final newline", `{"a":"x"}`, false},
		{"two final newlines", `{"a":"x"}` + "\n\n", false},
		{"a space", `{"a": "x"}` + "\n", false},
		{"another order", `{"b":["y"],"a":"x"}` + "\n", false},
		{"an unknown member", `{"a":"x","z":1}` + "\n", false},
		{"a member twice", `{"a":"x","a":"x"}` + "\n", false},
		{"another letter case", `{"A":"x"}` + "\n", false},
		{"null", `{"a":"x","b":null}` + "\n", false},
		{"an empty optional member", `{"a":"x","b":[]}` + "\n", false},
		{"a needless escape", `{"a":"\u0078"}` + "\n", false},
		{"invalid UTF-8", "{\"a\":\"\xff\"}\n", false},
		{"a lone surrogate", `{"a":"\ud800"}` + "\n", false},
		{"trailing data", `{"a":"x"} {}` + "\n", false},
		{"a number written otherwise", `{"a":"x","n":1.0}` + "\n", false},
	} {
		var r record
		err := Decode([]byte(tt.in), &r)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := Decode([]byte(`{"a": "x"}`+"\n"), new(record)); !errors.Is(err, ErrNotCanonical) {
		t.Errorf("other spacing: %v", err)
	}
}

// What is encoded is decoded to the same value, whatever text it holds.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := record{A: rapid.String().Draw(t, "a"), B: rapid.SliceOf(rapid.String()).Draw(t, "b"), N: rapid.Int64Range(0, MaxInteger).Draw(t, "n")}
		b, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got record
		if err := Decode(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	})
}

// Whatever is accepted is written back byte for byte, and canonical bytes stay what they are.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":"x","b":["y"],"n":1}` + "\n"))
	f.Add([]byte(`{"a":"\ud83d\ude00"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		Schema(b)
		var r record
		if Decode(b, &r) != nil {
			return
		}
		again, err := Encode(r)
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%q became %q, %v", b, again, err)
		}
	})
}
