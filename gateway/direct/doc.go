// Package direct is a call whose audio and events go between the browser and the provider: the gateway opens it and keeps
// the credential, and then stands beside it.
//
// It owns the handing over of an offer with the locked session, the control connection to the provider's call, from which
// it knows what the call costs and when it ends, and the hang-up. It never touches the answer, and not one packet of
// media reaches the gateway, so it knows nothing of what was heard and the gate of a relayed call does not exist here.
package direct
