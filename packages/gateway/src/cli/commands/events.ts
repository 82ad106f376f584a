import type { Client } from '@tenon/client';
import type { EventFrame, EventPayload } from '@tenon/protocol';
import { defineCommand } from '../command.ts';
import { quoted, unknownWord, usageError } from '../failure.ts';
import { jsonLine, type Output } from '../output.ts';
import { integer, list, on } from '../values.ts';

export const events = defineCommand({
  path: 'events',
  summary: 'Print events as they come',
  examples: ['events', 'events --from 0 --json', 'events --from 0 --until-live', 'events --only sessions.changed --count 1'],
  options: {
    from: integer('<seq>', 'First what came after this position, if all of it is kept; 0 is everything', {
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
    only: list('<names>', 'Only these events', async () => (await import('@tenon/protocol')).eventNames),
    count: integer('<n>', 'Stop after this many', { min: 1, max: Number.MAX_SAFE_INTEGER, short: 'n' }),
    untilLive: on('Stop when the past has been printed; needs --from'),
  },
  async run({ options, out, io, client: createClient }) {
    const { from, count } = options;
    if (options.untilLive && from === undefined) throw usageError('--until-live needs --from');
    const only = await checkedNames(options.only);
    const client = await createClient({
      // What tells that the past is over has to come as well.
      ...(only ? { events: [...only, 'resumed', 'snapshot-required'] } : {}),
      ...(from === undefined ? {} : { resume: { seq: from } }),
      reconnect: {},
    });
    const { eventRow, isEventName, visible } = await import('@tenon/protocol');
    // That nothing happened for half a minute, and what the handshake says, is printed only to those who ask for it by name.
    const isSilent = (name: string) => name === 'tick' || (isEventName(name) && eventRow(name).scope === 'handshake');
    const done = Promise.withResolvers<void>();
    let printed = 0;
    const print = (frame: EventFrame) => {
      if (only ? !only.some((name) => isMeant(name, frame.event)) : isSilent(frame.event)) return;
      if (count !== undefined && printed >= count) return;
      out.line(out.json ? jsonLine(withoutType(frame)) : eventLine(frame, out, visible));
      if (++printed === count) done.resolve();
    };
    await listen(client, print);
    client.on('resumed', () => options.untilLive && done.resolve());
    client.on('snapshot-required', ({ reason, seq }) => {
      out.talk(`${snapshotText(reason, from)}; going on from position ${seq}`);
      if (options.untilLive) done.resolve();
    });
    client.onGap(({ at, action }) => action === 'lost' && out.talk(`Events after position ${at.seq} were lost`));
    client.onState((state) => {
      if (state.kind === 'waiting') out.talk(visible(`${state.error.message}; trying again in ${state.retryInMs} ms`));
      if (state.kind === 'closed' && state.error) done.reject(state.error);
    });
    // The client goes on by itself from here; `done` says when and how it ends.
    client.connect().catch(done.reject);
    io.interrupted().addEventListener('abort', () => done.resolve(), { once: true });
    await done.promise;
  },
});

/** Why nothing of the past is printed. What is kept of it is whole or not replayed at all. */
function snapshotText(reason: EventPayload<'snapshot-required'>['reason'], from: number | undefined): string {
  switch (reason) {
    case 'too-old':
      return `Not everything since position ${from ?? 'the last one'} is kept any more, so the past cannot be printed`;
    case 'epoch-changed':
      return 'The store was restored meanwhile, so the positions from before do not hold any more';
    case 'from-the-future':
      return `Position ${from ?? 'the last one'} has not been reached yet`;
  }
}

async function checkedNames(names: string[] | undefined): Promise<string[] | undefined> {
  if (names === undefined) return undefined;
  const { eventNames, isEventName } = await import('@tenon/protocol');
  // Those of plugins are in no table.
  const wrong = names.find((name) => !isEventName(name) && !/^plugin\./.test(name));
  if (wrong !== undefined) throw await unknownWord(`--only cannot be ${quoted(wrong)}: no such event`, wrong, eventNames);
  if (names.length === 0) throw usageError('--only is empty; it must be a list of events');
  return names;
}

/** `plugin.<id>.*` and `plugin.*` mean all that begin so. */
function isMeant(name: string, event: string): boolean {
  return name === event || (/^plugin\./.test(name) && name.endsWith('.*') && event.startsWith(name.slice(0, -1)));
}

async function listen(client: Client, print: (frame: EventFrame) => void): Promise<void> {
  const { eventNames } = await import('@tenon/protocol');
  for (const name of eventNames) client.on(name, (_payload, frame) => print(frame));
  // An event of a newer gateway is still an event.
  client.onUnknown((frame) => frame.type === 'event' && print(frame as EventFrame));
}

function eventLine(frame: EventFrame, out: Output, visible: (text: string) => string): string {
  const position = frame.seq === undefined ? '-' : `#${frame.seq}`;
  return `${out.style('dim', position.padEnd(8))} ${out.style('bold', visible(frame.event))} ${jsonLine(frame.payload ?? null)}`;
}

function withoutType({ type: _, ...frame }: EventFrame): object {
  return frame;
}
