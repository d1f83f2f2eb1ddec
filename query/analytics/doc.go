// Package analytics serves the tables of public history to people who analyse it: by column, with
// filters, as JSON, CSV or an Arrow stream. It is not part of the network's interfaces; its paths
// begin with /v0/analytics.
package analytics
