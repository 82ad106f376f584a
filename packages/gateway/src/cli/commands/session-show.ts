import type { Session } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import type { Output } from '../output.ts';
import { renderPairs } from '../table.ts';
import { required } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionShow = defineCommand({
  path: 'session show',
  summary: 'Show one session',
  examples: ['session show notes', 'session show agent:main:notes --json'],
  args: { key: required('Its key; without "agent:" it is one of the agent main') },
  async run({ args, out, io, call }) {
    const result = await call('sessions.get', { key: await sessionKey(args.key) }, { key: '<key>' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => sessionLines(result.session, out, visible, io.now()));
  },
});

export function sessionLines(session: Session, out: Output, visible: (text: string) => string, now: number): string[] {
  const pairs: [string, string][] = [
    ['key', visible(session.key)],
    ['title', visible(session.title)],
    ['label', visible(session.label ?? '-')],
    ['agent', visible(session.agentId)],
    ['status', session.status],
    ['model', visible(session.model ?? '-')],
    ['thinking', session.thinking ?? '-'],
    ['permissions', session.permissions ?? '-'],
    ['queue', session.queue ?? '-'],
    ...(session.forkedFrom === undefined ? [] : [['forked from', visible(session.forkedFrom)] as [string, string]]),
    ['pinned', session.pinned ? 'yes' : 'no'],
    ['archived', session.archived ? 'yes' : 'no'],
    ['revision', String(session.revision)],
    ['created', relative(session.createdAt, now)],
    ['changed', relative(session.updatedAt, now)],
    ['session id', visible(session.sessionId)],
  ];
  return renderPairs(pairs, (name) => out.style('dim', name));
}
