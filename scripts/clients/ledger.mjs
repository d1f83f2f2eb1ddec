// The steps of @canton-network/core-ledger-client against a ledger interface: node ledger.mjs URL
import { LedgerClient } from '@canton-network/core-ledger-client';
import pino from 'pino';
import { nobody, stepsOf } from './steps.mjs';

const step = stepsOf('core-ledger-client');
const client = new LedgerClient({ baseUrl: new URL(process.argv[2]), logger: pino({ level: 'silent' }), accessTokenProvider: nobody });
const list = { query: { limit: '20' } };

await step('connect', () => client.init());
await step('authenticated user', () => client.get('/v2/authenticated-user'));
const end = (await step('ledger end', () => client.get('/v2/state/ledger-end')))?.offset;
await step('pruned offsets', () => client.get('/v2/state/latest-pruned-offsets'));
await step('synchronizers', () => client.get('/v2/state/connected-synchronizers'));
await step('synchronizer', () => client.getSynchronizerId());

const party = (await step('parties', () => client.get('/v2/parties')))?.partyDetails.find((p) => p.isLocal)?.party;
await step('party', () => client.get('/v2/parties/{party}', { path: { party } }));
await step('party exists', () => client.checkIfPartyExists(party));
await step('participant', () => client.get('/v2/parties/participant-id'));
await step('users', () => client.get('/v2/users'));
const user = 'conformance-' + Date.now();
await step('create user', () => client.createUser(user, party));
await step('grant rights', () => client.grantRights(user, { actAs: [party], canReadAsAnyParty: true }));
await step('rights', () => client.get('/v2/users/{user-id}/rights', { path: { 'user-id': user } }));
await step('grant master rights', () => client.grantMasterUserRights(user, true, true));
await step('identity providers', () => client.get('/v2/idps'));

const filter = { filtersByParty: { [party]: { cumulative: [{ identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: true } } } }] } } };
const eventFormat = { ...filter, verbose: false };
const transactionFormat = { eventFormat, transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS' };
const updateFormat = { includeTransactions: transactionFormat, includeReassignments: eventFormat };
const stretch = { beginExclusive: 0, endInclusive: end, verbose: false };

const active = await step('active contracts', () => client.post('/v2/state/active-contracts', { activeAtOffset: end, eventFormat, verbose: false }, list));
await step('active contracts, filter', () => client.post('/v2/state/active-contracts', { activeAtOffset: end, filter, verbose: false }, list));
const updates = await step('updates', () => client.post('/v2/updates', { ...stretch, updateFormat }, list));
await step('flats', () => client.post('/v2/updates/flats', { ...stretch, updateFormat }, list));
await step('flats, filter', () => client.post('/v2/updates/flats', { ...stretch, filter }, list));
await step('trees', () => client.post('/v2/updates/trees', { ...stretch, filter }, list));
await step('page of updates', () => client.post('/v2/updates/get-updates-page', { beginOffsetExclusive: 0, updateFormat, maxPageSize: 10 }));

const { updateId, offset } = updates?.map((u) => u.update.Transaction?.value).find((t) => t) ?? {};
await step('update by id', () => client.post('/v2/updates/update-by-id', { updateId, updateFormat }));
await step('update by offset', () => client.post('/v2/updates/update-by-offset', { offset, updateFormat }));
await step('transaction by id', () => client.post('/v2/updates/transaction-by-id', { updateId, transactionFormat }));
await step('transaction by offset', () => client.post('/v2/updates/transaction-by-offset', { offset, requestingParties: [party] }));
await step('tree by id', () => client.get('/v2/updates/transaction-tree-by-id/{update-id}', { path: { 'update-id': updateId }, query: { parties: [party] } }));
await step('tree by offset', () => client.get('/v2/updates/transaction-tree-by-offset/{offset}', { path: { offset: String(offset) }, query: { parties: [party] } }));

const { contractId, templateId = '' } = active?.map((e) => e.contractEntry.JsActiveContract?.createdEvent).find((c) => c) ?? {};
await step('events of a contract', () => client.post('/v2/events/events-by-contract-id', { contractId, eventFormat }));
await step('contract', () => client.post('/v2/contracts/contract-by-id', { contractId, queryingParties: [party] }));

await step('completions', () => client.post('/v2/commands/completions', { userId: user, parties: [party], beginExclusive: end }, { query: { limit: '1', stream_idle_timeout_ms: '100' } }));
await step('preferred packages', () => client.post('/v2/interactive-submission/preferred-packages', { packageVettingRequirements: [{ parties: [party], packageName: 'splice-amulet' }] }));
await step('packages', () => client.get('/v2/packages'));
await step('package status', () => client.get('/v2/packages/{package-id}/status', { path: { 'package-id': templateId.split(':')[0] } }));
await step('vetted packages', () => client.post('/v2/package-vetting/list', {}));
