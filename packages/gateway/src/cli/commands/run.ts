import type { Client } from '@tenon/client';
import type { Approval, Result, RunEnd } from '@tenon/protocol';
import type { Card } from '../chat/card.ts';
import type { EndsShow } from '../chat/piped.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { CliError, exitCodes, usageError } from '../failure.ts';
import { readAll } from '../io.ts';
import { jsonLine } from '../output.ts';
import { choice, on, optional, repeated, text } from '../values.ts';
import { chosenSession } from './chosen-session.ts';

const LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const CALL_MS = 60_000;
/** How long the last events of a run may come after the answer that it has ended. */
const LATE_MS = 2_000;
const HOW = 'such as: tenon run "list the files"; or pipe it in: tenon run - < question.txt';
const MOST_TOOLS = 10_000;

export const run = defineCommand({
  path: 'run',
  summary: 'Ask an agent one thing and print its answer, for scripts',
  examples: [
    'run "list the files"',
    'run --session notes "and now?" --json',
    'run - < question.txt',
    'run "what is in it?" --attach report.pdf',
    'run "fix the tests" --timeout 10m',
    'run --session notes /status',
  ],
  args: { message: optional('What to say; - or nothing reads it from stdin') },
  options: {
    session: text('<key>', 'The session; without one, a new one'),
    agent: text('<id>', 'The agent (default: main)'),
    model: text('<id>', 'The model, for this turn only'),
    thinking: choice(LEVELS, 'How long the model thinks, for this turn only'),
    attach: repeated('<file>', 'A file that goes with the message; may be given several times'),
    override: on('Say it although a plugin waits for a decision'),
    noWait: on('If something waits for an approval, end with 6 instead of waiting'),
    quiet: on('Say nothing about tools on stderr', 'q'),
    streamJson: on('Print events as JSON, one a line, and the result last'),
    verbose: on('Show all output of tools'),
  },
  async run(context) {
    const { options, io, out } = context;
    const { agent: agentId, model, thinking } = options;
    const labels = { agentId: '--agent', sessionKey: '--session', message: 'The message' };
    await context.check('agent', { agentId, model, thinking }, labels);
    const sessionKey = await chosenSession({ session: options.session, agent: agentId });
    await context.check('agent', { sessionKey }, labels);
    const files = options.attach ?? [];
    const { checkFiles, uploadFiles } = await import('../upload.ts');
    await checkFiles(files);
    const message = await readMessage(context);
    if (message.startsWith('/')) {
      const { runSlashCommand } = await import('./run-command.ts');
      const meaningless = [...(model === undefined ? [] : ['--model']), ...(thinking === undefined ? [] : ['--thinking'])];
      const code = await runSlashCommand(context, { text: message, sessionKey, agentId, streamJson: options.streamJson, meaningless });
      if (code !== undefined) return code;
    }
    const runId = crypto.randomUUID();
    const params = await context.params(
      'agent',
      {
        sessionKey,
        agentId: sessionKey === undefined ? agentId : undefined,
        message,
        model,
        thinking,
        ...(options.override ? { override: true } : {}),
        idempotencyKey: runId,
      },
      labels,
    );
    const [
      { hearingEnds },
      { createFollower },
      { createPlainScreen },
      { createScriptShow },
      { followedEvents, connectionNotes, waitForEnd },
    ] = await Promise.all([
      import('../chat/piped.ts'),
      import('../chat/follow.ts'),
      import('../chat/screen.ts'),
      import('../chat/script-show.ts'),
      import('../chat/conversation.ts'),
    ]);

    const wantsJson = out.json || options.streamJson;
    const streams = io.stdout.isTTY === true && !wantsJson;
    const tools = new Map<string, ToolReport>();
    const waiting = Promise.withResolvers<Approval | undefined>();
    const answers = streams
      ? createPlainScreen({ write: (piece) => void io.stdout.write(piece), style: (style, piece) => out.style(style, piece) })
      : undefined;
    const inner = createScriptShow({
      answers,
      talk: (line) => out.talk(line),
      verbose: options.verbose,
      quiet: options.quiet || wantsJson,
      now: io.now,
      onAsked: (approval) => waiting.resolve(approval),
      // The question itself follows, for those who may see it.
      onWaits: () => void setTimeout(() => waiting.resolve(undefined), LATE_MS),
    });
    const show: EndsShow = hearingEnds({
      ...inner,
      // The message is known, and how it ended is said in one place below.
      said() {},
      ended: () => answers?.endText(),
      worked(card) {
        if (tools.size < MOST_TOOLS) tools.set(card.callId, toolReport(card));
        inner.worked(card);
      },
    });

    const client = await context.client({ events: [...followedEvents], reconnect: { minMs: 250, maxMs: 5_000 } });
    await client.connect();
    // Events of the run may come before the answer that names its session.
    const early: (() => void)[] = [];
    let follower: ReturnType<typeof createFollower> | undefined;
    const take = (work: () => void) => void (follower ? work() : early.length < 1_000 && early.push(work));
    client.on('agent', (said) => take(() => said.runId === runId && follower?.run(said)));
    client.on('chat', (event) => take(() => event.runId === runId && follower?.chat(event)));
    client.on('approval.requested', ({ approval }) => take(() => approval.runId === runId && follower?.asked(approval)));
    client.on('approval.resolved', (settled) => take(() => follower?.settled(settled)));
    if (options.streamJson) streamEvents(client, runId, (line) => out.line(line));
    client.onState(connectionNotes(inner, () => follower?.interrupted()));

    const attachments = await uploadFiles(client, files, sessionKey);
    const said = attachments.length === 0 ? params : { ...params, attachments };
    const accepted = await client.call('agent', said, { timeoutMs: CALL_MS });
    const fetchEntry = (entryId: string) =>
      void readEntry(client, accepted.sessionKey, entryId).then((entry) => entry && follower?.entry(entry));
    follower = createFollower({ sessionKey: accepted.sessionKey, show, fetchEntry });
    for (const work of early.splice(0)) work();

    const stopped = new AbortController();
    const ended = waitForEnd(client, accepted.runId, stopped.signal);
    const stop = () =>
      client.call('chat.abort', { sessionKey: accepted.sessionKey, runId: accepted.runId, idempotencyKey: crypto.randomUUID() });
    const interruption = onInterrupt(io.interrupted(), stop);
    const limit = timeLimit(context.globals.timeout, stop);
    const asked = options.noWait ? waiting.promise : new Promise<never>(() => {});
    try {
      const first = await Promise.race([ended, asked.then((approval) => ({ approval }))]);
      if ('approval' in first) {
        stopped.abort();
        ended.catch(() => {});
        return needsConsent(context, accepted, first.approval);
      }
      await show.heard(accepted.runId, LATE_MS);
      follower.interrupted();
      const overdue = limit.over();
      if (overdue) throw overdue;
      return await report(context, accepted, first, [...tools.values()], interruption.happened());
    } finally {
      limit.clear();
    }
  },
});

type Accepted = Result<'agent'>;
type RunContext = CommandContext<{ message: string | undefined }, { noWait: boolean; quiet: boolean; streamJson: boolean }>;

export interface ToolReport {
  readonly callId: string;
  readonly name: string;
  readonly subject: string;
  readonly isError: boolean;
  readonly durationMs?: number;
}

function toolReport({ callId, name, subject, state, durationMs }: Card): ToolReport {
  return {
    callId: callId.slice(callId.indexOf(' ') + 1),
    name,
    subject,
    isError: state === 'failed' || state === 'denied',
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

async function readMessage({ args, io, globals }: Pick<RunContext, 'args' | 'io' | 'globals'>): Promise<string> {
  const { tooLong } = await import('../chat/input.ts');
  const { limits } = await import('@tenon/protocol');
  let message = args.message;
  if (message === undefined || message === '-') {
    if (message === undefined && io.stdin.isTTY === true) throw usageError('<message> is missing', HOW);
    if (globals.token === '-') throw usageError('--token and the message cannot both be read from stdin');
    message = (await readAll(io.stdin)).replace(/\r?\n$/, '');
  }
  if (message.trim() === '') throw usageError('The message is empty', HOW);
  if (message.length > limits.messageChars.value) throw new CliError('TOO_LARGE', exitCodes.usage, tooLong(message.length));
  return message;
}

function streamEvents(client: Client, runId: string, line: (text: string) => void): void {
  const print = (event: string, payload: object) => line(jsonLine({ event, payload }));
  client.on('agent', (said) => said.runId === runId && print('agent', said));
  client.on('chat', (event) => event.runId === runId && print('chat', event));
  client.on('approval.requested', (event) => event.approval.runId === runId && print('approval.requested', event));
}

async function readEntry(client: Client, sessionKey: string, entryId: string) {
  try {
    const { entries } = await client.call('chat.history', { sessionKey, limit: 100 });
    return entries.find(({ id }) => id === entryId);
  } catch {
    // What it said is in the answer of `agent.wait`, too.
    return undefined;
  }
}

/** Ctrl-C stops the run; its end is waited for as ever. */
function onInterrupt(signal: AbortSignal, stop: () => Promise<unknown>): { happened(): boolean } {
  signal.addEventListener('abort', () => void stop().catch(() => {}), { once: true });
  return { happened: () => signal.aborted };
}

/** The end of the run is waited for as ever; that it was the time is said then. */
function timeLimit(ms: number | undefined, stop: () => Promise<unknown>): { over(): CliError | undefined; clear(): void } {
  if (ms === undefined) return { over: () => undefined, clear() {} };
  let error: CliError | undefined;
  const timer = setTimeout(() => {
    const text = `The agent had not answered within ${ms} ms; it was stopped`;
    error = new CliError('TIMEOUT', exitCodes.failed, text, 'wait longer with --timeout 10m');
    void stop().catch(() => {});
  }, ms);
  return { over: () => error, clear: () => clearTimeout(timer) };
}

async function needsConsent(
  { out, options }: RunContext,
  { runId, sessionKey }: Accepted,
  approval: Approval | undefined,
): Promise<number> {
  const { visible } = await import('@tenon/protocol');
  const command = approval ? `tenon approve allow ${approval.id}` : 'tenon approve ls';
  const result = { runId, sessionKey, status: 'waiting', ...(approval ? { approval } : {}) };
  if (out.json || options.streamJson) out.line(jsonLine(result));
  else out.talk(visible(`The turn waits for an approval. Answer it with: ${command}   Then see: tenon session history ${sessionKey}`));
  return exitCodes.needsConsent;
}

async function report(
  { out, io, options }: RunContext,
  { runId, sessionKey }: Accepted,
  { run: record, end, text: said = '' }: Result<'agent.wait'>,
  tools: readonly ToolReport[],
  interrupted: boolean,
): Promise<number> {
  const [{ exitOfEnd }, { endText }, { safeLines }] = await Promise.all([
    import('../chat/outcome.ts'),
    import('../chat/view.ts'),
    import('../chat/text.ts'),
  ]);
  const how: RunEnd | undefined = end ?? record.end;
  const result = {
    runId,
    sessionKey,
    status: how?.kind ?? 'unknown',
    ...(how === undefined ? {} : { end: how }),
    text: said,
    usage: record.usage,
    tools,
  };
  if (options.streamJson) out.line(jsonLine({ event: 'result', payload: result }));
  else if (out.json) out.line(jsonLine(result));
  else {
    // On a terminal it has been seen as it came; elsewhere it is data, exactly as it was said.
    if (io.stdout.isTTY !== true && said !== '') io.stdout.write(said.endsWith('\n') ? said : `${said}\n`);
    const failed = endText(how);
    if (failed !== undefined) out.talk(`tenon: ${safeLines(failed).join(' ')}`);
  }
  return exitOfEnd(how, interrupted);
}
