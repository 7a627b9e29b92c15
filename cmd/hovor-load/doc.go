// Command hovor-load speaks to a gateway as many people at once and says what they would have felt: how long setup took, how long an
// answer, how long until the assistant fell silent when interrupted, and what the network lost.
//
// It owns the replay of audio fixtures, the measuring of what comes back, and the benchmark against a bare relay.
// It never reads anything a person's browser could not see, apart from the /metrics page it is pointed at.
package main
