// Everything that an extension can do under SEP, in plain JavaScript. What it does is of no use; how it does it is the point. The
// same extension in Python stands beside it, with all that is beyond SEP, and both pass the scripted exchanges of this specification.
import { complain, createPeer, RpcError } from './sep.mjs';

const object = (properties, required = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };

let flags = {};
const learned = new Set();

// Tools: name → what the agent is told of it, and what it does. A returned string is the content of the result.
const tools = {
  say: {
    description: 'Say a phrase back.',
    parameters: object({ phrase: text }, ['phrase']),
    execute({ phrase }) {
      if (typeof phrase !== 'string') throw new Error('phrase must be text');
      return flags.loud ? phrase.toUpperCase() : phrase;
    },
  },
  count: {
    description: 'Count, and say how far it is.',
    parameters: object({ to: { type: 'integer', minimum: 1, maximum: 100 } }, ['to']),
    execute({ to }, { update }) {
      const numbers = [];
      for (let n = 1; n <= to; n++) {
        numbers.push(n);
        update({ message: String(n), progress: n / to });
      }
      return { content: `counted to ${to}`, details: { numbers } };
    },
  },
  wait: {
    description: 'Wait until somebody cancels it.',
    parameters: object({}),
    execute(_, { update, signal }) {
      update({ message: 'waiting' });
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    },
  },
  ask: {
    description: 'Ask a person.',
    parameters: object({ prompt: text }, ['prompt']),
    async execute({ prompt }) {
      try {
        const { confirmed, cancelled } = await ui({ kind: 'confirm', prompt });
        return cancelled ? 'nobody answered' : confirmed ? 'yes' : 'no';
      } catch (error) {
        if (error.code === -32001) throw new Error('there is nobody to ask');
        throw error;
      }
    },
  },
  remember: {
    description: 'Remember a value, or forget it.',
    parameters: object({ key: text, value: text }, ['key']),
    async execute({ key, value }) {
      const { value: before } = await host.call('kv/get', { key });
      if (value === undefined) await host.call('kv/delete', { key });
      else await host.call('kv/set', { key, value });
      const { keys } = await host.call('kv/list', { prefix: '' });
      const now = value === undefined ? 'forgotten' : value;
      return `${key} was ${before ?? 'nothing'}, is ${now}; ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`;
    },
  },
  run: {
    description: 'Run a program through the host.',
    parameters: object({ command: text, args: { type: 'array', items: text } }, ['command']),
    async execute({ command, args }, { context }) {
      const { stdout } = await host.call('exec/run', { command, ...(args ? { args } : {}), context });
      return stdout.trim();
    },
  },
};

// Commands: name → what people are told of it, what it does, and what may follow it.
const words = ['hello', 'help', 'hi'];
const commands = {
  'js-echo': {
    description: 'Say it back.',
    execute: ({ args }) => args,
    complete: (partial) => words.filter((word) => word.startsWith(partial)).map((value) => ({ value })),
  },
  'js-talk': {
    description: 'Write into the session.',
    async execute(_, context) {
      await host.call('session/send_message', { context, text: 'A word from the reference.', role: 'assistant' });
      await host.call('session/send_user_message', { context, text: 'What was that?', deliver_as: 'follow_up' });
      await host.call('session/append_entry', { context, entry: { tag: 'note', title: 'Said' } });
      await host.call('session/set_model', { context, model: 'parrot-1', provider: 'parrot' });
      const { state } = await host.call('session/state', { context });
      return `talking to ${state?.model}`;
    },
  },
  'js-show': {
    description: 'Show everything that can be shown.',
    async execute() {
      await ui({ kind: 'notify', message: 'Watch this.', level: 'info' });
      await ui({ kind: 'set_status', status: 'showing' });
      await ui({ kind: 'set_title', title: 'Reference' });
      const { value } = await ui({ kind: 'select', prompt: 'Which block?', options: ['table', 'progress'] });
      const { text: label = 'Done' } = await ui({ kind: 'input', prompt: 'Which label?', default: 'Done' });
      const block =
        value === 'progress'
          ? { kind: 'progress', value: 0.5, label, text: `${label}: 50%` }
          : { kind: 'table', columns: ['label'], rows: [[label]], text: label };
      await ui({ kind: 'set_widget', widget: block });
      return block.text;
    },
  },
  'js-learn': {
    description: 'Learn a tool, and use only that one and say.',
    async execute({ args: name }) {
      if (name === '') return 'learn what?';
      learned.add(name);
      host.notify('registry/update', { tools: [{ name, description: `Says ${name}.`, parameters: object({}) }] });
      const { active } = await host.call('tools/set_active', { tools: ['say', name] });
      return `active: ${active.join(', ')}`;
    },
  },
};

const listOf = (rows) =>
  Object.entries(rows).map(([name, { description, parameters }]) => ({ name, description, ...(parameters && { parameters }) }));

const requests = {
  initialize(params) {
    flags = params.flags ?? {};
    return {
      protocol_version: 1,
      extension: { name: 'reference-js', version: '1.0.0' },
      registrations: {
        tools: listOf(tools),
        commands: listOf(commands),
        flags: ['loud'],
        shortcuts: [{ key: 'ctrl+e', command: 'js-echo' }],
        subscriptions: ['turn_end', 'bus/event'],
        providers: [{ name: 'parrot', oauth: true, models: [{ id: 'parrot-1', display_name: 'Parrot 1' }] }],
        hooks: ['tool_call', 'tool_result'],
        message_renderers: [{ tag: 'note', template: { kind: 'markdown', text: '**{{title}}**' } }],
      },
    };
  },

  ping: () => ({}),

  shutdown() {
    // The answer leaves first.
    setImmediate(() => process.stdout.write('', () => process.exit(0)));
    return {};
  },

  async 'tool/execute'({ call_id, tool, arguments: args, context }, signal) {
    if (learned.has(tool)) return { content: tool };
    // What is not there is a result, so that the model can read it.
    if (!Object.hasOwn(tools, tool)) return { content: `unknown tool: ${tool}`, is_error: true };
    try {
      const update = (fields) => host.notify('tool/update', { call_id, ...fields });
      const result = await tools[tool].execute(args ?? {}, { context, signal, update });
      return typeof result === 'string' ? { content: result } : result;
    } catch (error) {
      if (signal.aborted) throw error;
      return { content: error.message, is_error: true };
    }
  },

  async 'command/execute'({ command, arguments: args, context }) {
    if (!Object.hasOwn(commands, command)) return { content: `unknown command: ${command}` };
    try {
      return { content: await commands[command].execute({ args: '', ...args }, context) };
    } catch (error) {
      return { content: `failed: ${error.message}` };
    }
  },

  'command/complete'({ command, partial = '' }) {
    const complete = Object.hasOwn(commands, command) ? commands[command].complete : undefined;
    return { completions: complete ? complete(partial) : [] };
  },

  hook({ hook, input }) {
    if (hook === 'tool_call' && /rm -rf/.test(input.arguments?.command ?? '')) {
      return { action: 'block', reason: 'rm -rf is not for agents' };
    }
    if (hook === 'tool_result' && /hunter2/.test(input.content ?? '')) {
      // The patch replaces the whole value.
      return { action: 'modify', patch: { ...input, content: input.content.replaceAll('hunter2', '[redacted]') } };
    }
    return { action: 'continue' };
  },

  async 'provider/complete'({ request_id, model, messages, stream }, signal) {
    const said = messages.filter(({ role }) => role === 'user').at(-1)?.content ?? '';
    const pieces = said.match(/\s*\S+/g) ?? [];
    for (const content of stream ? pieces : []) {
      if (signal.aborted) throw new Error('cancelled');
      host.notify('provider/delta', { request_id, event: { type: 'Delta', content } });
    }
    const n = pieces.length;
    const usage = { prompt_tokens: n, completion_tokens: n, total_tokens: 2 * n };
    return { content: said, finish_reason: 'stop', usage, resolved_model: model };
  },

  async 'provider/oauth_login'() {
    const { text: code } = await ui({ kind: 'input', prompt: 'The code of the parrot?' });
    if (code === undefined) throw new RpcError(-32000, 'nobody signed in');
    return { access_token: `token-of-${code}`, refresh_token: `again-${code}` };
  },
  'provider/oauth_refresh': ({ refresh_token }) => ({ access_token: `token-of-${refresh_token}` }),
};

const notifications = {
  async event({ event, payload = {} }) {
    if (event === 'bus/event') host.notify('log', { level: 'info', message: `${payload.from} says ${payload.topic}` });
    if (event === 'turn_end') {
      // A host without a bus refuses it, and life goes on.
      await host.call('bus/publish', { topic: 'reference.turn', payload: { iterations: payload.iterations ?? 0 } }).catch(complain);
    }
  },
};

const host = createPeer({ input: process.stdin, output: process.stdout, requests, notifications });

function ui(params) {
  return host.call('ui/request', params);
}
