// Package person is one simulated person on a call: a mouth that speaks on an absolute schedule, an ear that notes when something became
// audible, and the turns between them.
//
// It owns the definitions of every figure that is measured in a call (see Figures). It never shares anything with the gateway but the
// protocol, and never believes an event where a sample can be heard.
package person
