// Command ledgerlake is the whole product in one binary: see package documentation
// of the folders that package app wires together, and ledgerlake --help.
package main

import (
	"os"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func main() { os.Exit(app.Main(readBuild())) }
