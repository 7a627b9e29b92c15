package provider

import "net/http"

// ClassOfStatus names the refusal that an HTTP status is.
func ClassOfStatus(status int) Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return Timeout
	case status >= 500:
		return Overloaded
	case status >= 400:
		return Rejected
	}
	return BadAnswer
}
