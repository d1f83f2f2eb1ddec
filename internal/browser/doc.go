// Package browser drives a Chromium, as people use the console with it: for tests, for the pictures of
// the documentation, and to measure what pages weigh. It is not part of the product.
//
// A Browser is a process with a profile of its own, which ends with it. A Tab is a page of one person:
// its cookies are its own, and it notes what the page complains of, loads and moves. What waits does
// so for events of the page, never for a time.
package browser
