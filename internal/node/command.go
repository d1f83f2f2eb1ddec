package node

// Command is one command of a submission: one of its members is set.
type Command struct {
	Create   *CreateCommand   `json:"CreateCommand,omitempty"`
	Exercise *ExerciseCommand `json:"ExerciseCommand,omitempty"`
}

// CreateCommand creates a contract.
type CreateCommand struct {
	// TemplateID is "#package-name:Module:Entity".
	TemplateID string `json:"templateId"`
	// Arguments are in compact JSON when marshalled.
	Arguments any `json:"createArguments"`
}

// ExerciseCommand exercises a choice.
type ExerciseCommand struct {
	// TemplateID is that of the template, or of the interface that has the choice.
	TemplateID string `json:"templateId"`
	ContractID string `json:"contractId"`
	Choice     string `json:"choice"`
	Argument   any    `json:"choiceArgument"`
}

// Create returns the command that creates a contract.
func Create(templateID string, arguments any) Command {
	return Command{Create: &CreateCommand{TemplateID: templateID, Arguments: arguments}}
}

// Exercise returns the command that exercises a choice.
func Exercise(templateID, contractID, choice string, argument any) Command {
	return Command{Exercise: &ExerciseCommand{TemplateID: templateID, ContractID: contractID, Choice: choice, Argument: argument}}
}

// Disclosed is a contract that the submitting parties do not see.
type Disclosed struct {
	TemplateID     string `json:"templateId,omitempty"`
	ContractID     string `json:"contractId,omitempty"`
	Blob           string `json:"createdEventBlob"`
	SynchronizerID string `json:"synchronizerId,omitempty"`
}
