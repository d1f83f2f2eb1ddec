// Package explore reads public history for people who look around in it: updates from the newest on with
// filters, what an update did to coins, and what begins with some characters.
//
// Every read is bounded in rows and time. One that reaches its bound returns what it found and says how far
// it has looked.
package explore
