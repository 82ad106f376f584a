import type { Client } from '@tenon/client';
import type { TraceRecord } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { jsonLine } from '../output.ts';
import { integer, on, required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const pluginTrace = defineCommand({
  path: 'plugin trace',
  summary: 'Show what plugins do in a session: who ran, how long, what it changed, what was refused and why',
  examples: [
    'plugin trace notes',
    'plugin trace notes --turns 3',
    'plugin trace notes --follow',
    'plugin trace notes --run 7f3a --json',
    'plugin trace notes --off',
  ],
  args: { session: required('Its key; notes is agent:main:notes') },
  options: {
    turns: integer('<n>', 'Record the next turns, and wait for them', { min: 1, max: 100, short: 'n' }),
    run: text('<id>', 'Only what was recorded of this turn'),
    follow: on('Record, and print what comes until Ctrl-C', 'f'),
    off: on('End the recording'),
  },
  async run(context) {
    const { options, out, io } = context;
    const { turns, run: runId, follow, off } = options;
    if ([turns !== undefined, follow, off].filter(Boolean).length > 1) throw usageError('--turns, --follow and --off do not go together');
    const key = await sessionKey(context.args.session);
    const labels = { sessionKey: 'the session', runId: '--run' };
    const params = await context.params('hooks.trace', { sessionKey: key, runId }, labels);
    if (off) {
      await context.call('hooks.trace.record', { sessionKey: key, off: true }, labels);
      out.show({ sessionKey: key, recording: false }, () => `${key} is not recorded`);
      return;
    }
    const [{ createTraceLines }, { visible }] = await Promise.all([import('../trace-lines.ts'), import('@tenon/protocol')]);
    const lines = createTraceLines(out, visible);
    const print = (records: readonly TraceRecord[]) => {
      for (const line of lines.of(records)) out.line(line);
    };
    // Listens before it records, so that nothing is missed in between.
    const client = await context.connect({ events: ['hooks.traced'] });
    const kept = await readOn(client, params, 0);

    if (turns === undefined && !follow && (kept.records.length > 0 || kept.recording || runId !== undefined)) {
      out.show({ recording: kept.recording, records: kept.records, dropped: kept.dropped }, () => []);
      if (out.json) return;
      print(kept.records);
      if (kept.dropped > 0) out.talk(`${kept.dropped} older records made room for newer ones`);
      if (kept.records.length === 0) out.talk('Nothing was recorded');
      else if (kept.recording) out.talk(`It is still being recorded: tenon plugin trace ${context.args.session} --follow`);
      return;
    }

    const wanted = follow ? undefined : (turns ?? 1);
    const begun = await client.call('hooks.trace.record', {
      sessionKey: key,
      ...(wanted === undefined ? {} : { turns: wanted }),
      idempotencyKey: crypto.randomUUID(),
    });
    out.talk(
      wanted === undefined ? `Recording ${key} until Ctrl-C` : `Waiting for ${spelled(wanted)} of ${key}; Ctrl-C ends the recording`,
    );
    const all: TraceRecord[] = [];
    let left = wanted;
    const endedBy = await followTrace(client, params, begun.seq, io.interrupted(), (page) => {
      if (out.json && !follow) all.push(...page.records);
      else if (out.json) for (const record of page.records) out.line(jsonLine(record));
      else print(page.records);
      if (!out.json && page.turnsLeft !== undefined && page.turnsLeft !== left && page.turnsLeft > 0)
        out.talk(`${spelled(page.turnsLeft)} to go`);
      left = page.turnsLeft ?? left;
    });
    if (endedBy === 'interrupt')
      await client.call('hooks.trace.record', { sessionKey: key, off: true, idempotencyKey: crypto.randomUUID() });
    if (out.json && !follow) out.line(jsonLine({ recording: false, records: all }));
    else if (!out.json) out.talk(endedBy === 'interrupt' ? 'The recording has ended' : 'Recorded');
    return;
  },
});

type Query = { readonly sessionKey: string; readonly runId?: string };
type Page = Awaited<ReturnType<typeof readPage>>;

function readPage(client: Client, query: Query, after: number) {
  return client.call('hooks.trace', { ...query, after });
}

/** Everything after this, whatever the number of pages. */
async function readOn(client: Client, query: Query, after: number): Promise<Page> {
  const first = await readPage(client, query, after);
  const records = [...first.records];
  for (let next = first.next; next !== undefined; ) {
    const page = await readPage(client, query, next);
    records.push(...page.records);
    next = page.next;
  }
  return { ...first, records };
}

/** Hands on what is recorded until the recording ends, or the person has enough. */
async function followTrace(
  client: Client,
  query: Query,
  from: number,
  interrupted: AbortSignal,
  take: (page: Page) => void,
): Promise<'end' | 'interrupt'> {
  let after = from;
  let news = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<never>();
  // Awaited below only while nothing is read.
  lost.promise.catch(() => {});
  client.on('hooks.traced', ({ sessionKey: about }) => about === query.sessionKey && news.resolve());
  client.onState((state) => state.kind === 'closed' && lost.reject(state.error ?? new Error('the connection was closed')));
  interrupted.addEventListener('abort', () => news.resolve(), { once: true });
  for (;;) {
    news = interrupted.aborted ? news : Promise.withResolvers<void>();
    const page = await readOn(client, query, after);
    after = page.records.at(-1)?.seq ?? after;
    take(page);
    if (interrupted.aborted) return 'interrupt';
    if (!page.recording) return 'end';
    await Promise.race([news.promise, lost.promise]);
  }
}

function spelled(turns: number): string {
  return turns === 1 ? 'the next turn' : `the next ${turns} turns`;
}
