import type { Readable } from 'node:stream';
import type { ExtensionManifest, Registrations } from '@tenon/protocol/sep';
import type { Lack } from '../../extension-folder.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../failure.ts';
import { jsonLine, type Output } from '../output.ts';
import { list, optional } from '../values.ts';
import { check, faultLines } from './ext-check.ts';

export const extDev = defineCommand({
  path: 'ext dev',
  summary: 'Run the extension in a folder while you work on it: started anew on every change, with all that is said on the wire',
  examples: ['ext dev ./notes', 'ext dev ./notes --grant tools.register', 'ext dev ./notes --json'],
  args: { folder: optional('Where it is; without one, here') },
  options: { grant: list('<grants>', 'Grant only these; without it what the gateway has granted it, or all that it asks for') },
  async run(context) {
    const { args, options, out, io } = context;
    const folder = args.folder ?? '.';
    await context.check('plugins.enable', { id: 'x', grants: options.grant }, { grants: '--grant' });
    const first = await check(folder, context);
    const [{ visible }, { createGenerations }, { createQuestions }, traffic, { watchFolder }, { limits }, { version }] = await Promise.all([
      import('@tenon/protocol'),
      import('../dev/generations.ts'),
      import('../dev/questions.ts'),
      import('../dev/traffic.ts'),
      import('../dev/watch-folder.ts'),
      import('@tenon/protocol/sep/wire'),
      import('../../version.ts'),
    ]);
    // A folder that is not there will not be by itself.
    if (first.problems[0]?.path === first.folder) {
      out.show({ ok: false, problems: first.problems }, () => faultLines(first, out, visible));
      return exitCodes.failed;
    }
    const interrupted = io.interrupted();
    const say = createSayings(out, visible);
    const questions = createQuestions((text) => say.state('asks', text), limits.uiAnswerMs.value);
    const read = traffic.createTraffic(() => performance.now());
    const generations = createGenerations({
      folder: first.folder,
      env: io.env,
      node: process.execPath,
      version,
      workspace: process.cwd(),
      check: () => check(folder, context),
      grantsOf: (manifest) => grantsOf(manifest, options.grant, context),
      ask: (request) => questions.ask(request),
      tell: {
        traffic(direction, line) {
          const message = read(direction, line);
          if (out.json) return say.json({ kind: 'traffic', message });
          const style = message.kind === 'error' ? 'red' : direction === 'to-extension' ? 'cyan' : 'green';
          const text = visible(traffic.messageText(message));
          out.line(`${out.style(style, text.slice(0, 1))}${text.slice(1)}`);
        },
        stderr: (text) => say.stderr(text),
        fault: (text) => say.wrong(text),
        lack: (lack, name) => say.missing(lack, name),
        checked: (checked) => {
          if (out.json) return say.json({ kind: 'checked', problems: checked.problems, notes: checked.notes });
          for (const line of faultLines(checked, out, visible)) out.line(line);
          if (!checked.manifest) say.state('waits', 'for a change of the manifest');
        },
        ready: (registrations, manifest, ms) =>
          say.state('ready', `${manifest.name} ${manifest.version} in ${ms} ms: ${summaryOf(registrations)}`),
        failed: (reason, goesOn) =>
          say.state('failed', `${reason}${goesOn ? '; the one before goes on' : ''}; it is started again when a file changes`),
        ended: (how) => say.state('ended', `with ${how}; it is started again when a file changes`),
      },
    });
    try {
      const watching = watchFolder(first.folder, interrupted, async () => {
        say.state('changed', 'starting it anew');
        await generations.renew();
      });
      await generations.renew();
      if (!out.json) out.talk('Type a tool with its arguments as JSON, a /command, reload, or help. Ctrl-C ends it.');
      const typing = takeLines(io.stdin as unknown as Readable, interrupted, async (line) => {
        if (!questions.take(line)) await take(line);
      }).then(() => questions.close());
      // A terminal that was closed with Ctrl-D; a script may have nothing more to say, and still wants to see.
      await (io.stdin.isTTY === true ? Promise.race([watching, typing]) : watching);
    } finally {
      questions.close();
      // Whoever presses it again does not want to wait.
      io.interrupted().addEventListener('abort', generations.kill, { once: true });
      await generations.close();
      say.state('ended', 'nothing of it is running');
    }
    return exitCodes.ok;

    /** Never rejects: what was typed wrongly is said. */
    async function take(line: string): Promise<void> {
      const text = line.trim();
      if (text === '') return;
      if (text === 'reload' || text === 'r') return generations.renew();
      const { current } = generations;
      if (!current) return say.state('waits', 'nothing is running; it is started again when a file changes, or type reload');
      const { host } = current.running;
      const { tools = [], commands = [] } = current.registrations;
      const { parseSlash } = await import('@tenon/protocol/sep');
      const slash = parseSlash(text);
      const [, word = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
      try {
        if (slash) await host.runCommand(slash.command, slash.arguments);
        else if (tools.some(({ name }) => name === word)) await host.callTool(word, argumentsOf(json));
        else {
          const known = [...tools.map(({ name }) => `${name} {…}`), ...commands.map(({ name }) => `/${name}`), 'reload'];
          say.state('knows', known.join(', '));
        }
      } catch (error) {
        say.wrong((error as Error).message);
      }
    }
  },
});

/** What the gateway has granted an extension of this name, where one runs and has it switched on. */
async function grantsOf(
  { name }: ExtensionManifest,
  only: readonly string[] | undefined,
  { hasGateway, call }: CommandContext,
): Promise<ReadonlySet<string> | undefined> {
  if (only) return new Set(only);
  if (!(await hasGateway())) return undefined;
  try {
    const { plugin } = await call('plugins.get', { id: name });
    return plugin.enabled ? new Set(plugin.granted) : undefined;
  } catch {
    // It may be away, or know nothing of it: then it is tried out as it would be once it is trusted.
    return undefined;
  }
}

function argumentsOf(json: string): Record<string, unknown> {
  const value: unknown = json === '' ? {} : parsed(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error('the arguments of a tool are a JSON object, such as {"text": "hello"}');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function summaryOf(registrations: Registrations): string {
  const kinds = Object.entries(registrations).flatMap(([kind, items]) => {
    const names = (items as readonly unknown[]).map((item) => (typeof item === 'string' ? item : nameOf(item as object)));
    return names.length === 0 ? [] : [`${kind} ${names.join(', ')}`];
  });
  return kinds.length === 0 ? 'it registers nothing' : kinds.join('; ');
}

function nameOf(item: object): string {
  const { name, id, namespace, key, tag, action } = item as Record<string, unknown>;
  return String(name ?? id ?? namespace ?? key ?? tag ?? action ?? '?');
}

/** What is said beside the traffic: data too, because it is what somebody looks for in it. */
function createSayings(out: Output, visible: (text: string) => string) {
  const json = (value: object) => out.line(jsonLine(value));
  let unfinished = '';
  return {
    json,
    state(state: 'ready' | 'failed' | 'ended' | 'changed' | 'waits' | 'asks' | 'knows', text: string): void {
      if (out.json) return json({ kind: 'state', state, text });
      out.line(`${out.style(state === 'failed' ? 'red' : 'bold', state)} ${visible(text)}`);
    },
    wrong(text: string): void {
      if (out.json) return json({ kind: 'wrong', text });
      out.line(`${out.style('red', 'wrong')} ${visible(text)}`);
    },
    missing(lack: Lack, name: string): void {
      const { what, declare, grants, isNotServed } = lack;
      const command = declare === undefined ? `tenon ext grant ${name} ${grants.join(' ')}` : `tenon ext trust ${name}`;
      if (out.json) return json({ kind: 'missing', ...lack, ...(isNotServed ? {} : { command }) });
      const advice = isNotServed
        ? 'this gateway does not serve it'
        : declare === undefined
          ? `it is not granted; grant it with: ${command}`
          : `its manifest does not ask for it; write ${declare} under [capabilities], then: ${command}`;
      out.line(`${out.style('yellow', 'missing')} ${visible(`${what}: ${advice}`)}`);
    },
    stderr(text: string): void {
      const lines = `${unfinished}${text}`.split('\n');
      unfinished = (lines.pop() ?? '').slice(-4_096);
      for (const line of lines) {
        if (out.json) json({ kind: 'stderr', line });
        else out.line(out.style('dim', `│ ${visible(line)}`));
      }
    },
  };
}

/** Resolves when there are no more, or it was interrupted. Not one after another: a tool that asks something waits for the next line. */
async function takeLines(input: Readable, signal: AbortSignal, take: (line: string) => Promise<void>): Promise<void> {
  const { createInterface } = await import('node:readline');
  if (signal.aborted) return;
  const lines = createInterface({ input, terminal: false });
  const stop = () => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.on('line', (line) => void take(line));
  lines.once('close', resolve);
  await promise;
  signal.removeEventListener('abort', stop);
}
