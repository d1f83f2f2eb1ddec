package model

// InterfaceName numbers the interfaces of the packages that all nodes have.
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
	HoldingInterface
	HoldingV2Interface
	TransferFactoryV2Interface
	TransferInstructionV2Interface
	AllocationFactoryV2Interface
	AllocationV2Interface
	SettlementFactoryInterface
	EventLogInterface
	FeaturedAppRightV2Interface
	ActivityMarkerInterface
	ActivityMarkerV2Interface
	AllocationRequestInterface
	AllocationRequestV2Interface
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
	{"splice-api-token-holding-v1", "Splice.Api.Token.HoldingV1:Holding"},
	{"splice-api-token-holding-v2", "Splice.Api.Token.HoldingV2:Holding"},
	{"splice-api-token-transfer-instruction-v2", "Splice.Api.Token.TransferInstructionV2:TransferFactory"},
	{"splice-api-token-transfer-instruction-v2", "Splice.Api.Token.TransferInstructionV2:TransferInstruction"},
	{"splice-api-token-allocation-instruction-v2", "Splice.Api.Token.AllocationInstructionV2:AllocationFactory"},
	{"splice-api-token-allocation-v2", "Splice.Api.Token.AllocationV2:Allocation"},
	{"splice-api-token-allocation-v2", "Splice.Api.Token.AllocationV2:SettlementFactory"},
	{"splice-api-token-transfer-events-v2", "Splice.Api.Token.TransferEventsV2:EventLog"},
	{"splice-api-featured-app-v2", "Splice.Api.FeaturedAppRightV2:FeaturedAppRight"},
	{"splice-api-featured-app-v1", "Splice.Api.FeaturedAppRightV1:FeaturedAppActivityMarker"},
	{"splice-api-featured-app-v2", "Splice.Api.FeaturedAppRightV2:FeaturedAppActivityMarker"},
	{"splice-api-token-allocation-request-v1", "Splice.Api.Token.AllocationRequestV1:AllocationRequest"},
	{"splice-api-token-allocation-request-v2", "Splice.Api.Token.AllocationRequestV2:AllocationRequest"},
}
