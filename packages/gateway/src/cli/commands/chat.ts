import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Client } from '@tenon/client';
import type { Show } from '../chat/follow.ts';
import type { PluginsShown } from '../chat/plugin-view.ts';
import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { on, repeated, text } from '../values.ts';
import { chosenSession } from './chosen-session.ts';

/** Of last messages that are shown on entry. */
const SHOWN_MESSAGES = 20;
const CALL_MS = 60_000;

export const chat = defineCommand({
  path: 'chat',
  summary: 'Talk with an agent',
  examples: ['chat', 'chat --session notes', 'chat --attach report.pdf', 'chat --new --agent helper', 'echo "list files" | tenon chat'],
  options: {
    session: text('<key>', 'The session; without "agent:" it is one of the agent (default: main)'),
    agent: text('<id>', 'The agent (default: main)'),
    new: on('Begin a new session'),
    attach: repeated('<file>', 'A file that goes with the first message; may be given several times'),
    verbose: on('Show all output of tools'),
  },
  async run(context) {
    const { options, globals, io, out } = context;
    if (out.json) throw usageError('--json has no meaning for chat', 'for scripts there is: tenon run "…" --json');
    if (options.new && options.session !== undefined) throw usageError('--new and --session cannot be given together');
    if (globals.token === '-') throw usageError('--token cannot be read from stdin: what is read there are messages');
    const { agent: agentId, attach: files = [] } = options;
    const { checkFiles } = await import('../upload.ts');
    await checkFiles(files);
    await context.check('agent', { agentId }, { agentId: '--agent' });
    const key = await chosenSession({ session: options.session ?? 'main', agent: agentId });
    await context.check('chat.send', { sessionKey: key }, { sessionKey: '--session' });

    const { createConversation, followedEvents } = await import('../chat/conversation.ts');
    // Who reads a script answers nothing, and nobody waits for it.
    const isTerminal = io.stdin.isTTY === true && io.stdout.isTTY === true;
    const { createPeople, peopleEvents } = await import('../chat/people.ts');
    const client = await context.client({
      events: [...followedEvents, ...(isTerminal ? peopleEvents : [])],
      capabilities: isTerminal ? ['ui'] : [],
      reconnect: { minMs: 250, maxMs: 5_000 },
    });
    const lost = closing(client);
    await client.connect();
    const join_ = async (show: Show, onPlugins?: (shown: PluginsShown) => void) => {
      const sessionKey = options.new ? await newSession(client, agentId) : key!;
      const callMs = globals.timeout ?? CALL_MS;
      return createConversation({
        client,
        sessionKey,
        show,
        newId: () => crypto.randomUUID(),
        callMs,
        ...(onPlugins ? { onPlugins } : {}),
      });
    };

    if (!isTerminal) {
      const [{ chatThroughPipe, hearingEnds }, { createPlainScreen }, { createScriptShow }] = await Promise.all([
        import('../chat/piped.ts'),
        import('../chat/screen.ts'),
        import('../chat/script-show.ts'),
      ]);
      const answers = createPlainScreen({ write: (piece) => void io.stdout.write(piece), style: (_style, piece) => piece });
      const talk = (line: string) => out.talk(line);
      const show = hearingEnds(createScriptShow({ answers, talk, verbose: options.verbose, quiet: false, now: io.now }));
      const conversation = await join_(show);
      const known = await conversation.commands();
      await conversation.open(0);
      for (const file of files) talk(await conversation.attach(file));
      const stdin = io.stdin as unknown as Readable;
      return Promise.race([chatThroughPipe({ conversation, show, answers, talk, stdin, known, interrupted: io.interrupted() }), lost]);
    }

    const [{ chatOnTerminal }, { keepTypedLines, readTypedLines, TYPED_LINES_FILE }] = await Promise.all([
      import('../chat/terminal.ts'),
      import('../chat/typed-lines.ts'),
    ]);
    const file = join(await context.home(), TYPED_LINES_FILE);
    const { url } = await context.http();
    const ended = await chatOnTerminal({
      stdin: io.stdin as unknown as Readable,
      stdout: io.stdout as unknown as Writable,
      style: (style, piece) => out.style(style, piece),
      live: !globals.plain && io.env.TERM !== 'dumb',
      verbose: options.verbose,
      now: io.now,
      typedBefore: readTypedLines(file),
      banner: `${options.new ? 'a new session' : key} at ${url} · /help says what can be done, Ctrl-D leaves`,
      messages: SHOWN_MESSAGES,
      files,
      join: join_,
      people: (more) => createPeople({ client, newId: () => crypto.randomUUID(), ...more }),
      interrupted: () => io.interrupted(),
      lost,
    });
    const fault = keepTypedLines(file, ended.typed);
    if (fault !== undefined) out.talk(`What you typed could not be kept in ${file}: ${fault}`);
    if (ended.busy) out.talk('The turn goes on without this terminal; tenon chat shows how it ended');
    return ended.code;
  },
});

async function newSession(client: Client, agentId: string | undefined): Promise<string> {
  const params = { idempotencyKey: crypto.randomUUID(), ...(agentId === undefined ? {} : { agentId }) };
  return (await client.call('sessions.create', params)).session.key;
}

/** Rejects when the client will not connect again: its credential was withdrawn, or the gateway refuses it. */
function closing(client: Client): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  // Told to whoever waits for it, and nobody may.
  promise.catch(() => {});
  client.onState((state) => {
    if (state.kind === 'closed' && state.error && state.reason !== 'closed') reject(state.error);
  });
  return promise;
}
