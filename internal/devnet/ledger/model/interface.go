package model

// InterfaceName numbers the interfaces through which choices are exercised.
type InterfaceName int

const NoInterface InterfaceName = -1

const (
	TransferFactoryInterface InterfaceName = iota
	TransferInstructionInterface
	FeaturedAppRightInterface
	TrackedInterface
	AllocationFactoryInterface
	AllocationInterface
	RewardCouponInterface
	interfaceCount
)

// InterfaceNames are package name and Module:Entity, by number.
var InterfaceNames = [interfaceCount][2]string{
	{"splice-api-token-transfer-instruction-v1", "Splice.Api.Token.TransferInstructionV1:TransferFactory"},
	{"splice-api-token-transfer-instruction-v1", "Splice.Api.Token.TransferInstructionV1:TransferInstruction"},
	{"splice-api-featured-app-v1", "Splice.Api.FeaturedAppRightV1:FeaturedAppRight"},
	{"harbor-api", "Harbor.Api.Tracked:Tracked"},
	{"splice-api-token-allocation-instruction-v1", "Splice.Api.Token.AllocationInstructionV1:AllocationFactory"},
	{"splice-api-token-allocation-v1", "Splice.Api.Token.AllocationV1:Allocation"},
	{"splice-api-reward-assignment-v1", "Splice.Api.RewardAssignmentV1:RewardCoupon"},
}
