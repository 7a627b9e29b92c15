// Package vnettest lays a virtual network for tests: hosts with addresses, links with delay, jitter and seeded loss.
//
// It owns the routers of one test and stops them with it. Inside a testing/synctest bubble every delay is virtual and
// exact. It never touches a real socket.
package vnettest
