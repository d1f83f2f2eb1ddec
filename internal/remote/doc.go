// Package remote holds what talking to an upstream takes, whichever interface it
// speaks: waiting between attempts, answers of bounded size, addresses without
// credentials, and the rate at which things arrive.
package remote
