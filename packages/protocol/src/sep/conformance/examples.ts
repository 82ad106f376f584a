// At least one example of the params and of the result of every method, as a writer would send them. The compiler holds them
// against the schemas' types; spec/sep carries them as fixtures, and the invalid fixtures are made from them.
import type { Context } from '../shapes.ts';
import type { SepParams, SepResult } from '../methods.ts';
import type { RenderBlock } from '../ui.ts';
import type { SepMethodName } from '../wire.ts';

export interface Examples<Method extends SepMethodName> {
  readonly params: readonly SepParams<Method>[];
  readonly result?: readonly SepResult<Method>[];
}

const command: Context = { token: 'c-1f0e', tier: 'command' };
const event: Context = { token: 'e-77aa', tier: 'event' };
const session = { session_key: 'agent:main:notes', agent_id: 'main' };
const client = { scopes: ['operator.read', 'operator.write'] } satisfies SepParams<'action/execute'>['client'];
const sessionEntry: SepParams<'patch_action/execute'>['entry'] = {
  key: session.session_key,
  session_id: 'ses_0123456789abcdef',
  agent_id: 'main',
  title: 'Notes',
  label: null,
  pinned: false,
  archived: false,
  model: null,
  thinking: null,
  permissions: null,
  queue: null,
  status: 'idle',
  revision: 3,
  slots: { score: 3 },
  created_at: 1_900_000_000_000,
  updated_at: 1_900_000_000_000,
};
const say = {
  name: 'say',
  description: 'Say a phrase back.',
  parameters: { type: 'object', properties: { phrase: { type: 'string' } }, required: ['phrase'] },
};

export const blocks: readonly RenderBlock[] = [
  { kind: 'markdown', text: '# Done' },
  { kind: 'keyvalue', title: 'Build', rows: [{ key: 'state', value: 'green' }], text: 'Build: green' },
  { kind: 'table', columns: ['file', 'lines'], rows: [['a.ts', '12']], text: 'a.ts 12' },
  { kind: 'diff', patch: '-old\n+new' },
  { kind: 'progress', value: 0.4, label: 'speed' },
  {
    kind: 'stack',
    children: [
      { kind: 'markdown', text: 'one' },
      { kind: 'progress', value: 1 },
    ],
  },
  {
    kind: 'widget',
    widget_id: 'board',
    body: { kind: 'markdown', text: 'score: 3' },
    keybindings: [{ key: 'ArrowUp', description: 'up' }, { key: 'q' }],
    text: 'score 3',
  },
];

export const examples: { readonly [Method in SepMethodName]: Examples<Method> } = {
  initialize: {
    params: [
      {
        protocol_version: 1,
        host: { name: 'tenon', version: '0.1.0' },
        workspace: { root: '/home/me/project', trusted: true },
        mode: 'headless',
      },
      {
        protocol_version: 1,
        host: { name: 'tenon', version: '0.1.0' },
        workspace: { root: '/home/me/project', trusted: true },
        mode: 'web',
        session: { id: 'session-1' },
        ui_capabilities: ['select', 'confirm', 'input', 'notify', 'set_status', 'set_widget', 'set_title'],
        flags: { loud: true },
        capabilities_enabled: { tools: true, exec: false, kv: true, actions: true },
      },
    ],
    result: [
      { protocol_version: 1, extension: { name: 'echo', version: '0.1.0' } },
      {
        protocol_version: 1,
        extension: { name: 'echo', version: '0.1.0' },
        registrations: {
          tools: [say, { ...say, name: 'whisper', deferred: true }],
          commands: [{ name: 'echo', description: 'Say it back.' }],
          flags: ['loud'],
          shortcuts: [{ key: 'ctrl+e', command: 'echo', description: 'Say it back' }],
          subscriptions: ['turn_start', 'bus/event'],
          providers: [
            {
              name: 'parrot',
              base_url: 'https://parrot.example/v1',
              api_key_env: 'PARROT_KEY',
              oauth: true,
              models: [{ id: 'parrot-1', display_name: 'Parrot 1' }, { id: 'parrot-2' }],
            },
          ],
          hooks: ['tool_call'],
          message_renderers: [{ tag: 'score', template: { kind: 'markdown', text: 'score: {{score}}' } }],
        },
      },
    ],
  },
  shutdown: { params: [{}], result: [{}] },
  ping: { params: [{}], result: [{}] },
  '$/cancel': { params: [{ id: 42 }, { id: 'q-1' }] },
  event: {
    params: [
      { event: 'turn_start', seq: 0, context: event, payload: { agent_id: 'main' } },
      { event: 'events_lost', context: event, payload: { lost: 12 } },
      { event: 'bus/event', seq: 7, context: event, payload: { from: 'clock', topic: 'tick', payload: { n: 1 } } },
      { event: 'widget/key', seq: 8, context: event, payload: { widget_id: 'board', key: 'ArrowUp' } },
    ],
  },
  hook: {
    params: [
      { hook: 'tool_call', context: command, input: { tool: 'exec', arguments: { command: 'rm -rf /' } } },
      { hook: 'tool_result', context: command, input: { tool: 'exec', arguments: {}, content: 'ok', is_error: false } },
      {
        hook: 'before_agent_finalize',
        context: command,
        input: { ...session, stop_hook_active: false, attempt_index: 0, made_tool_call: false, tool_calls: [] },
      },
    ],
    result: [
      { action: 'continue' },
      { action: 'block' },
      { action: 'block', reason: 'not on my watch' },
      { action: 'modify', patch: { tool: 'echo.say', arguments: { phrase: 'quietly' } } },
      { action: 'modify', patch: { action: 'revise', retry: { instruction: 'Run the tests.', max_attempts: 1 } } },
    ],
  },
  'tool/execute': {
    params: [{ call_id: 'call-1', tool: 'say', arguments: { phrase: 'hello' }, context: command }],
    result: [
      { content: 'hello' },
      { content: 'unknown tool: sing', is_error: true },
      { content: 'done', is_error: false, details: { files: ['a.ts'] } },
    ],
  },
  'command/execute': {
    params: [
      { command: 'echo', context: command, arguments: { args: 'hi there' } },
      { command: 'echo', context: command },
    ],
    result: [{ content: 'hi there' }, {}],
  },
  'command/complete': {
    params: [{ command: 'echo', context: command, partial: 'h' }],
    result: [{ completions: [{ value: 'hello', description: 'a greeting' }, { value: 'hi' }] }, { completions: [] }, {}],
  },
  'provider/complete': {
    params: [
      { request_id: 'r-1', provider: 'parrot', model: 'parrot-1', messages: [{ role: 'user', content: 'hello' }] },
      {
        request_id: 'r-2',
        provider: 'parrot',
        model: 'parrot-1',
        messages: [{ role: 'user', content: 'hello' }],
        tools: [{ name: 'say', description: 'Say it.', parameters: { type: 'object' } }],
        stream: true,
        response_format: { type: 'json_object' },
        thinking: 'high',
        context: command,
      },
    ],
    result: [
      {
        content: 'hello',
        finish_reason: 'stop',
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, cached_tokens: 0 },
        reasoning_content: 'They greet me.',
        resolved_model: 'parrot-1-2026',
      },
      { content: '', tool_calls: [{ id: 'c1', name: 'say', arguments: { phrase: 'x' } }], finish_reason: 'tool_calls' },
      {},
    ],
  },
  'provider/oauth_login': {
    params: [{ provider: 'parrot', context: command }],
    result: [{ access_token: 'at', refresh_token: 'rt', expires_at: 1_900_000_000, extra: { scope: 'all' } }, { api_key: 'k' }],
  },
  'provider/oauth_refresh': {
    params: [{ provider: 'parrot', refresh_token: 'rt', context: command }, { provider: 'parrot' }],
    result: [{ access_token: 'at-2' }],
  },
  'registry/update': {
    params: [
      {
        tools: [say],
        commands: [{ name: 'shout', description: 'Louder.' }],
        flags: [],
        subscriptions: ['turn_end'],
        providers: [{ name: 'parrot' }],
      },
    ],
    result: [{}],
  },
  'tools/set_active': { params: [{ tools: ['say', 'shout'] }], result: [{ active: ['say'] }] },
  'tool/update': { params: [{ call_id: 'call-1', message: 'half', progress: 0.5, details: { step: 1 } }, { call_id: 'call-1' }] },
  'session/send_message': {
    params: [
      { context: command, text: 'Done.', role: 'assistant' },
      { context: command, text: 'Done.' },
    ],
    result: [{}],
  },
  'session/send_user_message': { params: [{ context: command, text: 'Tests first.', deliver_as: 'steer' }], result: [{}] },
  'session/append_entry': { params: [{ context: command, entry: { tag: 'score', score: 3 } }], result: [{}] },
  'session/set_model': { params: [{ context: command, model: 'parrot-1', provider: 'parrot', thinking: 'low' }], result: [{}] },
  'session/state': { params: [{ context: command }], result: [{ state: { model: 'parrot-1' } }, {}] },
  'exec/run': {
    params: [{ command: 'ls', args: ['-la'], cwd: '/home/me/project', context: command }],
    result: [{ stdout: 'total 0\n', stderr: '', exit_code: 0 }],
  },
  'ui/request': {
    params: [
      { kind: 'select', prompt: 'Which branch?', options: ['main', 'dev'] },
      { kind: 'confirm', prompt: 'Delete it?' },
      { kind: 'input', prompt: 'Name?', default: 'main' },
      { kind: 'notify', message: 'Built.', level: 'warn' },
      { kind: 'set_status', status: 'indexing' },
      { kind: 'set_widget', widget: blocks[1] as unknown as Record<string, unknown> },
      { kind: 'set_title', title: 'three open' },
    ],
    result: [{ value: 'main' }, { confirmed: true }, { text: 'feature' }, { cancelled: true }, {}],
  },
  'kv/get': { params: [{ key: 'count' }], result: [{ value: 3 }, { value: null }] },
  'kv/set': { params: [{ key: 'count', value: { n: 4 } }], result: [{}] },
  'kv/delete': { params: [{ key: 'count' }], result: [{}] },
  'kv/list': { params: [{ prefix: 'co' }, {}], result: [{ keys: ['count'] }] },
  'kv/compare_and_set': {
    params: [{ key: 'count', expected: 3, value: 4 }],
    result: [
      { swapped: true, value: 4 },
      { swapped: false, value: 9 },
    ],
  },
  'bus/publish': { params: [{ topic: 'tick', payload: { n: 1 } }], result: [{}] },
  'provider/delta': {
    params: [
      { request_id: 'r-1', event: { type: 'Delta', content: 'hel' } as { type: string } },
      { request_id: 'r-1', event: { type: 'ToolCallStart', index: 0, id: 'c1', name: 'say' } as { type: string } },
    ],
  },
  log: {
    params: [
      { level: 'info', message: 'ready', fields: { pid: 1234 } },
      { level: 'error', message: 'oh' },
    ],
  },
  'action/execute': {
    params: [{ context: command, ...session, action: 'reset', payload: { hard: true }, run_id: 'run-1', client }],
    result: [
      {
        ok: true,
        result: { was: 3 },
        reply: 'Back to zero.',
        continue_agent: false,
        state_patch: { score: null },
        inject: [{ text: 'The score was reset.', ttl_ms: 60_000 }],
      },
      { ok: false, error: 'nothing to reset', code: 'EMPTY', details: { score: 0 } },
      {},
    ],
  },
  'patch_action/execute': {
    params: [{ context: command, ...session, action: 'rename', entry: sessionEntry, payload: { to: 'Tests' }, client }],
    result: [
      {
        ok: true,
        entry_patch: { title: 'Tests', pinned: true },
        state_patch: { score: { n: 0 } },
        inject: [{ text: 'It has a new name.' }],
      },
      { ok: false, error: 'it has that name already' },
    ],
  },
  'policy/decide': {
    params: [
      {
        context: event,
        ...session,
        policy: 'no-secrets',
        tool: 'exec',
        arguments: { command: 'cat .env' },
        call_id: 'call-1',
        run_id: 'run-1',
        risk: 'exec',
        workspace_dir: '/home/me/project',
        derived_paths: ['/home/me/project/.env'],
        command_words: ['cat', '.env'],
        hosts: [],
      },
    ],
    result: [
      { decision: 'allow' },
      { decision: 'deny', reason: '.env is secret' },
      { decision: 'ask', approval: { title: 'Read .env?', description: 'It may hold secrets.', severity: 'critical', timeout_ms: 60_000 } },
    ],
  },
  'interaction/press': {
    params: [{ context: command, ...session, channel: 'webchat', namespace: 'score', payload: 'reset', callback_id: 'press-1', client }],
    result: [{ text: 'Done.' }, {}],
  },
  'schedule/due': {
    params: [
      {
        ...{ context: command, ...session, handler: 'look', run_id: 'run-3', job_id: 'job_0123456789abcdef', name: 'Build', tag: 'build' },
        ...{ message: 'Look at the build.', due_at: 1_900_000_000_000 },
      },
    ],
    result: [{ handled: true, reply: 'All green.' }, { handled: false }],
  },
  'schedule/clean_up': {
    params: [
      { context: command, job: 'watch', reason: 'delete', session_key: session.session_key },
      { context: command, job: 'watch', reason: 'disable' },
    ],
    result: [{}],
  },
  'gateway_method/call': {
    params: [{ context: command, name: 'score.top', params: { most: 3 }, client }],
    result: [{ result: { scores: [3] } }, { result: null }],
  },
  'startup_check/run': {
    params: [{ context: event, check: 'disk' }],
    result: [
      { ok: true, message: 'There is room.' },
      { ok: false, message: 'The disk is full; remove something.' },
    ],
  },
  'state/get': {
    params: [{ context: event, namespace: 'score' }],
    result: [
      { value: { n: 3 }, revision: 2 },
      { value: null, revision: 0 },
    ],
  },
  'state/patch': {
    params: [{ session_key: session.session_key, namespace: 'score', value: { n: 4 }, if_revision: 2 }],
    result: [{ revision: 3 }],
  },
  'state/list': {
    params: [{ namespace: 'score' }],
    result: [{ sessions: [{ session_key: session.session_key, value: { n: 3 }, revision: 2 }] }],
  },
  'injection/enqueue': {
    params: [
      {
        context: command,
        text: 'The build is green.',
        placement: 'append_context',
        ttl_ms: 60_000,
        priority: 1,
        metadata: { build: 7 },
        idempotency_key: 'build-7',
      },
    ],
    result: [{ id: 'build-7', session_key: session.session_key }],
  },
  'turn/continue': { params: [{ context: command, force: true }], result: [{ run_id: 'run-2' }, {}] },
  'schedule/turn': {
    params: [
      {
        context: command,
        message: 'Look at the build.',
        delay_ms: 60_000,
        tag: 'build',
        name: 'Build',
        delete_after_run: true,
        delivery_mode: 'announce',
      },
      { session_key: session.session_key, message: 'Good morning.', cron: '0 8 * * 1-5', tz: 'Europe/Berlin' },
      { session_key: session.session_key, message: 'Happy new year.', at: '2031-01-01T00:00:00Z' },
    ],
    result: [{ id: 'job_0123456789abcdef', session_key: session.session_key, next_at: 1_900_000_000_000 }],
  },
  'schedule/remove': { params: [{ context: command, tag: 'build' }], result: [{ removed: 1 }] },
  'attachment/send': {
    params: [
      {
        context: command,
        files: [{ path: 'report.txt', name: 'Report.txt' }],
        text: 'The report.',
        presentation: {
          title: 'Report',
          tone: 'ok',
          blocks: [{ kind: 'markdown', text: 'All green.' }],
          buttons: [
            { id: 'again', label: 'Again', style: 'primary', action: { action_id: 'reset', payload: { hard: false } } },
            { id: 'stop', label: 'Stop', action: { data: 'score:stop' } },
          ],
        },
        max_bytes: 1_000_000,
        channel_hints: { force_document_mime: 'text/plain' },
        idempotency_key: 'report-7',
      },
    ],
    result: [
      { channel: 'webchat', delivered_to: 'webchat', count: 1, delivery_id: 'dlv_0123456789abcdef', entry_id: 'entry-12', state: 'sent' },
    ],
  },
  'attachment/update': {
    params: [
      { context: command, delivery_id: 'dlv_0123456789abcdef', text: 'The report, again.', presentation: null },
      {
        ...{ session_key: session.session_key, delivery_id: 'dlv_0123456789abcdef' },
        presentation: { title: 'Done', tone: 'ok', buttons: [] },
      },
    ],
    result: [{ delivery_id: 'dlv_0123456789abcdef', entry_id: 'entry-12', revision: 1, changed: true, edits: 'done' }],
  },
  'approval/request': {
    params: [
      {
        context: command,
        title: 'Deploy?',
        description: 'To production.',
        allowed_decisions: ['allow-once', 'deny'],
        timeout_ms: 60_000,
        idempotency_key: 'deploy-7',
      },
    ],
    result: [{ decision: 'allow-once', by: 'person' }],
  },
  'action_required/notify': {
    params: [
      { context: command, title: 'A review waits.', actions: [{ label: 'Reset', action_id: 'reset' }], idempotency_key: 'review-7' },
    ],
    result: [{ id: 'act_0123456789abcdef' }],
  },
  'action_required/withdraw': { params: [{ context: command, id: 'act_0123456789abcdef' }], result: [{ withdrawn: 1 }] },
  'stream/emit': {
    params: [
      { context: command, run_id: 'run-1', stream: 'echo.progress', data: { half: true } },
      { session_key: session.session_key, run_id: 'run-1', stream: 'echo', data: 'done' },
    ],
    result: [{}],
  },
  'gateway_event/emit': { params: [{ name: 'score', data: { n: 3 }, session_key: session.session_key }], result: [{}] },
};

/** Items of the registrations that are not in SEP; those that are stand in the answer to `initialize`. */
export const furtherRegistrations: SepResult<'initialize'>['registrations'] = {
  tool_facts: [{ name: 'say', label: 'Say', risk: 'read', tags: ['demo'], idempotent: true, parallel_safe: true }],
  state: [{ namespace: 'score', description: 'The score of a session.', session_entry_slot_key: 'score', project: '/n' }],
  actions: [
    {
      id: 'reset',
      description: 'Back to zero.',
      schema: { type: 'object', properties: { hard: { type: 'boolean' } } },
      required_scopes: ['operator.write'],
    },
  ],
  patch_actions: [{ action: 'rename', required_scopes: ['operator.write'] }],
  interactions: [{ channel: '*', namespace: 'score' }],
  descriptors: [
    {
      id: 'score-chip',
      label: 'Score',
      surface: 'session',
      active_when: { namespace: 'score', path: '/n' },
      view: [{ kind: 'key-value', from: { namespace: 'score' } }],
      actions: [
        {
          label: 'Reset',
          style: 'danger',
          action_id: 'reset',
          payload: { hard: true },
          when: { namespace: 'score', path: '/n', equals: 3 },
        },
      ],
      required_scopes: ['operator.write'],
    },
  ],
  policies: [{ id: 'no-secrets', description: 'Nobody reads .env files.', matcher: ['exec', 'read'] }],
  scheduled_turns: [{ id: 'look', description: 'Looks by itself.' }],
  scheduler_jobs: [{ id: 'watch', session_key: session.session_key, kind: 'watcher', description: 'Watches a build.' }],
  gateway_methods: [{ name: 'score.top', scope: 'operator.read' }],
  gateway_events: [{ name: 'score', description: 'The score has changed.', scope: 'operator.read' }],
  startup_checks: [{ id: 'disk', description: 'Whether there is room.' }],
};
