import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginHost } from '../host/plugin-host.ts';
import { pluginFindings } from './doctor.ts';

type Listed = ReturnType<PluginHost['list']>[number];

const extension = (id: string, process: Partial<NonNullable<Listed['process']>>): Listed => ({
  id,
  name: id,
  version: '1.0.0',
  origin: 'path',
  state: 'loaded',
  enabled: true,
  generation: 1,
  asked: [],
  granted: [],
  registrations: [],
  switchedOff: [],
  incidents: [],
  services: [],
  folder: '/notes',
  config: {},
  counts: [],
  process: { state: 'ready', crashes: 0, sandboxed: false, reach: { net: false, read: [], write: [] }, ...process },
});

test('an extension that was loaded and stays down is told, with what starts it again', async () => {
  const host = (one: Listed) => ({ list: () => [one], check: async () => [], missingGuards: [] });
  assert.deepEqual(await pluginFindings(host(extension('notes', { state: 'quarantined', reason: 'it crashed 3 times' }))), [
    {
      check: 'plugins',
      severity: 'warning',
      message: 'Extension notes is down: it crashed 3 times',
      remedy: 'tenon ext reload notes, and what it said: tenon ext logs notes',
    },
  ]);
  assert.deepEqual(await pluginFindings(host(extension('notes', {}))), [{ check: 'plugins', severity: 'ok', message: '1 of 1 loaded' }]);
});
