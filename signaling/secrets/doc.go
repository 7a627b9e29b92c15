// Package secrets keeps client secrets: short-lived ek_ tokens, each bound to claims that its issuer decides.
//
// It owns issue, expiry, single use and bounded memory. It stores no token, only a keyed hash of it, and never logs one.
// What the claims mean is its user's business.
package secrets
