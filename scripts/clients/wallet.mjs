// The steps of @canton-network/wallet-sdk against a ledger and a scan interface: node wallet.mjs LEDGER SCAN
import { SDK } from '@canton-network/wallet-sdk';
import { stepsOf, within } from './steps.mjs';

const step = stepsOf('wallet-sdk');
const [ledger, scan] = [new URL(process.argv[2]), new URL(process.argv[3])];
const auth = {
  method: 'self_signed',
  issuer: 'unsafe-auth',
  credentials: { clientId: 'participant_admin', clientSecret: 'unsafe', audience: 'https://canton.network.global', scope: '' },
};
const coin = '#splice-amulet:Splice.Amulet:Amulet';
const holding = '#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding';
const quiet = { log: () => {} };

const sdk = await step('connect', () => SDK.create({ auth, ledgerClientUrl: ledger, logAdapter: quiet }));
const keys = await step('make keys', async () => sdk.keys.generate());
await step('fingerprint', () => sdk.keys.fingerprint(keys.publicKey));
const prepared = await step('prepare a party', async () => sdk.party.external.create(keys.publicKey, { partyHint: 'conformance' }));
await step('topology of the party', () => prepared.topology());
const partyId = (await step('allocate the party', () => prepared.sign(keys.privateKey).execute()))?.partyId;
await step('parties', () => sdk.party.list());
await step('allocate an inner party', () => sdk.party.internal.allocate({ partyHint: 'conformance-' + Date.now() }));
await step('ledger end', () => sdk.ledger.ledgerEnd());
await step('active contracts', () => sdk.ledger.acs.readRaw({ parties: [partyId], templateIds: [coin], filterByParty: true }));
await step('active contracts of an interface', () => sdk.ledger.acs.read({ parties: [partyId], interfaceIds: [holding], filterByParty: true }));

const events = await step('connect events', () => sdk.extend({ events: { websocketURL: ledger.origin.replace('http', 'ws'), auth } }));
await step('a completion', () => within(events.events.completions({ parties: [partyId], beginOffset: 0 }).next()));
const token = await step('connect tokens', () => sdk.extend({ token: { auth, registries: [scan] } }));
await step('holdings', () => token.token.utxos.list({ partyId }));
await step('balance of a user', async () => {
  const { partyDetails } = await (await fetch(new URL('/v2/parties', ledger))).json();
  for (const { party } of partyDetails.filter((p) => p.isLocal)) {
    const coins = await token.token.utxos.list({ partyId: party });
    if (coins.length) return coins.reduce((sum, c) => sum + +c.interfaceViewValue.amount, 0) || Promise.reject(new Error(`${party} has coins without amounts`));
  }
  throw new Error('no user has coins');
});
await step('history of holdings', () => token.token.holdings({ partyId }));
await step('pending transfers', () => token.token.transfer.pending(partyId));
const assets = await step('connect assets', () => sdk.extend({ asset: { auth, registries: [scan] } }));
await step('assets', async () => assets.asset.list);
const amulet = await step('connect the coin', () => sdk.extend({ amulet: { scanApiUrl: scan, auth, registryUrl: scan } }));
const tap = await step('prepare a tap', () => amulet.amulet.tap(partyId, '100'));
await step('tap', () => sdk.ledger.prepare({ partyId, commands: tap[0], disclosedContracts: tap[1] }).sign(keys.privateKey).execute({ partyId }));
await step('balance after the tap', async () => {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const [coin] = await token.token.utxos.list({ partyId });
    if (+coin?.interfaceViewValue.amount === 100) return;
    await new Promise((passed) => setTimeout(passed, 200));
  }
  throw new Error('the coin of the tap was not seen in 20 s');
});
process.exit(0); // websockets are open
