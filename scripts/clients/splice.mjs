// The steps of @canton-network/core-splice-client against a scan interface: node splice.mjs URL
import { ScanClient } from '@canton-network/core-splice-client';
import pino from 'pino';
import { nobody, stepsOf } from './steps.mjs';

const step = stepsOf('core-splice-client');
const client = new ScanClient(new URL(process.argv[2]), pino({ level: 'silent' }), nobody);
const coin = 'splice-amulet:Splice.Amulet:Amulet';

await step('governance party', () => client.get('/v0/dso-party-id'));
await step('governance', () => client.get('/v0/dso'));
await step('synchronizer', () => client.getAmuletSynchronizerId());
await step('coin rules', () => client.getAmuletRules());
await step('open rounds', () => client.getOpenMiningRounds());
await step('active round', () => client.getActiveOpenMiningRound());
await step('development network', () => client.isDevNet());
await step('scans', () => client.get('/v0/scans'));
await step('sequencers', () => client.get('/v0/dso-sequencers'));
await step('closed rounds', () => client.get('/v0/closed-rounds'));
await step('featured apps', () => client.get('/v0/featured-apps'));
await step('validator licenses', () => client.get('/v0/admin/validator/licenses', { query: { limit: '10' } }));
await step('name rules', () => client.post('/v0/ans-rules', {}));
await step('names', () => client.get('/v0/ans-entries', { query: { page_size: '10' } }));
const page = await step('updates', () => client.post('/v2/updates', { page_size: 10 }));
const update_id = page?.transactions?.[0]?.update_id;
await step('update', () => client.get('/v2/updates/{update_id}', { path: { update_id } }));
await step('events', () => client.post('/v0/events', { page_size: 10 }));
await step('event', () => client.get('/v0/events/{update_id}', { path: { update_id } }));
const at = await step('snapshot', () => client.get('/v0/state/acs/snapshot-timestamp', { query: { before: new Date().toISOString(), migration_id: '1' } }));
await step('active contracts', () => client.post('/v0/state/acs', { migration_id: 1, record_time: at?.record_time, page_size: 10, templates: [coin] }));
await step('holdings', () => client.post('/v0/holdings/state', { migration_id: 1, record_time: at?.record_time, page_size: 10, owner_party_ids: ['nobody::1220'] }));
await step('votes on the price', () => client.get('/v0/amulet-price/votes'));
await step('vote requests', () => client.get('/v0/admin/sv/voterequests'));
await step('vote results', () => client.post('/v0/admin/sv/voteresults', { limit: 10 }));
await step('unclaimed fund', () => client.get('/v0/unclaimed-development-fund-coupons'));
await step('backfilling', () => client.post('/v0/backfilling/migration-info', { migration_id: 0 }));
await step('names of the network', () => client.get('/v0/splice-instance-names'));
await step('feature support', () => client.get('/v0/feature-support'));
