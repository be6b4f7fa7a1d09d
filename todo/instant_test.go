package todo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseInstant(t *testing.T) {
	for given, want := range map[string]Instant{
		"2026-09-13T10:05:00Z":               "2026-09-13T10:05:00Z",
		"2026-09-13T12:05:00+02:00":          "2026-09-13T10:05:00Z",
		"2026-09-12T21:35:00-12:30":          "2026-09-13T10:05:00Z",
		"2026-09-13T10:05:00.0Z":             "2026-09-13T10:05:00Z",
		"2026-09-13T10:04:59.5Z":             "2026-09-13T10:05:00Z",
		"2026-09-13T10:04:59.0000000000001Z": "2026-09-13T10:05:00Z", // less than a nanosecond
		"2026-12-31T23:59:59.999+00:00":      "2027-01-01T00:00:00Z",
		"2000-01-01T00:00:00Z":               "2000-01-01T00:00:00Z",
		"1999-12-31T23:59:59.1Z":             "2000-01-01T00:00:00Z",
		"2000-01-01T00:30:00+01:00":          "",
		"9999-12-31T23:59:59.1Z":             "",
		"9999-12-31T23:59:59-00:01":          "",
		"2026-09-13T10:05:00":                "", // no zone
		"2026-09-13":                         "",
		"2026-09-13T10:05Z":                  "",
		"2026-09-13 10:05:00Z":               "",
		"2026-09-13T9:05:00Z":                "",
		"2026-09-13T10:05:00,5Z":             "",
		"2026-09-13T10:05:00.Z":              "",
		"2026-09-13T10:05:00+24:00":          "",
		"2026-02-29T10:05:00Z":               "",
		"2026-09-13T24:00:00Z":               "",
		" 2026-09-13T10:05:00Z":              "",
		"2026-09-13T10:05:00Z\n":             "",
		"tomorrow":                           "",
		"":                                   "",
	} {
		got, ok := ParseInstant(given)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, %v, want %q", given, got, ok, want)
		}
	}
}

// An instant is the first whole second that is not before the time that was given, wherever its zone is.
func TestParsedInstantIsNotBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		second := time.Unix(rapid.Int64Range(946684800+86400, 253402300799-86400).Draw(t, "second"), 0)
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "minutes east"))
		fraction := rapid.StringMatching(`(\.[0-9]{1,12})?`).Draw(t, "fraction")
		text := second.In(zone).Format(time.RFC3339)
		given := text[:19] + fraction + text[19:]
		got, ok := ParseInstant(given)
		if !ok || !got.Valid() {
			t.Fatalf("%s: got %q, %v", given, got, ok)
		}
		want := second
		if strings.Trim(fraction, ".0") != "" {
			want = second.Add(time.Second)
		}
		if at, _ := got.Time(); !at.Equal(want) {
			t.Fatalf("%s: got %s, want %s", given, got, want.UTC())
		}
		if again, ok := ParseInstant(string(got)); again != got || !ok {
			t.Fatalf("%s is read as %s", got, again)
		}
	})
}

// Whatever is read as a time is a stored instant, and Go's own reader agrees with it to the second.
func TestParsedInstantIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := fmt.Sprintf("%s-%s-%sT%s:%s:%s%s", rapid.StringMatching(`(19|20|99)[0-9]{2}`).Draw(t, "year"),
			two(t, "month"), two(t, "day"), two(t, "hour"), two(t, "minute"), two(t, "second"), rapid.StringMatching(`([.,]?[0-9]{0,3})(Z|z|[+-][0-9]{2}:?[0-9]{2})?`).Draw(t, "rest"))
		got, ok := ParseInstant(given)
		if !ok {
			return
		}
		want, err := time.Parse(time.RFC3339, given)
		at, valid := got.Time()
		if err != nil || !valid || at.Before(want) || at.Sub(want) >= time.Second {
			t.Fatalf("%s: got %s, and %v, %v", given, got, want, err)
		}
	})
}

// two draws two digits that are a good month, day, hour or minute most of the time.
func two(t *rapid.T, label string) string {
	return rapid.StringMatching(`0[1-9]|1[0-2]|[0-9]{2}`).Draw(t, label)
}
