// What a flood of an extension costs a real gateway: its memory before, and the most that it has while the flood lasts and after it
// was cut off. For `npm run chaos`: memory of a process is no question for a test.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openConversation, SESSION } from './conversation.ts';
import { putExtension } from './extension-home.ts';
import { temporaryHome } from './gateway.ts';
import { removeHome } from './extensions.ts';

/** In megabytes. Requests to keep values are carried out, in the thread of the store too, which has a heap of its own. */
export const floodBounds: Readonly<Partial<Record<(typeof floodKinds)[number], number>>> = { request: 80 };
export const FLOOD_BOUND = 20;

export const floodKinds = ['log', 'update', 'request', 'garbage', 'half', 'stderr'] as const;

/** Longer than it takes until it is ended, and started again. */
const WATCH_MS = 22_000;

/** In megabytes. */
export async function floodOnce(kind: (typeof floodKinds)[number]): Promise<{ before: number; most: number }> {
  const home = temporaryHome();
  try {
    putExtension(home, 'flood', { fixture: 'flood.mjs', capabilities: 'commands = true\nkv = true' });
    await using talk = await openConversation({ home });
    await talk.ask('sessions.create', { key: SESSION });
    await talk.ask('plugins.enable', { id: 'flood' });
    const { pid } = talk.gateway;
    const size = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
    // What a gateway has used only to start is given back first. Then some work, as every gateway has done that was in use.
    await pause(3_000);
    for (let round = 0; round < 100; round++) await Promise.all(Array.from({ length: 10 }, () => talk.ask('sessions.list', {})));
    const before = size();
    await talk.ask('commands.invoke', { sessionKey: SESSION, text: `/flood ${kind}` });
    let most = before;
    for (const end = performance.now() + WATCH_MS; performance.now() < end; await pause(100)) most = Math.max(most, size());
    return { before, most };
  } finally {
    removeHome(home);
  }
}
