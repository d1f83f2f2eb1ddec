package prepared

// Numbers of the fields of messages; see the package comment.
const (
	preparedTransaction = 1
	preparedMetadata    = 2

	transactionVersion = 1
	transactionRoots   = 2
	transactionNodes   = 3
	transactionSeeds   = 4

	nodeID       = 1 // of nodes and their seeds
	nodeV1       = 1000
	nodeCreate   = 1
	nodeExercise = 3
	seedBytes    = 2

	nodeVersion     = 1 // of creations and exercises
	nodeContract    = 2
	nodePackage     = 3
	nodeTemplate    = 4
	createArgument  = 5
	createSigners   = 6
	createParties   = 7
	exerciseSigners = 5
	exerciseParties = 6
	exerciseActors  = 7
	exerciseThrough = 8
	exerciseChoice  = 9
	exerciseArg     = 10
	exerciseConsume = 11
	exerciseBelow   = 12
	exerciseResult  = 13
	exerciseInforms = 14

	metadataSubmitter     = 2
	metadataSynchronizer  = 3
	metadataMediators     = 4
	metadataUUID          = 5
	metadataPreparedAt    = 6
	metadataInputs        = 7
	metadataMinTime       = 9
	metadataMaxTime       = 10
	metadataMaxRecordTime = 11
	submitterActAs        = 1
	submitterCommandID    = 2

	inputV1        = 1
	inputCreatedAt = 1000
	inputBlob      = 1002

	identifierPackage = 1
	identifierModule  = 2
	identifierEntity  = 3
)

// Kinds of values, which are the numbers of the fields of Value.
const (
	valueUnit = 1 + iota
	valueBool
	valueInt64
	valueDate
	valueTimestamp
	valueNumeric
	valueParty
	valueText
	valueContractID
	valueOptional
	valueList
	valueTextMap
	valueGenMap
	valueRecord
	valueVariant
	valueEnum
)

// Fields of the messages below Value.
const (
	elementsField    = 1 // of lists, maps and optionals
	recordFields     = 2
	labelField       = 1 // of a field of a record
	keyField         = 1 // of an entry of a map
	contentField     = 2 // of fields of records and entries of maps
	typeField        = 1 // of records, variants and enums
	constructorField = 2
	variantContent   = 3
)
