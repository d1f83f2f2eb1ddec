// Package page is what the pages of the console have in common: the frame around them with its
// search box, the rights and the instant that a request is for, sessions, forms that are sent once,
// errors as pages, and the style sheet, scripts and small components that they are made of.
//
// A page is a Handler: it reads the request through its View, asks readers, and returns a Page
// whose body is a templ component of a view model. Pages have no SQL, and components decide
// nothing but what is there and in which order.
package page
