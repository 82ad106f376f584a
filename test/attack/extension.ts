// Extensions of the attacks: programs that speak SEP by hand, in a folder of the home, as somebody would have put them there.
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { put } from '../support/plugins.ts';
import type { Target } from './target.ts';

export interface Written {
  /** Lines below `[capabilities]`. */
  readonly capabilities?: string;
  /** Its program; see `speaks`. */
  readonly program: string;
}

/** The fixture that does what a call tells it to, and says what came of it. */
export const probe = readFileSync(join(import.meta.dirname, '../fixtures/extensions/probe.mjs'), 'utf8');

/**
 * A program of an extension: `registrations` as JavaScript, and a function body for what it hears. There it has `method`, `params`,
 * `id`, `answer(result)`, `ask(method, params)`, which resolves with the whole reply, and `note(value)`, a line of standard error.
 */
export function speaks(registrations: string, body: string, leavesAtOnce = true): string {
  return `import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const note = (value) => process.stderr.write(JSON.stringify(value) + '\\n');
const waiting = new Map();
let count = 0;
const ask = (method, params) => new Promise((resolve) => { const id = 'mine' + ++count; waiting.set(id, resolve); say({ id, method, params }); });
createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (method === undefined) return waiting.get(id)?.(message);
  const answer = (result) => say({ id, result });
  if (method === 'initialize') answer({ protocol_version: 1, extension: { name: params?.extension?.name ?? 'x', version: '1.0.0' }, registrations: ${registrations} });
  if (method === 'ping') return answer({});
  ${leavesAtOnce ? "if (method === 'shutdown') { answer({}); return process.exit(0); }" : ''}
  ${body}
})${leavesAtOnce ? ".on('close', () => process.exit(0))" : ''};
`;
}

export const tool = (name: string) => `{ name: '${name}', description: 'Does.', parameters: { type: 'object' } }`;

export function writeExtension(folder: string, name: string, { capabilities = '', program }: Written): string {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  put(
    join(folder, 'extension.toml'),
    `name = "${name}"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\n${capabilities}\n`,
  );
  put(join(folder, 'main.mjs'), program);
  return folder;
}

/** In the home of the gateway, found and enabled, with what its manifest asks for or only with `grants`. Throws where it is refused. */
export async function addExtension(target: Target, name: string, written: Written, grants?: readonly string[]) {
  const place = join(target.home, 'extensions');
  mkdirSync(place, { recursive: true });
  chmodSync(place, 0o755);
  writeExtension(join(place, name), name, written);
  await target.ask('plugins.reload', {});
  const { plugin } = await target.ask('plugins.enable', { id: name, ...(grants === undefined ? {} : { grants }) });
  return plugin as {
    readonly state: string;
    readonly reason?: string;
    readonly process?: { readonly state: string; readonly pid?: number };
  };
}

/** What extensions wrote to standard error, as the gateway of this home logs it. */
export function noted(home: string): Record<string, unknown>[] {
  const log = readFileSync(join(home, 'logs', 'gateway.log'), 'utf8');
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"stderr":')) return [];
    const { stderr: said } = JSON.parse(line) as { stderr: string };
    return said.startsWith('{') ? [JSON.parse(said) as Record<string, unknown>] : [];
  });
}
