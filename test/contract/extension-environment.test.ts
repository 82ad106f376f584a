// What an extension gets of the environment of the gateway: the variables that the operator has granted it one by one, whose values
// are taken out of what it says; and what is left on the disk of the files that it ran from.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { doIn } from '../support/extension-storms.ts';
import { openHostWorld, put } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { until, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
const TOOLS = '[capabilities]\ntools = true\nactive_tools = false';
const CANARY = 'canary-5b1f/with "signs"';
const of = (name: string) => `\${env:${name}}`;

test('S38, S40: a variable of the gateway needs a grant of its own, and a key among them is taken out of all that the extension says', async () => {
  verifies('S38', 'S40', 'sep:environment', 'S41:extensions');
  await using world = await openHostWorld();
  const run = `env = { KEY = "${of('SERVICE_API_KEY')}", STAGE = "${of('STAGE')}", OURS = "${of('TENON_TOKEN')}", AT = "${of('HOME')}" }`;
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS, run });
  const env = { PATH: process.env.PATH, HOME: '/nowhere', SERVICE_API_KEY: CANARY, STAGE: 'test', TENON_TOKEN: 'ours' };
  const host = await world.open({ extensions: { ...withExtensions.extensions, env } });
  const [key, stage] = ['extension.use:env.SERVICE_API_KEY', 'extension.use:env.STAGE'];
  assert.deepEqual(host.get('probe')?.asked, ['tools.register', key, stage]);
  const seen = async () => {
    const { KEY, STAGE, OURS, AT } = JSON.parse(String((await doIn(host, 'probe', { deed: 'environment' })).content)) as NodeJS.ProcessEnv;
    return [KEY, STAGE, OURS, AT];
  };
  await host.enable('probe', { ...BY, grants: ['tools.register', stage] });
  assert.deepEqual(await seen(), ['', 'test', '', '/nowhere']);
  await host.grant('probe', [key], BY);
  await until(async () => (await seen())[0] !== '');
  assert.deepEqual(await seen(), ['***', 'test', '', '/nowhere'], 'it has it, and its answer shows nothing of it');
  await doIn(host, 'probe', { deed: 'complains', text: `my key is ${CANARY}` });
  const log = { jsonrpc: '2.0', method: 'log', params: { level: 'info', message: `logged ${CANARY}`, fields: { sent: CANARY } } };
  await doIn(host, 'probe', { deed: 'line', text: JSON.stringify(log) });
  const texts = () => host.logs('probe', 0, 100).lines.map(({ text }) => text);
  await until(() => texts().some((text) => text.startsWith('my key is')));
  assert.ok(texts().includes('my key is ***'));
  assert.ok(texts().includes('logged *** {"sent":"***"}'), texts().join('\n'));
});

test('of the files that an extension ran from, those of the process at work are kept, and none when it is off', async () => {
  verifies('S50');
  await using world = await openHostWorld();
  const folder = writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  const host = await world.open(withExtensions);
  const copies = () => readdirSync(join(world.home, 'extension-copies')).length;
  await host.enable('probe', BY);
  for (const round of [1, 2, 3]) {
    put(join(folder, 'note.txt'), `round ${round}`);
    assert.equal((await host.enable('probe', BY)).state, 'loaded');
  }
  await until(() => copies() === 1);
  put(join(folder, 'main.mjs'), 'process.exit(5);');
  assert.match((await host.enable('probe', BY)).reason ?? '', /the old one stays/);
  await until(() => copies() === 1);
  assert.equal((await doIn(host, 'probe', { deed: 'read', path: 'note.txt' })).content, 'round 3');
  await host.disable('probe', BY);
  await until(() => copies() === 0);
});
