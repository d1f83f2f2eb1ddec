#!/usr/bin/env bash
# A tour through the wallets of the validator interface, with curl and openssl alone: two users,
# offers that are accepted, rejected and withdrawn, transfers in one step and by the token
# standard, traffic, the history, and a party that keeps its own key.
#
#   ledgerlake up --live-clock --wallet-transfer-commands &
#   scripts/wallet-tour.sh [URL]
#
# URL is that of the validator interface, http://127.0.0.1:8080/api/validator by itself. Settings by
# environment: SECRET and AUDIENCE of tokens, OPERATOR, the operator's user, and WAIT_SECONDS, how many
# seconds to wait for what automations do.
set -euo pipefail

url=${1:-http://127.0.0.1:8080/api/validator}
secret=${SECRET:-unsafe}
audience=${AUDIENCE:-https://validator.ledgerlake}
operator=${OPERATOR:-validator}
wait_seconds=${WAIT_SECONDS:-120}
run=$(openssl rand -hex 3) # makes names and tracking ids those of this run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'wallet-tour: %s\n' "$*" >&2; exit 1; }

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
hex() { od -An -v -tx1 | tr -d ' \n'; }
bytes() { printf '%b' "$(printf '%s' "$1" | sed 's/../\\x&/g')"; } # of hexadecimal digits

# token USER: a token of a user, good for an hour.
token() {
	local head payload
	head=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url)
	payload=$(printf '{"sub":"%s","aud":"%s","exp":%d}' "$1" "$audience" "$(($(date +%s) + 3600))" | base64url)
	printf '%s.%s.%s' "$head" "$payload" "$(printf '%s' "$head.$payload" | openssl dgst -sha256 -hmac "$secret" -binary | base64url)"
}

# ask USER METHOD PATH [BODY]: sets status and answer. What is only busy is asked again, with
# the same body and so the same tracking id.
ask() {
	local bearer tries=0
	bearer=$(token "$1")
	while :; do
		answer=$(curl -sS -m 60 -X "$2" -H "Authorization: Bearer $bearer" -w '\n%{http_code}' "$url$3" ${4:+--data "$4"})
		status=${answer##*$'\n'}
		answer=${answer%$'\n'*}
		tries=$((tries + 1))
		case $status in
		429 | 503) [ "$tries" -lt "$wait_seconds" ] || break ;;
		*) break ;;
		esac
		sleep 1
	done
	printf '%s %s %s = %s %s\n' "$1" "$2" "$3" "$status" "$(printf '%s' "$answer" | cut -c1-160)"
}

# expect STATUS: what the last answer must have.
expect() { [ "$status" = "$1" ] || fail "the status is $status, not $1: $answer"; }

# soon STATUS USER METHOD PATH [BODY]: asks until the answer has that status. On a busy machine a
# change may be answered before what it has made can be found.
soon() {
	local wanted=$1 left=$wait_seconds
	shift
	while ask "$@" >"$work/line" && [ "$status" != "$wanted" ] && [ "$left" -gt 0 ]; do
		left=$((left - 1))
		sleep 1
	done
	cat "$work/line"
	expect "$wanted"
}

# member NAME: the first text or number with that name in the last answer.
member() {
	local value
	value=$(printf '%s' "$answer" | sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' | head -n 1)
	[ -n "$value" ] || fail "there is no $1 in $answer"
	printf '%s' "$value"
}

# until_status USER PATH STATUS: waits until something with a tracking id has a status.
until_status() {
	local left=$wait_seconds
	while ask "$1" POST "$2/status" >"$work/line"; do
		case $answer in
		*"\"status\":\"$3\""*) cat "$work/line" && return ;;
		*'"status":"failed"'*) fail "it has failed: $answer" ;;
		esac
		left=$((left - 1))
		[ "$left" -gt 0 ] || fail "it is not $3 after $wait_seconds tries: $answer"
		sleep 1
	done
}

expires=$((($(date +%s) + 3600) * 1000000)) # microseconds since 1970
alice=alice-$run bob=bob-$run

say "The validator is there"
for _ in $(seq "$wait_seconds"); do
	curl -sf -m 10 "$url/readyz" >/dev/null && break
	sleep 1
done
ask "$alice" GET /v0/validator-user
expect 200

say "Two users get wallets"
ask "$alice" GET /v0/wallet/balance
expect 404
ask "$alice" POST /v0/register
expect 200
alice_party=$(member party_id)
ask "$bob" POST /v0/register '{}'
expect 200
bob_party=$(member party_id)
ask "$alice" POST /v0/register
expect 200
[ "$(member party_id)" = "$alice_party" ] || fail "a second registration gives another party"
soon 200 "$alice" GET /v0/wallet/balance

say "They, and the operator who will pay for preapprovals, tap"
for user in "$alice" "$bob" "$operator"; do
	soon 200 "$user" POST /v0/wallet/tap "{\"amount\":\"1000.0\",\"command_id\":\"tap-$run\"}"
done
ask "$alice" GET /v0/wallet/balance
expect 200
ask "$alice" GET /v0/wallet/coins
expect 200

# offer AMOUNT TRACKING_ID: alice offers coins to bob.
offer() {
	ask "$alice" POST /v0/wallet/transfer-offers \
		"{\"receiver_party_id\":\"$bob_party\",\"amount\":\"$1\",\"description\":\"lunch\",\"expires_at\":$expires,\"tracking_id\":\"$2\"}"
}

say "An offer is accepted, and then paid by the automation of the sender's validator"
offer 5.25 "accept-$run"
expect 200
id=$(member offer_contract_id)
offer 5.25 "accept-$run"
expect 409
until_status "$alice" "/v0/wallet/transfer-offers/accept-$run" created
ask "$alice" POST "/v0/wallet/transfer-offers/$id/accept"
expect 404 # it is not hers to accept
ask "$bob" GET /v0/wallet/transfer-offers
expect 200
soon 200 "$bob" POST /v0/wallet/transfer-offers/accept "{\"contract_id\":\"$id\"}"
until_status "$alice" "/v0/wallet/transfer-offers/accept-$run" completed

say "One is rejected, one withdrawn"
offer 1 "reject-$run"
expect 200
soon 200 "$bob" POST "/v0/wallet/transfer-offers/$(member offer_contract_id)/reject"
until_status "$alice" "/v0/wallet/transfer-offers/reject-$run" failed
offer 1 "withdraw-$run"
expect 200
soon 200 "$alice" POST "/v0/wallet/transfer-offers/$(member offer_contract_id)/withdraw"
until_status "$bob" "/v0/wallet/transfer-offers/withdraw-$run" failed

say "Bob allows transfers in one step, and Alice makes one"
ask "$bob" POST /v0/wallet/transfer-preapproval
case $status in 200 | 409) ;; *) fail "there is no preapproval: $answer" ;; esac
soon 409 "$bob" POST /v0/wallet/transfer-preapproval
send="{\"receiver_party_id\":\"$bob_party\",\"amount\":\"7\",\"deduplication_id\":\"send-$run\",\"description\":\"rent\"}"
soon 200 "$alice" POST /v0/wallet/transfer-preapproval/send "$send"
ask "$alice" POST /v0/wallet/transfer-preapproval/send "$send"
expect 200 # as the first time: nothing was sent again
ask "$bob" POST /v0/wallet/transfer-preapproval/send "{\"receiver_party_id\":\"$alice_party\",\"amount\":\"1\",\"deduplication_id\":\"back-$run\"}"
expect 400 # Alice has no preapproval

say "By the token standard the amount is locked until the receiver accepts"
ask "$bob" POST /v0/wallet/token-standard/transfers \
	"{\"receiver_party_id\":\"$alice_party\",\"amount\":\"3\",\"description\":\"book\",\"expires_at\":$expires,\"tracking_id\":\"token-$run\"}"
expect 200
id=$(member transfer_instruction_cid)
ask "$alice" GET /v0/wallet/token-standard/transfers
expect 200
soon 200 "$alice" POST "/v0/wallet/token-standard/transfers/$id/accept"

say "Traffic is bought for the validator"
ask "$alice" GET /v0/wallet/coins
synchronizer=$(member domain_id)
ask "$alice" POST /v0/wallet/buy-traffic-requests \
	"{\"receiving_validator_party_id\":\"$alice_party\",\"domain_id\":\"$synchronizer\",\"traffic_amount\":400000,\"tracking_id\":\"traffic-$run\",\"expires_at\":$expires}"
expect 200
until_status "$alice" "/v0/wallet/buy-traffic-requests/traffic-$run" completed

say "All of it is in the history"
for choice in DevNet_Tap AcceptedTransferOffer_Complete TransferPreapproval_Send TransferInstruction_Accept BuyMemberTraffic; do
	left=$wait_seconds
	while ask "$alice" POST /v0/wallet/transactions '{"page_size":100}' >"$work/line"; do
		case $answer in *"$choice\""*) break ;; esac
		left=$((left - 1))
		[ "$left" -gt 0 ] || fail "the history of Alice lacks $choice: $answer"
		sleep 1
	done
done
cat "$work/line"
ask "$alice" POST /v0/wallet/transactions '{"page_size":1}'
ask "$alice" POST /v0/wallet/transactions "{\"page_size\":1,\"begin_after_id\":\"$(member event_id)\"}"
expect 200

say "A party with a key of its own is set up"
openssl genpkey -algorithm ED25519 -out "$work/key.pem"
public=$(openssl pkey -in "$work/key.pem" -pubout -outform DER | tail -c 32 | hex)

# sign HASH: the signature of the bytes of a hash, both in hexadecimal digits.
sign() {
	bytes "$1" >"$work/hash"
	openssl pkeyutl -sign -inkey "$work/key.pem" -rawin -in "$work/hash" | hex
}

admin=/v0/admin/external-party
ask "$operator" POST $admin/topology/generate "{\"party_hint\":\"ext-$run\",\"public_key\":\"$public\"}"
expect 200
external=$(member party_id)
signed=
while IFS='|' read -r tx hash; do
	signed+="${signed:+,}{\"topology_tx\":\"$tx\",\"signed_hash\":\"$(sign "$hash")\"}"
done < <(printf '%s' "$answer" | grep -o '"topology_tx":"[^"]*","hash":"[^"]*"' | sed 's/"topology_tx":"\([^"]*\)","hash":"\([^"]*\)"/\1|\2/')
ask "$operator" POST $admin/topology/submit "{\"public_key\":\"$public\",\"signed_topology_txs\":[$signed]}"
expect 200
ask "$operator" POST $admin/setup-proposal "{\"user_party_id\":\"$external\"}"
expect 200
accept="{\"contract_id\":\"$(member contract_id)\",\"user_party_id\":\"$external\"}"
soon 200 "$operator" POST $admin/setup-proposal/prepare-accept "$accept"

# submission: the last prepared transaction with its signature.
submission() {
	printf '{"submission":{"party_id":"%s","transaction":"%s","signed_tx_hash":"%s","public_key":"%s"}}' \
		"$external" "$(member transaction)" "$(sign "$(member tx_hash)")" "$public"
}

ask "$operator" POST $admin/setup-proposal/submit-accept "$(submission | sed 's/"signed_tx_hash":"[0-9a-f]\{8\}/"signed_tx_hash":"00000000/')"
expect 400 # a wrong signature
ask "$operator" GET $admin/setup-proposal
expect 200
soon 200 "$operator" POST $admin/setup-proposal/prepare-accept "$accept"
ask "$operator" POST $admin/setup-proposal/submit-accept "$(submission)"
expect 200

say "It gets coins, and sends some by a transaction that it signs"
soon 200 "$alice" POST /v0/wallet/transfer-preapproval/send "{\"receiver_party_id\":\"$external\",\"amount\":\"20\",\"deduplication_id\":\"fund-$run\"}"
soon 200 "$operator" GET "$admin/balance?party_id=$external"
until_iso=$(date -u -d "@$(($(date +%s) + 3600))" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r "$(($(date +%s) + 3600))" +%Y-%m-%dT%H:%M:%SZ)
soon 200 "$operator" POST $admin/transfer-preapproval/prepare-send \
	"{\"sender_party_id\":\"$external\",\"receiver_party_id\":\"$bob_party\",\"amount\":2.5,\"expires_at\":\"$until_iso\",\"nonce\":0}"
ask "$operator" POST $admin/transfer-preapproval/submit-send "$(submission)"
expect 200
for _ in $(seq "$wait_seconds"); do
	ask "$bob" GET "/v0/scan-proxy/transfer-command/status?sender=$external&nonce=0" >"$work/line"
	case $answer in *'"status":"sent"'*) break ;; *'"status":"failed"'*) fail "the transfer has failed: $answer" ;; esac
	sleep 1
done
cat "$work/line"
case $answer in *'"status":"sent"'*) ;; *) fail "the transfer was not made" ;; esac

say "Nobody is let in without a token, nor an ordinary user as operator"
status=$(curl -s -o /dev/null -w '%{http_code}' "$url/v0/wallet/balance")
expect 401
ask "$alice" GET /v0/admin/users
expect 403

say "Done: Alice is $alice_party, Bob is $bob_party, and $external has its own key"
