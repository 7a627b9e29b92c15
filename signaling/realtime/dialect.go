package realtime

// Dialect is which of the two published forms of the protocol a client speaks. It is chosen per connection and never by a
// model's name; package dialect translates.
type Dialect int

const (
	// GA is the form that this package's types have.
	GA Dialect = iota
	// Beta is the older form: a flat session and the old event names.
	Beta
)

func (d Dialect) String() string {
	if d == Beta {
		return "beta"
	}
	return "ga"
}
