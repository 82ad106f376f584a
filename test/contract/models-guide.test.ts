// The guide of models says what is so: its examples are settings that the gateway takes, its tables are the rows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { modelProviders } from '@tenon/protocol';
import { parseConfigText } from '../../packages/gateway/src/config.ts';
import { demoKinds } from '../../packages/gateway/src/model/demo-kinds.ts';
import { demoTasks } from '../../packages/gateway/src/model/demo-tasks.ts';
import { providerDefaults } from '../../packages/gateway/src/model/providers/model.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'models.md'), 'utf8');

test('every tenon.toml in the guide of models can be used', () => {
  const examples = Array.from(guide.matchAll(/```toml\n(.*?)```/gs), ([, text]) => text ?? '');
  assert.ok(examples.length > 4);
  for (const text of examples) parseConfigText(text, 'models.md');
  for (const provider of modelProviders)
    assert.ok(
      examples.some((text) => text.includes(`provider = "${provider}"`)),
      provider,
    );
});

test('the guide shows what the demo model can do, and the defaults of each provider', () => {
  for (const { name, example } of demoKinds) assert.ok(guide.includes(`| ${name} | ${example} |`), name);
  for (const { name, example, tool } of demoTasks)
    assert.ok(guide.includes(`| ${name} | ${example} | ${tool === undefined ? 'as named' : `\`${tool}\``} |`), name);
  for (const [provider, { keyEnv, contextWindow }] of Object.entries(providerDefaults)) {
    assert.ok(guide.includes(`${contextWindow} (\`${provider}\`)`), provider);
    if (keyEnv) assert.ok(guide.includes(`\`${keyEnv}\``), provider);
  }
});
