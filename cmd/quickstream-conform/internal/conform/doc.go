// Package conform asks a test facility of the service the questions that its public contract leaves
// open, and writes the answers into a file that sets the world of a sandbox.
//
// [Run] makes at most 300 requests, at most one a second, with public test numbers and amounts of a
// few dollars, and undoes all that it makes. What it makes is in the journal before its request is sent, so
// that the next run undoes what an interrupted one has left.
//
// Each question is answered with a value of the assumption, with the form of something else, or
// with why it stays open: never with the nearest value.
package conform
