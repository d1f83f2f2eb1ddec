// The steps of @canton-network/wallet-sdk against a ledger and a scan interface: node wallet.mjs LEDGER SCAN
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { SDK, signTransactionHash } from '@canton-network/wallet-sdk';
import { stepsOf, within } from './steps.mjs';

const step = stepsOf('wallet-sdk');
const [ledger, scan] = [new URL(process.argv[2]), new URL(process.argv[3])];
const validator = new URL('/api/validator', scan);
const auth = {
  method: 'self_signed',
  issuer: 'unsafe-auth',
  credentials: { clientId: 'participant_admin', clientSecret: 'unsafe', audience: 'https://canton.network.global', scope: '' },
};
const coin = '#splice-amulet:Splice.Amulet:Amulet';
const holding = '#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding';
const quiet = { log: () => {} };

const same = (hash, answered) => hash === answered || fail(`the hash is ${hash}, the answer says ${answered}`);
const fail = (reason) => { throw new Error(reason); };

// submit has a party sign and execute commands, with the contracts that are disclosed to it. As
// careful clients do it first computes the hash of what the node has prepared.
const submit = async ({ partyId, keys }, [commands, disclosedContracts]) => {
  const prepared = sdk.ledger.prepare({ partyId, commands, disclosedContracts });
  const { response } = await prepared.toJSON();
  same((await sdk.utils.hash.preparedTransaction(response.preparedTransaction)).toBase64(), response.preparedTransactionHash);
  return prepared.sign(keys.privateKey).execute({ partyId });
};

// seen is what look returns once it is as wanted: reads follow the ledger within moments, and are refused until then.
async function seen(look, wanted = () => true) {
  let refused = new Error('it was not seen within 20 s');
  for (let tries = 0; tries < 80; tries++) {
    try {
      const found = await look();
      if (wanted(found)) return found;
    } catch (e) {
      refused = e;
    }
    await new Promise((done) => setTimeout(done, 250));
  }
  throw refused;
}

const sdk = await step('connect', () => SDK.create({ auth, ledgerClientUrl: ledger, logAdapter: quiet }));
const keys = await step('make keys', async () => sdk.keys.generate());
await step('fingerprint', () => sdk.keys.fingerprint(keys.publicKey));
const prepared = await step('prepare a party', async () => sdk.party.external.create(keys.publicKey, { partyHint: 'conformance' }));
const topology = await step('topology of the party', () => prepared.topology());
await step('hash of the topology', async () => same(await sdk.utils.hash.topologyTransaction(topology.topologyTransactions), topology.multiHash));
const partyId = (await step('allocate the party', () => prepared.sign(keys.privateKey).execute()))?.partyId;
await step('parties', () => sdk.party.list());
const inner = await step('allocate an inner party', () => sdk.party.internal.allocate({ partyHint: 'conformance-' + Date.now() }));
const pinged = () => sdk.utils.ping.create([{ initiator: inner, responder: inner }]);
await step('submit for an inner party', () => sdk.ledger.internal.submit({ actAs: [inner], commands: pinged() }));
await step('prepare for an inner party', () => sdk.ledger.internal.prepare({ actAs: [inner], commands: pinged() }));
await step('users', () => sdk.user.list());
await step('create a user', () => sdk.user.create({ userId: 'conformance-' + Date.now(), primaryParty: inner, userRights: { canReadAsAnyParty: true, actAs: [inner] } }));
await step('rights', () => sdk.user.rights.list());
await step('grant rights', () => sdk.user.rights.grant({ userRights: { readAs: [inner] } }));
await step('revoke rights', () => sdk.user.rights.revoke({ userRights: { readAs: [inner] } }));
await step('ledger end', () => sdk.ledger.ledgerEnd());
await step('active contracts', () => seen(() => sdk.ledger.acs.readRaw({ parties: [partyId], templateIds: [coin], filterByParty: true })));
await step('active contracts of an interface', () => seen(() => sdk.ledger.acs.read({ parties: [partyId], interfaceIds: [holding], filterByParty: true })));

const events = await step('connect events', () => sdk.extend({ events: { websocketURL: ledger.origin.replace('http', 'ws'), auth } }));
await step('a completion', () => within(events.events.completions({ parties: [partyId], beginOffset: 0 }).next()));
await step('an update', () => within(events.events.updates({ partyId, templateIds: [coin], beginOffset: 0 }).next()));
await step('an update of an interface', () => within(events.events.updates({ partyId, interfaceIds: [holding], beginOffset: 0 }).next()));
await step('a signature made elsewhere', async () => {
  const { response } = await sdk.ledger.prepare({ partyId, commands: sdk.utils.ping.create([{ initiator: partyId, responder: partyId }]), disclosedContracts: [] }).toJSON();
  await sdk.ledger.execute(sdk.ledger.fromSignature(response, signTransactionHash(response.preparedTransactionHash, keys.privateKey)), { partyId });
});
await step('ping', () => submit({ partyId, keys }, [sdk.utils.ping.create([{ initiator: partyId, responder: partyId }]), []]));
const token = await step('connect tokens', () => sdk.extend({ token: { auth, registries: [scan] } }));
await step('holdings', () => seen(() => token.token.utxos.list({ partyId })));
await step('balance of a user', async () => {
  const { partyDetails } = await (await fetch(new URL('/v2/parties', ledger))).json();
  for (const { party } of partyDetails.filter((p) => p.isLocal)) {
    const coins = await seen(() => token.token.utxos.list({ partyId: party }));
    if (coins.length) return coins.reduce((sum, c) => sum + +c.interfaceViewValue.amount, 0) || Promise.reject(new Error(`${party} has coins without amounts`));
  }
  throw new Error('no user has coins');
});
await step('history of holdings', () => token.token.holdings({ partyId }));
await step('pending transfers', () => token.token.transfer.pending(partyId));
const assets = await step('connect assets', () => sdk.extend({ asset: { auth, registries: [scan] } }));
await step('assets', async () => assets.asset.list);
await step('asset', () => assets.asset.find('Amulet'));
const amulet = await step('connect the coin', () => sdk.extend({ amulet: { scanApiUrl: scan, auth, registryUrl: scan } }));
const tap = await step('prepare a tap', () => amulet.amulet.tap(partyId, '1000'));
await step('hash of a prepared transaction', async () => {
  const { response } = await sdk.ledger.prepare({ partyId, commands: tap[0], disclosedContracts: tap[1] }).toJSON();
  same(await hashPreparedTransaction(response.preparedTransaction), response.preparedTransactionHash);
});
await step('tap', () => submit({ partyId, keys }, tap));
await step('balance after the tap', () => seen(() => token.token.utxos.list({ partyId }), ([coin]) => +coin?.interfaceViewValue.amount === 1000));

await step('holdings by updates', async () => {
  const coins = await token.token.utxos.list({ partyId, continueUntilCompletion: true });
  if (coins.length !== 1) fail(`${coins.length} coins, not one`);
});

// What wallets do with coins: a transfer that is accepted, one that is rejected, one that is withdrawn.
const alice = { partyId, keys };
const bob = { keys: sdk.keys.generate() };
bob.partyId = (await step('another party', () => sdk.party.external.create(bob.keys.publicKey, { partyHint: 'receiver' }).sign(bob.keys.privateKey).execute()))?.partyId;
const offer = async (memo) => {
  const before = (await seen(() => token.token.transfer.pending(bob.partyId))).map((p) => p.contractId);
  await submit(alice, await token.token.transfer.create({ sender: partyId, recipient: bob.partyId, amount: '10', instrumentId: 'Amulet', registryUrl: scan, memo }));
  const pending = await seen(() => token.token.transfer.pending(bob.partyId), (list) => list.some((p) => !before.includes(p.contractId)));
  return { transferInstructionCid: pending.find((p) => !before.includes(p.contractId)).contractId, registryUrl: scan };
};
const accepted = await step('offer', () => offer('to be accepted'));
await step('accept', async () => submit(bob, await token.token.transfer.accept(accepted)));
await step('holdings of the receiver', () => seen(() => token.token.utxos.list({ partyId: bob.partyId }), (list) => list.length === 1));
const rejected = await step('offer again', () => offer('to be rejected'));
await step('reject', async () => submit(bob, await token.token.transfer.reject(rejected)));
const withdrawn = await step('offer once more', () => offer('to be withdrawn'));
await step('withdraw', async () => submit(alice, await token.token.transfer.withdraw(withdrawn)));
await step('nothing is pending', () => seen(() => token.token.transfer.pending(bob.partyId), (list) => list.length === 0));
const moved = await step('history after transfers', () => token.token.holdings({ partyId: bob.partyId }));
await step('transaction', () => token.token.transactionsById({ updateId: moved.transactions.at(-1).updateId, partyId: bob.partyId }));
await step('merge', async () => {
  const [commands, disclosed] = await seen(() => token.token.utxos.merge({ partyId }));
  await submit(alice, [commands, disclosed]);
  await seen(() => token.token.utxos.list({ partyId }), (list) => list.length === 1);
});

// Allocations for a settlement.
const instant = (minutes) => new Date(Date.now() + minutes * 60_000).toISOString();
const asset = assets?.asset.list.find((a) => a.id === 'Amulet');
const allocate = async (id) => {
  const allocationSpecification = {
    settlement: { executor: bob.partyId, settlementRef: { id, cid: null }, requestedAt: instant(-1), allocateBefore: instant(60), settleBefore: instant(120), meta: { values: {} } },
    transferLegId: 'leg',
    transferLeg: { sender: partyId, receiver: bob.partyId, amount: '3', instrumentId: { admin: asset.admin, id: asset.id }, meta: { values: {} } },
  };
  const before = (await seen(() => token.token.allocation.pending(partyId))).map((p) => p.contractId);
  await submit(alice, await token.token.allocation.instruction.create({ allocationSpecification, asset }));
  const pending = await seen(() => token.token.allocation.pending(partyId), (list) => list.some((p) => !before.includes(p.contractId)));
  return { allocationCid: pending.find((p) => !before.includes(p.contractId)).contractId, asset };
};
const kept = await step('allocate', () => allocate('deal-1'));
await step('withdraw an allocation', async () => submit(alice, await token.token.allocation.withdraw(kept)));
const settled = await step('allocate again', () => allocate('deal-2'));
await step('context of a settlement', () => token.token.allocation.context.execute({ allocationCid: settled.allocationCid, registryUrl: scan }));
await step('context of a cancellation', () => token.token.allocation.context.cancel({ allocationCid: settled.allocationCid, registryUrl: scan }));

await step('pending instructions', () => token.token.allocation.instruction.pending(partyId));
await step('pending requests', () => token.token.allocation.request.pending(partyId));

// What a validator does for its users, through its own interface.
const hosted = await step('connect by a validator', () => sdk.extend({ amulet: { scanApiUrl: scan, validatorUrl: validator, auth, registryUrl: scan }, token: { auth, registries: [scan], validatorUrl: validator } }));
await step('tap for the operator', () => hosted.amulet.tapInternal('1000'));
await step('traffic', () => hosted.amulet.traffic.status());
const featuredAppRight = await step('feature the operator', async () => (await hosted.amulet.featuredApp.grant({ maxRetries: 20, delayMs: 500 })) ?? fail('no right is seen'));
await step('accept by a proxy', async () => {
  await hosted.token.transfer.delegatedProxy.create(bob.partyId);
  const [proxy] = await seen(() => sdk.ledger.acs.read({ parties: [bob.partyId], templateIds: ['#splice-util-featured-app-proxies:Splice.Util.FeaturedApp.DelegateProxy:DelegateProxy'], filterByParty: true }), (list) => list.length === 1);
  const [command, disclosed] = await hosted.token.transfer.delegatedProxy.commands.accept({ ...(await offer('by a proxy')), proxyCid: proxy.contractId, featuredAppRight, beneficiaries: [{ beneficiary: bob.partyId, weight: 0.5 }] });
  await submit(bob, [[command], disclosed]);
});
await step('buy traffic', async () => {
  const list = await token.token.utxos.list({ partyId });
  await submit(alice, await hosted.amulet.traffic.buy({ buyer: partyId, ccAmount: 200_000, inputUtxos: list.map((u) => u.contractId), migrationId: 1 }));
});
await step('propose a delegation of merges', async () => submit(bob, [hosted.token.utxos.delegatedMerge.command.propose({ owner: bob.partyId }), []]));
await step('approve the delegation', () => seen(() => hosted.token.utxos.delegatedMerge.approve({ owner: bob.partyId }), (done) => done));
await step('set up merges', () => hosted.token.utxos.delegatedMerge.setup());
await step('merge by the delegate', async () => {
  // The SDK merges ten or more. The validator merges by itself what are more than ten.
  const held = await seen(() => token.token.utxos.list({ partyId: bob.partyId }));
  for (let i = held.length; i < 10; i++) await submit(bob, await amulet.amulet.tap(bob.partyId, '1'));
  const inputUtxos = await seen(() => token.token.utxos.list({ partyId: bob.partyId }), (list) => list.length === 10);
  await seen(() => hosted.token.utxos.delegatedMerge.execute({ party: bob.partyId, inputUtxos })); // without them it lists twice
  await seen(() => token.token.utxos.list({ partyId: bob.partyId }), (list) => list.length === 1);
});
await step('propose a preapproval', async () => submit(bob, [await hosted.amulet.preapproval.command.create({ parties: { receiver: bob.partyId } }), []]));
const preapproved = await step('preapproval', () => within(hosted.amulet.preapproval.fetchStatus(bob.partyId, { timeoutMs: 20_000, intervalMs: 500 })));
await step('direct transfer', async () => {
  await submit(alice, await token.token.transfer.create({ sender: partyId, recipient: bob.partyId, amount: '5', instrumentId: 'Amulet', registryUrl: scan }));
  await seen(() => token.token.utxos.list({ partyId: bob.partyId }), (list) => list.length === 2);
});
await step('renew the preapproval', async () => {
  await hosted.amulet.preapproval.renew({ parties: { receiver: bob.partyId }, expiresAt: new Date(Date.now() + 200 * 86_400_000) });
  await within(hosted.amulet.preapproval.fetchStatus(bob.partyId, { timeoutMs: 20_000, oldCid: preapproved.contractId, intervalMs: 500 }));
});
await step('cancel the preapproval', async () => {
  await submit(bob, await hosted.amulet.preapproval.command.cancel({ parties: { receiver: bob.partyId } }));
  await within(hosted.amulet.preapproval.fetchStatus(bob.partyId, { cancelled: true, timeoutMs: 20_000, intervalMs: 500 }));
});
process.exit(0); // websockets are open
