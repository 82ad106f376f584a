// How every extension behaves, whatever it is for.
import { PROTOCOL_VERSION } from '../wire.ts';
import { command, event, failure, notice, request, result, silence, type Exchange } from './exchange.ts';

const parties = { host: { name: 'conformance', version: '1.0.0' }, workspace: { root: '/', trusted: true }, mode: 'headless' };
const identity = { protocol_version: { $any: true }, extension: { name: { $match: '.' }, version: { $match: '.' } } } as const;

export const anyExchanges: readonly Exchange[] = [
  {
    name: 'initialize',
    summary: 'The first request is answered with the version, who it is and what it registers.',
    of: 'any',
    fresh: true,
    steps: [request(1, 'initialize', { protocol_version: PROTOCOL_VERSION, ...parties }), result(1, identity)],
  },
  {
    name: 'initialize-of-the-future',
    summary: 'A host of a later version says more than is known; the extension answers with what it speaks.',
    of: 'any',
    fresh: true,
    steps: [
      request(1, 'initialize', {
        ...{ protocol_version: 99, ...parties, mode: 'web', ui_capabilities: ['hologram'], flags: {} },
        ...{ capabilities_enabled: { tools: true, telepathy: true }, session: { id: 's', mood: 'good' }, from_the_future: { a: 1 } },
      }),
      result(1, identity),
    ],
  },
  { name: 'ping', summary: 'A ping is answered with an empty object.', of: 'any', steps: [request(2, 'ping'), result(2, {})] },
  {
    name: 'ids',
    summary: 'An answer has the id of its request, of the same type.',
    of: 'any',
    steps: [
      request('a', 'ping'),
      result('a', {}),
      request('7', 'ping'),
      result('7', {}),
      request(9007199254740991, 'ping'),
      result(9007199254740991, {}),
    ],
  },
  {
    name: 'unknown-method',
    summary: 'A request for a method that is not there is refused by its name.',
    of: 'any',
    steps: [request(3, 'no/such_method'), failure(3, -32601, 'method not found: no/such_method')],
  },
  {
    name: 'unknown-notification',
    summary: 'A notification that is not known is passed over.',
    of: 'any',
    steps: [notice('no/such_notice', { a: 1 }), { send: { jsonrpc: '2.0', id: null, method: 'no/such_notice' } }, ...silence(4)],
  },
  {
    name: 'odd-lines',
    summary: 'Lines that are no frames are passed over, or answered with an error without an id; the next request is answered as ever.',
    of: 'any',
    steps: [
      ...[
        '',
        'null',
        '5',
        '"text"',
        'true',
        '[]',
        '{',
        'no JSON at all',
        '{}',
        '{"jsonrpc":"2.0"}',
        '[{"jsonrpc":"2.0","id":9,"method":"ping"}]',
      ].map((line) => ({ line })),
      ...silence(5),
    ],
  },
  {
    name: 'late-answers',
    summary: 'Answers that nobody waits for are dropped.',
    of: 'any',
    steps: [
      { send: { jsonrpc: '2.0', id: 4711, result: {} } },
      { send: { jsonrpc: '2.0', id: 'never', error: { code: -32603, message: 'late' } } },
      ...silence(6),
    ],
  },
  {
    name: 'cancel-of-nothing',
    summary: 'To cancel what is not under way changes nothing.',
    of: 'any',
    steps: [notice('$/cancel', { id: 999_999 }), notice('$/cancel', { id: 'never' }), notice('$/cancel', {}), ...silence(7)],
  },
  {
    name: 'unknown-tool',
    summary: 'A tool that is not there is a result of the call, not an error of the protocol.',
    of: 'any',
    steps: [
      request(8, 'tool/execute', { call_id: 'c-8', tool: 'no_such_tool', arguments: {}, context: command }),
      result(8, { content: 'unknown tool: no_such_tool', is_error: true }),
    ],
  },
  {
    name: 'unknown-command',
    summary: 'A command that is not there is answered in words, and completed with nothing.',
    of: 'any',
    steps: [
      request(9, 'command/execute', { command: 'no_such_command', context: command, arguments: { args: '' } }),
      result(9, { content: 'unknown command: no_such_command' }),
      request(10, 'command/complete', { command: 'no_such_command', context: command, partial: 'x' }),
      result(10, { completions: [] }),
    ],
  },
  {
    name: 'events',
    summary: 'Events come without being answered, known or not, also when some were lost.',
    of: 'any',
    steps: [
      notice('event', { event: 'from_the_future', seq: 0, context: event, payload: { a: 1 } }),
      notice('event', { event: 'events_lost', context: event, payload: { lost: 3 } }),
      notice('event', { event: 'session_start', seq: 4, context: event, payload: { reason: 'reload' } }),
      ...silence(11),
    ],
  },
  {
    name: 'hook-without-handler',
    summary: 'A hook that the extension does not take part in goes on.',
    of: 'any',
    steps: [
      request(12, 'hook', { hook: 'session_before_tree', context: command, input: { target_id: null, old_leaf_id: null, more: 1 } }),
      result(12, { action: 'continue' }),
    ],
  },
  {
    name: 'several-at-once',
    summary: 'Requests are answered each by its id, in whatever order.',
    of: 'any',
    steps: [
      ...[20, 21, 22].map((id) =>
        request(id, 'tool/execute', { call_id: `c-${id}`, tool: 'no_such_tool', arguments: {}, context: command }),
      ),
      request(23, 'ping'),
      result(23, {}),
      ...[22, 20, 21].map((id) => result(id, { is_error: true })),
    ],
  },
  {
    name: 'shutdown',
    summary: 'It answers, and its process ends by itself.',
    of: 'any',
    fresh: true,
    steps: [
      request(1, 'initialize', { protocol_version: PROTOCOL_VERSION, ...parties }),
      result(1, identity),
      request(2, 'shutdown'),
      result(2, {}),
      { exit: 0 },
    ],
  },
  {
    name: 'end-of-input',
    summary: 'Without a host there is nothing to do: the process ends.',
    of: 'any',
    fresh: true,
    steps: [request(1, 'initialize', { protocol_version: PROTOCOL_VERSION, ...parties }), result(1, identity), { end: true }, { exit: 0 }],
  },
];
