// What extensions are compiled against is committed as text, and stands alone: an author has neither the sources nor the
// protocol's package.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { renderTexts } from '../../scripts/extension-sdk-api.ts';

const root = join(import.meta.dirname, '..', '..');
const sdk = join(root, 'packages', 'extension-sdk');

test('the committed surface of the extension SDK is the one that its sources have', () => {
  for (const [name, text] of Object.entries(renderTexts())) assert.equal(text, readFileSync(join(sdk, name), 'utf8'), name);
});

test('the texts stand alone: an extension and its test compile against them, with the types of its arguments', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-extension-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const strict = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions;
    const paths = {
      '@tenon/extension-sdk': [join(sdk, 'api.d.ts')],
      '@tenon/extension-sdk/testing': [join(sdk, 'testing.d.ts')],
      zod: [join(root, 'node_modules', 'zod', 'index.d.ts')],
    };
    const compilerOptions = { ...strict, skipLibCheck: false, types: ['node'], typeRoots: [join(root, 'node_modules', '@types')], paths };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['test.ts'] }));
    writeFileSync(
      join(folder, 'test.ts'),
      `import { defineExtension, defineTool, method, render } from '@tenon/extension-sdk';
import { createTestHost, runConformance } from '@tenon/extension-sdk/testing';
import { z } from 'zod';
export const extension = defineExtension((tenon) => {
  const parameters = { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer' } }, required: ['text'] } as const;
  tenon.registerTool(defineTool({ name: 'a', description: '', parameters, execute: ({ text, times }) => text.repeat(times ?? 1) }));
  tenon.registerTool(defineTool({ name: 'b', description: '', parameters: z.object({ n: z.number() }), execute: ({ n }) => n.toFixed() }));
  // @ts-expect-error: times may be missing
  tenon.registerTool(defineTool({ name: 'c', description: '', parameters, execute: ({ times }) => times.toFixed() }));
  tenon.on('tool_call', ({ tool }, { kind }) => (tool === 'rm' && kind === 'hook' ? { block: true } : undefined));
  // @ts-expect-error: there is no such event
  tenon.on('no_such_event', () => {});
  tenon.registerMessageRenderer('board', render.progress(0.5));
});
const call: 'tool/execute' = method.toolExecute;
const host = createTestHost(extension, { onUiRequest: () => ({ confirmed: true }) });
export const content: string = (await host.callTool(call, { text: 'x' })).content;
export const ok: boolean = (await runConformance({ command: 'node' })).ok;
`,
    );
    const { status, stdout } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});
