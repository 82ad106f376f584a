// Puts the message together from what a model streams, and holds it within bounds: a model may be broken or hostile,
// and what it sends is kept forever. What it hands back of each piece is fit to be shown, stored and sent on.
import { redact } from '../kernel/redact.ts';
import { parseJson, type AssistantMessage, type JsonObject, type ModelConfig, type ToolCallBlock, type Usage } from '@tenon/protocol';

export const messageBounds = {
  /** Bytes of text and thinking together, with what the provider wants back. */
  textBytes: 4 * 1024 * 1024,
  calls: 128,
  /** Blocks of any kind. */
  blocks: 4_096,
  /** Bytes of the arguments of one call. */
  argumentBytes: 1024 * 1024,
} as const;

/** What is kept of arguments that cannot be used. */
const MALFORMED_LENGTH = 4_096;
const MAX_NAME_LENGTH = 256;
const MAX_ID_LENGTH = 200;

export interface MessageBuilder {
  /** Each gives the text to pass on, which may be empty. `part` tells blocks apart that are written at the same time. */
  text(part: string, delta: string): string;
  thinking(part: string, delta: string): string;
  /** What the provider wants back with a thought; it may come in pieces. */
  signThinking(part: string, signature: Readonly<Record<string, unknown>>): void;
  endPart(part: string): void;
  /** The id is the one of the message: unlike any other in it. */
  beginCall(providerId: string, name: string): { callId: string; name: string };
  callDelta(providerId: string, delta: string): void;
  /** The whole call; for one that was not begun, `begun` is what `beginCall` would have given. */
  endCall(
    providerId: string,
    name: string,
    input: string,
    signature?: Readonly<Record<string, unknown>>,
  ): { begun?: { callId: string; name: string } };
  /** Why the message is too large, once it is. Nothing is added any more then. */
  readonly excess: string | undefined;
  readonly hasCalls: boolean;
  build(end: Pick<AssistantMessage, 'stopReason' | 'usage' | 'timestamp'>): AssistantMessage;
  /** What arrived of a message that failed; without calls, because none of them will be answered. */
  partial(end: Pick<AssistantMessage, 'stopReason' | 'errorMessage' | 'timestamp'>): AssistantMessage | undefined;
}

interface Written {
  readonly kind: 'text' | 'thinking';
  text: string;
  readonly signature: Map<string, unknown>;
  /** Half of a character, or what may be the beginning of a secret, until the rest comes. */
  held: string;
}

interface Call {
  readonly kind: 'call';
  readonly providerId: string;
  readonly callId: string;
  readonly name: string;
  bytes: number;
  input: string | undefined;
  readonly signature: Map<string, unknown>;
}

/** `secrets`: values that are taken out wherever the model says them. */
export function createMessageBuilder(provider: string, model: string, secrets: () => readonly string[] = () => []): MessageBuilder {
  const blocks: (Written | Call)[] = [];
  const open = new Map<string, Written>();
  const ids = new Set<string>();
  let textBytes = 0;
  let calls = 0;
  let excess: string | undefined;

  function write(kind: Written['kind'], part: string, delta: string): string {
    if (excess !== undefined || delta === '') return '';
    const block = blockOf(kind, part);
    const { clean: whole, held } = tidy(block.held + delta);
    const known = secrets();
    const clean = redact(whole, known);
    const begun = known.length === 0 ? 0 : beginOfSecret(clean, known);
    block.held = clean.slice(clean.length - begun) + held;
    return add(block, clean.slice(0, clean.length - begun));
  }

  function add(block: Written, clean: string): string {
    if (!fits(clean)) return '';
    block.text += clean;
    return clean;
  }

  function fits(text: string): boolean {
    textBytes += Buffer.byteLength(text);
    if (textBytes > messageBounds.textBytes) excess = `its text is longer than ${messageBounds.textBytes} bytes`;
    return excess === undefined;
  }

  function sign(kept: Map<string, unknown>, signature: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(signature)) {
      if (value === null || value === undefined || kept.get(key) === value) continue;
      if (fits(key) && fits(JSON.stringify(value))) kept.set(key, value);
    }
  }

  function blockOf(kind: Written['kind'], part: string): Written {
    const known = open.get(part);
    if (known?.kind === kind) return known;
    const block: Written = { kind, text: '', signature: new Map(), held: '' };
    if (blocks.length >= messageBounds.blocks) excess ??= `it has more than ${messageBounds.blocks} parts`;
    else blocks.push(block);
    open.set(part, block);
    return block;
  }

  function beginCall(providerId: string, name: string): { callId: string; name: string } {
    if (++calls > messageBounds.calls) excess ??= `it makes more than ${messageBounds.calls} tool calls`;
    const call: Call = {
      kind: 'call',
      providerId,
      callId: freshId(providerId),
      name: tidy(name).clean.slice(0, MAX_NAME_LENGTH).toWellFormed() || 'unnamed',
      bytes: 0,
      input: undefined,
      signature: new Map(),
    };
    if (excess === undefined) blocks.push(call);
    return { callId: call.callId, name: call.name };
  }

  function freshId(providerId: string): string {
    const base = tidy(providerId).clean.slice(0, MAX_ID_LENGTH).toWellFormed() || `call_${calls}`;
    let id = base;
    for (let further = 2; ids.has(id); further++) id = `${base}_${further}`;
    ids.add(id);
    return id;
  }

  function unfinished(providerId: string): Call | undefined {
    return blocks.findLast((block): block is Call => block.kind === 'call' && block.providerId === providerId && block.input === undefined);
  }

  function countArguments(call: Call, bytes: number): void {
    call.bytes = bytes;
    if (bytes > messageBounds.argumentBytes)
      excess ??= `the arguments of "${call.name}" are longer than ${messageBounds.argumentBytes} bytes`;
  }

  return {
    text: (part, delta) => write('text', `text ${part}`, delta),
    thinking: (part, delta) => write('thinking', `thinking ${part}`, delta),
    signThinking(part, signature) {
      if (excess === undefined) sign(blockOf('thinking', `thinking ${part}`).signature, signature);
    },
    endPart(part) {
      for (const name of [`text ${part}`, `thinking ${part}`]) {
        const block = open.get(name);
        if (block) add(block, block.held.toWellFormed());
        open.delete(name);
      }
    },
    beginCall,
    callDelta(providerId, delta) {
      const call = unfinished(providerId);
      if (call) countArguments(call, call.bytes + Buffer.byteLength(delta));
    },
    endCall(providerId, name, input, signature) {
      const begun = unfinished(providerId) ? undefined : beginCall(providerId, name);
      const call = unfinished(providerId);
      if (call) {
        countArguments(call, Buffer.byteLength(input));
        if (excess === undefined) call.input = input;
        if (signature) sign(call.signature, signature);
      }
      return begun ? { begun } : {};
    },
    get excess() {
      return excess;
    },
    get hasCalls() {
      return blocks.some((block) => block.kind === 'call');
    },
    build: (end) => ({ role: 'assistant', content: blocks.flatMap((block) => contentOf(block, secrets())), provider, model, ...end }),
    partial(end) {
      const content = blocks.filter((block) => block.kind !== 'call').flatMap((block) => contentOf(block, secrets()));
      return content.length === 0 ? undefined : { role: 'assistant', content, provider, model, usage: noUsage, ...end };
    },
  };
}

type Content = AssistantMessage['content'];

function contentOf(block: Written | Call, secrets: readonly string[]): Content {
  if (block.kind === 'call') return [callBlock({ ...block, input: redact(block.input ?? '', secrets) })];
  if (block.kind === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  const signature = signatureText(block.signature);
  if (block.text === '' && signature === undefined) return [];
  return [{ type: 'thinking', thinking: block.text, ...(signature === undefined ? {} : { thinkingSignature: signature }) }];
}

function signatureText(signature: ReadonlyMap<string, unknown>): string | undefined {
  return signature.size === 0 ? undefined : JSON.stringify(Object.fromEntries(signature));
}

function callBlock({ callId, name, input = '', ...call }: Call): ToolCallBlock {
  const read = readArguments(input);
  const signature = signatureText(call.signature);
  return {
    type: 'toolCall',
    id: callId,
    name,
    arguments: read ?? {},
    ...(read ? {} : { malformed: tidy(input.slice(0, MALFORMED_LENGTH)).clean }),
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

// A tool without arguments gets nothing at all from some models.
function readArguments(input: string): JsonObject | undefined {
  if (input.trim() === '') return {};
  const parsed = parseJson(input);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) return undefined;
  return parsed.value;
}

/** How many characters at the end may be the beginning of a secret. */
function beginOfSecret(text: string, secrets: readonly string[]): number {
  let most = 0;
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, text.length); length > most; length--) {
      if (text.endsWith(secret.slice(0, length))) most = length;
    }
  }
  return most;
}

// Half of a surrogate pair at the end waits for the next piece; alone elsewhere, and NUL, which PostgreSQL cannot keep,
// become the replacement character.
function tidy(text: string): { clean: string; held: string } {
  const last = text.charCodeAt(text.length - 1);
  const split = last >= 0xd800 && last <= 0xdbff;
  const whole = split ? text.slice(0, -1) : text;
  const clean = whole.toWellFormed();
  return { clean: clean.includes('\0') ? clean.replaceAll('\0', '\ufffd') : clean, held: split ? text.slice(-1) : '' };
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };

type Tokens = Omit<Usage, 'costUsd'>;

/** Prices are for a million tokens; what the cache gives costs as much as other input where nothing else is said. */
export function priced(tokens: Tokens, prices: ModelConfig['prices']): Usage {
  if (!prices) return { ...tokens, costUsd: 0 };
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  const costUsd =
    (tokens.input * input + tokens.output * output + tokens.cacheRead * cacheRead + tokens.cacheWrite * cacheWrite) / 1_000_000;
  return { ...tokens, costUsd };
}
