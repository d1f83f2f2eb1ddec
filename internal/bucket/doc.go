// Package bucket stores and reads objects in an S3 bucket, and runs the embedded
// S3 gateway that provides one when there is none.
//
// Client works the same against any S3: every write carries the SHA-256 of the whole
// object, which the server or the client checks before the object becomes visible,
// and which is kept with the object as metadata. Objects are never half visible: a
// write either happened completely or not at all.
//
// Downloads open published objects for sending, from the gateway's folder where there is one.
//
// The gateway is a child process of our own binary that serves a plain folder, see
// StartGateway and GatewayMain.
package bucket
