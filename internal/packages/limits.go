package packages

// What a package may have. The largest one of the network has 1.7 MB, 16,060 types and 22 modules.
const (
	MaxFile      = 64 << 20  // bytes of a .dar file, and of each package
	maxInflated  = 256 << 20 // bytes of all packages of a .dar file
	maxEntries   = 2_000     // of a .dar file
	maxDirectory = 4 << 20   // bytes of the directory of a .dar file
	maxManifest  = 1 << 20   // bytes

	// maxParts bounds strings, names, types, fields and all else that is kept of a package.
	maxParts     = 1_000_000
	maxTemplates = 2_000 // and interfaces, of a package
	maxFields    = 2_000 // of a record, variant or enum
	maxArguments = 64    // of a type
	maxNesting   = 100   // of types that are not in the table of types
	maxName      = 1_000 // bytes
)
