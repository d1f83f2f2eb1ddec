package values

import (
	"strings"
	"testing"
)

func TestPublishedNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"0.0000000000": "0E-10", "0": "0E-10", "-0.0000000000": "0E-10", "0E-10": "0E-10", "0.00000000000": "0E-11",
		"0.0000000001": "1E-10", "-0.0000000012": "-1.2E-9", "0.0000009990": "9.990E-7", "-0.00000099901": "-9.9901E-7",
		"0.0000010000": "0.0000010000", "0.0000190259": "0.0000190259", "1": "1.0000000000", "10.0000000001": "10.0000000001",
		"-1000000.0000000000": "-1000000.0000000000", "100.0000000": "100.0000000000",
	} {
		got, err := AppendPublished([]byte("x"), []byte(`{"numeric":"`+text+`"}`), nil)
		if err != nil || string(got) != `x"`+want+`"` {
			t.Errorf("%s is published as %s, %v, want %q", text, got, err, want)
		}
	}
	if _, err := AppendPublished(nil, []byte(`{"numeric":"1.2.3"}`), nil); err == nil {
		t.Error("1.2.3 is published as a number")
	}
}

// What the network's documentation of its bulk data shows, with other parties and contracts. In want
// are also the optional fields that the catalogue has since.
func TestPublishedSamples(t *testing.T) {
	c := Default()
	const pkg, rules = "splice-amulet", "splice-amulet:Splice.AmuletRules:AmuletRules"
	for name, tt := range map[string]struct {
		typ              *Type
		documented, want string
	}{
		"a round": {
			c.Template(pkg, "splice-amulet:Splice.Round:OpenMiningRound"),
			`{"dso":"DSO::1220","round":{"number":"2"},"amuletPrice":"0.0050000000","opensAt":"2024-09-21T16:31:29.552807Z","targetClosesAt":"2024-09-21T16:51:29.552807Z","issuingFor":{"microseconds":"1200000000"},` +
				`"transferConfigUsd":{"createFee":{"fee":"0.0300000000"},"holdingFee":{"rate":"0.0000190259"},"transferFee":{"initialRate":"0.0100000000","steps":[{"_1":"1000000.0000000000","_2":"0.0000100000"}]},"lockHolderFee":{"fee":"0.0050000000"},` +
				`"extraFeaturedAppRewardAmount":"1.0000000000","maxNumInputs":"100","maxNumOutputs":"100","maxNumLockHolders":"50"},` +
				`"issuanceConfig":{"amuletToIssuePerYear":"40000000000.0000000000","validatorRewardPercentage":"0.0500000000","appRewardPercentage":"0.1500000000","validatorRewardCap":"0.2000000000","featuredAppRewardCap":"100.0000000000","unfeaturedAppRewardCap":"0.6000000000","optValidatorFaucetCap":"2.8500000000"},` +
				`"tickDuration":{"microseconds":"600000000"}}`,
			`{"amuletPrice":"0.0050000000","dso":"DSO::1220","issuanceConfig":{"amuletToIssuePerYear":"40000000000.0000000000","appRewardPercentage":"0.1500000000","featuredAppRewardCap":"100.0000000000","optDevelopmentFundPercentage":null,"optValidatorFaucetCap":"2.8500000000","unfeaturedAppRewardCap":"0.6000000000","validatorRewardCap":"0.2000000000","validatorRewardPercentage":"0.0500000000"},` +
				`"issuingFor":{"microseconds":"1200000000"},"opensAt":"2024-09-21T16:31:29.552807Z","rewardConfig":null,"round":{"number":"2"},"targetClosesAt":"2024-09-21T16:51:29.552807Z","tickDuration":{"microseconds":"600000000"},"trafficPrice":null,` +
				`"transferConfigUsd":{"createFee":{"fee":"0.0300000000"},"extraFeaturedAppRewardAmount":"1.0000000000","holdingFee":{"rate":"0.0000190259"},"lockHolderFee":{"fee":"0.0050000000"},"maxNumInputs":"100","maxNumLockHolders":"50","maxNumOutputs":"100","tokenStandardMaxTTL":null,` +
				`"transferFee":{"initialRate":"0.0100000000","steps":[{"_1":"1000000.0000000000","_2":"0.0000100000"}]}},"validatorRewardConfig":null}`,
		},
		"the result of a transfer": {
			c.ChoiceResult(pkg, rules, "", "AmuletRules_Transfer"),
			`{"round":{"number":"28"},"summary":{"inputAppRewardAmount":"0E-10","inputValidatorRewardAmount":"0E-10","inputSvRewardAmount":"0E-10","inputAmuletAmount":"208.0000000000",` +
				`"balanceChanges":[["val::1220",{"changeToInitialAmountAsOfRoundZero":"-61.3199997000","changeToHoldingFeesRate":"0E-10"}]],"holdingFees":"0E-10","outputFees":["8.0000000000"],"senderChangeFee":"0E-10","senderChangeAmount":"0E-10","amuletPrice":"0.0050000000","inputValidatorFaucetAmount":"0E-10"},` +
				`"createdAmulets":[{"tag":"TransferResultAmulet","value":"0062"}],"senderChangeAmulet":null}`,
			`{"createdAmulets":[{"tag":"TransferResultAmulet","value":"0062"}],"meta":null,"round":{"number":"28"},"senderChangeAmulet":null,"summary":{"amuletPrice":"0.0050000000",` +
				`"balanceChanges":[["val::1220",{"changeToHoldingFeesRate":"0E-10","changeToInitialAmountAsOfRoundZero":"-61.3199997000"}]],"holdingFees":"0E-10","inputAmuletAmount":"208.0000000000","inputAppRewardAmount":"0E-10","inputDevelopmentFundAmount":null,"inputSvRewardAmount":"0E-10",` +
				`"inputUnclaimedActivityRecordAmount":null,"inputValidatorFaucetAmount":"0E-10","inputValidatorRewardAmount":"0E-10","outputFees":["8.0000000000"],"senderChangeAmount":"0E-10","senderChangeFee":"0E-10"}}`,
		},
	} {
		protobuf, err := AppendProtobuf(nil, []byte(tt.documented), tt.typ)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(string(protobuf), "E-") {
			t.Errorf("%s has an exponent in protobuf_json: %s", name, protobuf)
		}
		published, err := AppendPublished(nil, protobuf, tt.typ)
		if err != nil || string(published) != tt.want {
			t.Errorf("%s is published as\n%s, %v, want\n%s", name, published, err, tt.want)
		}
		if again, err := AppendProtobuf(nil, published, tt.typ); err != nil || len(again) < len(protobuf) {
			t.Errorf("%s cannot be read again: %s, %v", name, again, err)
		}
	}
}
