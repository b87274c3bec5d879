// Package second tests conform against a second fake of the service, which was written from the
// public contract alone and shares no code with the sandbox.
package second
