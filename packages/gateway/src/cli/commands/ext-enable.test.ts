import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RUNNING_FILE } from '../../home.ts';
import type { Installed } from '../../install/install.ts';
import { CliError, exitCodes } from '../failure.ts';
import { enableInstalled, outcomeLine } from './ext-enable.ts';

const version = { version: '1.0.0', source: '/notes', treeHash: 'aa' } as Installed['version'];

async function enable(t: { after(run: () => void): void }, { isSame, isOn, isRunning = true }: Record<string, boolean>) {
  const home = mkdtempSync(join(tmpdir(), 'tenon-enable-'));
  t.after(() => rmSync(home, { recursive: true }));
  if (isRunning) writeFileSync(join(home, RUNNING_FILE), JSON.stringify({ url: 'ws://127.0.0.1:1', port: 1, pid: process.pid }));
  const called: string[] = [];
  const context = {
    home: async () => home,
    async call(method: string) {
      called.push(method);
      return { plugin: { enabled: isOn, state: 'off', granted: [] } };
    },
    async consent() {
      throw new CliError('CONSENT', exitCodes.needsConsent, 'nobody agreed');
    },
  } as unknown as Parameters<typeof enableInstalled>[0];
  const installed = { name: 'notes', version, isSame: isSame === true };
  return { called, ...(await enableInstalled(context, installed, undefined, { yes: false, noEnable: false })) };
}

test('what nobody agreed to is off, also where one of its name was on when it was removed without a gateway', async (t) => {
  const left = await enable(t, { isOn: true });
  assert.deepEqual([left.exitCode, left.called], [exitCodes.needsConsent, ['plugins.get', 'plugins.disable']]);
  const fresh = await enable(t, { isOn: false });
  assert.deepEqual([fresh.exitCode, fresh.called], [exitCodes.needsConsent, ['plugins.get']]);
});

test('without a gateway nobody says that files that were there already are off', async (t) => {
  const { outcome, exitCode } = await enable(t, { isSame: true, isRunning: false });
  assert.equal(outcomeLine(outcome), 'notes 1.0.0 is installed already, and no gateway is running; start it with: tenon start');
  assert.equal(exitCode, exitCodes.ok);
});
