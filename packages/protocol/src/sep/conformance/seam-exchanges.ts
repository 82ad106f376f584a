// What the reference extensions do beyond SEP, with a host that has enabled it.
import type { SepGroup } from '../wire.ts';
import { examples } from './examples.ts';
import { answer, asked, command, commandsNamed, event, named, refusal, request, result, silence, told, type Exchange } from './exchange.ts';

const groups: readonly SepGroup[] = [
  ...(['tool_facts', 'state', 'actions', 'injections', 'turns', 'schedules'] as const),
  ...(['attachments', 'interactions', 'descriptors', 'policies', 'approvals', 'notices'] as const),
  ...(['streams', 'gateway_methods', 'startup_checks'] as const),
];
const session = { session_key: 'agent:main:notes', agent_id: 'main' };
const client = { scopes: ['operator.write'] };
const { entry } = examples['patch_action/execute'].params[0]!;
const act = (id: number, action: string, payload?: unknown) =>
  request(id, 'action/execute', { context: command, ...session, action, client, ...(payload === undefined ? {} : { payload }) });
const judge = (id: number, tool: string, args: object, paths: readonly string[] = []) =>
  request(id, 'policy/decide', {
    ...{ context: event, ...session, policy: 'no-secrets', tool, arguments: args, call_id: 'c', run_id: 'r' },
    ...{ risk: 'read', workspace_dir: '/work', derived_paths: paths },
  });
const due = (id: number, message: string) =>
  request(id, 'schedule/due', {
    ...{ context: command, ...session, handler: 'look', run_id: 'r', job_id: 'job_0123456789abcdef', name: 'later' },
    ...{ message, due_at: 1_900_000_000_000 },
  });
const finish = (id: number, said: string) =>
  request(id, 'hook', {
    ...{ hook: 'before_agent_finalize', context: command },
    input: { ...session, stop_hook_active: false, attempt_index: 0, last_assistant_message: said, made_tool_call: false, tool_calls: [] },
  });
const of = 'reference';

export const seamExchanges: readonly Exchange[] = [
  {
    name: 'seam-registrations',
    summary: 'With the groups enabled it registers more.',
    of,
    fresh: true,
    groups,
    steps: [
      request(1, 'initialize', {
        ...{ protocol_version: 1, host: { name: 'tenon', version: '0.1.0' }, workspace: { root: '/', trusted: true }, mode: 'web' },
        capabilities_enabled: Object.fromEntries(groups.map((group) => [group, true])),
      }),
      result(1, {
        registrations: {
          commands: commandsNamed('echo', 'talk', 'show', 'learn', 'seams', 'later'),
          subscriptions: ['turn_end', 'bus/event', 'cron_changed'],
          hooks: ['tool_call', 'tool_result', 'before_agent_finalize'],
          tool_facts: [{ name: 'say', risk: 'read' }],
          state: [{ namespace: 'score', project: '' }],
          actions: [{ id: 'add' }, { id: 'reset' }],
          patch_actions: [{ action: 'shout' }],
          interactions: [{ channel: '*', namespace: 'score' }],
          descriptors: [{ id: 'score', surface: 'session' }],
          policies: [{ id: 'no-secrets' }],
          scheduled_turns: [{ id: 'look' }],
          scheduler_jobs: [{ id: 'watch', session_key: 'agent:main:main', kind: 'watcher' }],
          gateway_methods: [{ name: 'scores', scope: 'operator.read' }],
          gateway_events: [{ name: 'score', scope: 'operator.read' }],
          startup_checks: [{ id: 'ready' }],
        },
      }),
    ],
  },
  {
    name: 'seam-action',
    summary: 'An action reads its state in the session and changes it, if nobody else was faster.',
    of,
    groups,
    steps: [
      act(70, 'add', { by: 2 }),
      asked('get', 'state/get', { context: command, namespace: 'score' }),
      answer('get', { value: { n: 3 }, revision: 7 }),
      asked('patch', 'state/patch', { context: command, namespace: 'score', value: { n: 5 }, if_revision: 7 }),
      answer('patch', { revision: 8 }),
      asked('tell', 'gateway_event/emit', { name: 'score', data: { n: 5 } }),
      answer('tell', {}),
      result(70, { ok: true, result: { n: 5 } }),
      act(71, 'add', { by: 1 }),
      asked('get-again', 'state/get', { namespace: 'score' }),
      answer('get-again', { value: null, revision: 0 }),
      asked('patch-again', 'state/patch', { value: { n: 1 }, if_revision: 0 }),
      refusal('patch-again', -32005, 'somebody was faster'),
      result(71, { ok: false, error: 'somebody was faster' }),
    ],
  },
  {
    name: 'seam-action-effects',
    summary: 'What an action answers is committed with the answer: state, what the agent is told, a reply.',
    of,
    groups,
    steps: [
      act(72, 'reset'),
      result(72, { ok: true, reply: 'Back to zero.', state_patch: { score: null }, inject: [{ text: 'The score was reset.' }] }),
      act(73, 'no_such_action'),
      result(73, { ok: false, error: 'unknown action: no_such_action' }),
    ],
  },
  {
    name: 'seam-patch-action',
    summary: 'An action that goes with a change of a session says what else is to be changed.',
    of,
    groups,
    steps: [
      request(84, 'patch_action/execute', { context: command, ...session, action: 'shout', entry, client }),
      result(84, { ok: true, entry_patch: { title: 'NOTES' } }),
      request(85, 'patch_action/execute', { context: command, ...session, action: 'no_such_action', entry, client }),
      result(85, { ok: false, error: 'unknown action: no_such_action' }),
    ],
  },
  {
    name: 'seam-policy',
    summary: 'A policy lets a call pass, denies it, or has a person asked.',
    of,
    groups,
    steps: [
      judge(74, 'read', { path: 'README.md' }, ['/srv/project/README.md']),
      result(74, { decision: 'allow' }),
      judge(75, 'read', { path: '.env' }, ['/srv/project/.env']),
      result(75, { decision: 'deny', reason: '.env files are secret' }),
      judge(76, 'exec', { command: 'git push' }),
      result(76, { decision: 'ask', approval: { title: 'Push?', description: { $any: true } } }),
    ],
  },
  {
    name: 'seam-button',
    summary: 'A button of a message is pressed.',
    of,
    groups,
    steps: [
      request(77, 'interaction/press', { context: command, ...session, channel: 'webchat', namespace: 'score', payload: 'add', client }),
      asked('get', 'state/get', { context: command, namespace: 'score' }),
      answer('get', { value: { n: 1 }, revision: 1 }),
      asked('patch', 'state/patch', { context: command, value: { n: 2 }, if_revision: 1 }),
      answer('patch', { revision: 2 }),
      asked('tell', 'gateway_event/emit', { name: 'score', data: { n: 2 } }),
      answer('tell', {}),
      result(77, { text: 'The score is 2.' }),
    ],
  },
  {
    name: 'seam-workflow',
    summary: 'A command tells the agent, lets it go on, schedules, sends, asks and calls for people.',
    of,
    groups,
    steps: [
      request(78, 'command/execute', { command: named('seams'), context: command, arguments: { args: '' } }),
      asked('inject', 'injection/enqueue', { context: command, text: 'The reference says hello.', idempotency_key: 'hello' }),
      answer('inject', { id: 'hello', session_key: session.session_key }),
      asked('turn', 'turn/continue', { context: command }),
      answer('turn', { run_id: 'run-2' }),
      asked('later', 'schedule/turn', { context: command, message: 'Look again.', delay_ms: 60_000, tag: 'reference' }),
      answer('later', { id: 'job_0123456789abcdef', session_key: session.session_key, next_at: 1_900_000_000_000 }),
      asked('never', 'schedule/remove', { context: command, tag: 'reference' }),
      answer('never', { removed: 1 }),
      asked('send', 'attachment/send', {
        ...{ context: command, text: 'A greeting.' },
        presentation: { title: 'Hello', buttons: [{ id: 'add', label: 'Add one', action: { data: 'score:add' } }] },
      }),
      answer('send', {
        ...{ channel: 'webchat', delivered_to: 'webchat', count: 0, delivery_id: 'dlv_0123456789abcdef' },
        ...{ entry_id: 'entry-1', state: 'sent' },
      }),
      asked('change', 'attachment/update', { context: command, delivery_id: 'dlv_0123456789abcdef', text: 'A greeting, again.' }),
      answer('change', { delivery_id: 'dlv_0123456789abcdef', entry_id: 'entry-1', revision: 1, changed: true, edits: 'done' }),
      asked('approve', 'approval/request', { context: command, title: 'Go on?', description: 'The reference asks.' }),
      answer('approve', { decision: 'allow-once', by: 'person' }),
      asked('call', 'action_required/notify', {
        context: command,
        title: 'Somebody is needed.',
        actions: [{ label: 'Reset', action_id: 'reset' }],
      }),
      answer('call', { id: 'act_0123456789abcdef' }),
      asked('back', 'action_required/withdraw', { context: command, id: 'act_0123456789abcdef' }),
      answer('back', { withdrawn: 1 }),
      asked('list', 'state/list', { namespace: 'score' }),
      answer('list', { sessions: [{ session_key: session.session_key, value: { n: 2 }, revision: 2 }] }),
      asked('swap', 'kv/compare_and_set', { key: 'seams', expected: null, value: 1 }),
      answer('swap', { swapped: true, value: 1 }),
      result(78, { content: 'allow-once by person; 1 session; first time' }),
    ],
  },
  {
    name: 'seam-schedule',
    summary: 'A turn that it has scheduled is dealt with when it is due, or left to the agent; what it runs elsewhere ends when it must.',
    of,
    groups,
    steps: [
      request(90, 'command/execute', { command: named('later'), context: command, arguments: { args: 'Look again.' } }),
      asked('later', 'schedule/turn', { context: command, message: 'Look again.', delay_ms: 1 }),
      answer('later', { id: 'job_0123456789abcdef', session_key: session.session_key, next_at: 1_900_000_000_000 }),
      result(90, { content: 'later: Look again.' }),
      due(91, 'Look again.'),
      asked('say', 'stream/emit', { context: command, run_id: 'r', data: { looked: true } }),
      answer('say', {}),
      result(91, { handled: true, reply: 'Looked, and all is well.' }),
      due(92, 'Write a poem.'),
      result(92, { handled: false }),
      request(93, 'schedule/clean_up', { context: command, job: 'watch', reason: 'delete', session_key: 'agent:main:main' }),
      told('log', { level: 'info', message: 'watch ends: delete' }),
      result(93, {}),
      {
        send: { jsonrpc: '2.0', method: 'event', params: { event: 'cron_changed', seq: 3, context: event, payload: { action: 'added' } } },
      },
      ...silence(94),
      told('log', { level: 'info', message: 'a job was added' }),
    ],
  },
  {
    name: 'seam-finish',
    summary: 'A turn that would end is sent back, once.',
    of,
    groups,
    steps: [
      finish(95, 'It may rain.'),
      result(95, { action: 'modify', patch: { action: 'revise', retry: { instruction: 'Say it for sure.', max_attempts: 1 } } }),
      finish(96, 'It rains.'),
      result(96, { action: 'continue' }),
    ],
  },
  {
    name: 'seam-gateway',
    summary: 'A client calls a method of its own, and somebody asks whether all is well.',
    of,
    groups,
    steps: [
      request(97, 'gateway_method/call', { context: command, name: 'scores', params: {}, client }),
      asked('list', 'state/list', { namespace: 'score' }),
      answer('list', { sessions: [{ session_key: session.session_key, value: { n: 2 }, revision: 2 }] }),
      result(97, { result: { [session.session_key]: 2 } }),
      request(98, 'startup_check/run', { context: event, check: 'ready' }),
      result(98, { ok: true, message: { $any: true } }),
    ],
  },
  {
    name: 'seam-refused',
    summary: 'What the operator has not granted is said, and the rest goes on.',
    of,
    groups,
    steps: [
      request(79, 'command/execute', { command: named('seams'), context: command, arguments: { args: '' } }),
      asked('inject', 'injection/enqueue', { context: command }),
      refusal('inject', -32004, "capability 'injections' is disabled"),
      result(79, { content: "failed: capability 'injections' is disabled" }),
    ],
  },
];
