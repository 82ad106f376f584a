// From nothing to a tool of one's own: the lines of the README, read from it and typed into shells, against a real gateway.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const PATIENCE_MS = 120_000;

/** The lines of the first block of shell commands below a heading, without their comments. */
function linesBelow(heading: string): string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, block = ''] = new RegExp(`^## ${heading}\\n[\\s\\S]*?^\`\`\`sh\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(readme) ?? [];
  return block.split('\n').flatMap((line) => line.replace(/\s+#.*$/, '').trim() || []);
}

/** A shell that lines are typed into, and what came of them. */
function openShell(t: TestContext, cwd: string, home: string) {
  const env = cleanEnv({ TENON_HOME: home, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` });
  const child = spawn('sh', [], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  cleanUp(t, () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended, with all that was typed into it.
    }
  });
  let said = '';
  let news = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      news.resolve();
    });
  return {
    /** The line, and what it ended with, so that a failure is seen where it happened. */
    type: (line: string) => void child.stdin.write(`${line}\necho "ended with $?"\n`),
    async until(wanted: RegExp): Promise<RegExpExecArray> {
      const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => assert.fail(`${wanted} did not come: ${said}`));
      for (;;) {
        const found = wanted.exec(said);
        if (found) {
          said = said.slice(found.index + found[0].length);
          return found;
        }
        assert.doesNotMatch(said, /ended with [1-9]/);
        await Promise.race([news.promise, late]);
        news = Promise.withResolvers<void>();
      }
    },
  };
}

test('the lines of the README make a tool that an agent uses, in less than ten lines', async (t) => {
  verifies('seed3:scaffold', 'seed3:sdk');
  const [start, lines] = [linesBelow('Start'), linesBelow('A tool of your own')];
  assert.deepEqual(start, ['npm ci && npm start']);
  assert.ok(lines.length >= 3 && start.length + lines.length < 10, lines.join('\n'));
  const [make, install, use, allow, ...more] = lines;
  assert.deepEqual(more, []);
  assert.match(allow!, /<id>/);

  const folder = mkdtempSync(join(tmpdir(), 'tenon-readme-'));
  cleanUp(t, () => removeFolder(folder));
  // As in the folder of the repository, without leaving something there.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const startedAt = performance.now();
  const gateway = await startGatewayProcess();
  cleanUp(t, () => gateway.remove());

  const first = openShell(t, folder, gateway.home);
  first.type(make!);
  await first.until(/extension\.toml\n[\s\S]*ended with 0\n/);
  first.type(install!);
  await first.until(/It asks for:\n {2}tools\.register: [\s\S]*loaded\n[\s\S]*ended with 0\n/);
  first.type(use!);
  const [, id] = await first.until(/tenon approve allow (\S+)/);
  const second = openShell(t, folder, gateway.home);
  second.type(allow!.replace('<id>', id!));
  await second.until(/ended with 0\n/);
  await first.until(/Hello, Ada!\n[\s\S]*ended with 0\n/);
  t.diagnostic(`from the start of the gateway to the answer of the tool: ${Math.round(performance.now() - startedAt)} ms`);
});
