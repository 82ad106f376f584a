import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandEnv, hookTimeoutOf, manifestInPackage, readManifest } from './manifest.ts';

const run = { command: 'node', args: ['main.js'] };
const small = { name: 'echo', version: '0.1.0', run };

function fault(given: unknown): string {
  const read = readManifest(given);
  return read.ok ? '' : read.message;
}

test('a manifest says name, version and what to run; keys that are not known are named', () => {
  assert.deepEqual(readManifest(small), { ok: true, manifest: small, unknown: [] });
  const more = { ...small, run: { ...run, shell: true }, capabilities: { tools: true, telepathy: true }, color: 'red' };
  assert.deepEqual(readManifest(more), { ok: true, manifest: more, unknown: ['color', 'run.shell', 'capabilities.telepathy'] });
});

test('a name that would lead elsewhere is refused', () => {
  for (const name of ['../../x', 'a.b', 'A', '@scope/x', 'a b', '', 'constructor'])
    assert.match(fault({ ...small, name }), /^manifest\/name/, name);
});

test('what is missing or wrong is named', () => {
  assert.match(fault({ name: 'x', version: '1' }), /run/);
  assert.match(fault({ ...small, run: { command: '' } }), /^manifest\/run\/command/);
  assert.match(fault({ ...small, run: { ...run, env: { 'A=B': 'x' } } }), /"A=B"/);
  assert.match(fault({ ...small, run: { ...run, env: { A: 5 } } }), /^manifest\/run\/env/);
  assert.match(fault({ ...small, run: { ...run, sha256: 'abc' } }), /sha256/);
  assert.match(fault({ ...small, capabilities: { tools: 'yes' } }), /capabilities\/tools/);
  for (const path of ['../x', '/etc', 'a/../../b', 'a\\b']) assert.match(fault({ ...small, resources: { skills: path } }), /skills/, path);
  for (const path of ['x', '/a/../b', '~/..', 'workspace2'])
    assert.match(fault({ ...small, capabilities: { fs: { read: [path] } } }), /read/, path);
  assert.equal(
    fault({ ...small, resources: { skills: 'a/..b' }, capabilities: { fs: { read: ['/x', '~/y', 'workspace', 'workspace/z'] } } }),
    '',
  );
  for (const given of [undefined, null, 5, []]) assert.notEqual(fault(given), '');
});

test('package.json holds it under tenon or smooth, with name and version of the package', () => {
  const pack = { name: '@acme/echo', version: '2.0.0', smooth: { run } };
  assert.deepEqual(manifestInPackage(pack), { name: 'echo', version: '2.0.0', run });
  assert.deepEqual(manifestInPackage({ ...pack, tenon: { name: 'other', run } }), { name: 'other', version: '2.0.0', run });
  assert.equal(manifestInPackage({ name: 'x' }), undefined);
  assert.equal(manifestInPackage(null), undefined);
});

test('variables of the host are put in by name, once', () => {
  const env = { KEY: 'k', TWICE: ['$', '{env:KEY}'].join('') };
  const of = (name: string) => `$\{env:${name}}`;
  assert.equal(expandEnv(`a ${of('KEY')} b ${of('UNSET')}.`, env), 'a k b .');
  assert.equal(expandEnv(of('TWICE'), env), of('KEY'));
  assert.equal(expandEnv('${env:KEY', env), '${env:KEY', 'one that does not end stays');
});

test('hook_timeout_ms holds within bounds', () => {
  assert.equal(hookTimeoutOf({}, 5_000), 5_000);
  assert.equal(hookTimeoutOf({ hook_timeout_ms: 250 }, 60_000), 250);
  assert.equal(hookTimeoutOf({ hook_timeout_ms: 1 }, 60_000), 100);
  assert.equal(hookTimeoutOf({ hook_timeout_ms: 86_400_000 }, 5_000), 60_000);
});
