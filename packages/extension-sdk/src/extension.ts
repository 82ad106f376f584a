// An extension: what its author sets up, over one connection. `connect` is for tests and other transports; `serve` is the
// process that a host starts, which ends with its host whatever else keeps it alive.
import type { ExtensionApi } from './api.ts';
import { createApi } from './create-api.ts';
import { createDispatch } from './dispatch.ts';
import { createAskHost, type Host, readHost } from './host.ts';
import type { LogLevel, UiKind } from './names.ts';
import { type Params, Peer } from './peer.ts';
import { groupNames, groups } from '@tenon/protocol/sep/wire';
import { Registry } from './registry.ts';
import { messageOf, RpcError } from './rpc-error.ts';
import { stdioTransport, type Transport } from './transport.ts';
import { createShown } from './ui.ts';
import { errorCode, PROTOCOL_VERSION } from './wire.ts';

export interface Connection {
  /** When the host has asked for the end and was answered, or is gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface Extension {
  /** One connection, with a setup of its own. `onShutdown` when it has ended. */
  connect(transport: Transport, onShutdown?: () => void): Connection;
  /** Speaks over the standard streams of this process, and exits with its host. */
  serve(): void;
}

export type Setup = (extension: ExtensionApi) => void | Promise<void>;

export function defineExtension(setup: Setup): Extension {
  const connect = (transport: Transport, onShutdown?: () => void) => connectExtension(setup, transport, onShutdown);
  return { connect, serve: () => serve(connect) };
}

function connectExtension(setup: Setup, transport: Transport, onShutdown: () => void = () => {}): Connection {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const endings: (() => unknown)[] = [];
  let host: Host | undefined;
  let flags: Params = {};
  let isEnding = false;
  let hasNews = false;

  const registry = new Registry(() => {
    if (hasNews) return;
    hasNews = true;
    queueMicrotask(() => {
      hasNews = false;
      peer.notify('registry/update', registry.takeNews());
    });
  });
  const hasUI = (kind?: UiKind) =>
    kind === undefined ? (host?.uiCapabilities.length ?? 0) > 0 : (host?.uiCapabilities.includes(kind) ?? false);
  const log = (level: LogLevel, message: string, fields?: Params) => {
    try {
      peer.notify('log', fields === undefined ? { level, message } : { level, message, fields });
    } catch (thrown) {
      complain(`a log record was not sent: ${messageOf(thrown)}`);
    }
  };
  const shared = {
    ask: createAskHost((method, params, options) => peer.request(method, params, options)),
    shown: createShown(),
    host: () => host ?? early(),
    hasUI,
    log,
    registry,
  };
  const api = createApi({ ...shared, flag: (name) => flags[name], onShutdown: (handler) => void endings.push(handler) });
  // Begins now, so that it runs while the host is still starting; a failure is the answer to `initialize`.
  const ready = Promise.resolve().then(() => setup(api));
  ready.catch(() => {});

  const { onRequest, onNotification } = createDispatch({
    ...shared,
    peer: () => peer,
    async initialize(params) {
      host = readHost(params, PROTOCOL_VERSION);
      flags = isFields(params.flags) ? params.flags : {};
      try {
        await ready;
      } catch (thrown) {
        complain(thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown));
        throw new RpcError(errorCode.Internal, `The setup of the extension failed: ${messageOf(thrown)}`);
      }
      const has = (group: string) => host?.capabilities[group] === true;
      for (const group of registry.groupsBeyond())
        if (!has(group)) complain(`this host has no "${group}": what was registered for it is left out`);
      // A host that has more than SEP names it, on or off.
      const hasMore = groupNames.some((group) => 'beyond' in groups[group] && host?.capabilities[group] !== undefined);
      if (!hasMore) for (const name of registry.namesBeyond()) complain(`this host has no "${name}": whoever follows it hears nothing`);
      return {
        protocol_version: PROTOCOL_VERSION,
        extension: { name: api.name, version: api.version },
        registrations: registry.toWire(has, hasMore),
      };
    },
    async shutdown() {
      await finish();
      setImmediate(() => void peer.close());
      return {};
    },
  });

  const peer: Peer = new Peer(transport, { onRequest, onNotification, onFault: complain, onClose: () => void finish().then(end) }).start();
  ended.then(onShutdown);
  return { ended, close: () => peer.close().then(() => ended) };

  /** Once: what the author wanted done at the end, however it goes. */
  async function finish(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    const all = Promise.all(endings.map(async (handler) => handler())).catch((thrown) =>
      complain(`a handler of the end failed: ${messageOf(thrown)}`),
    );
    await Promise.race([all, pause(FINISH_MS)]);
  }
}

/** Within the time that a host gives `shutdown`. */
const FINISH_MS = 4_000;

function serve(connect: (transport: Transport) => Connection): void {
  const transport = stdioTransport();
  // A stray `console.log` would be read as a frame.
  process.stdout.write = ((...args: Parameters<typeof process.stderr.write>) =>
    process.stderr.write(...args)) as typeof process.stdout.write;
  // An answer that nobody waited for is told, and ends nothing.
  process.on('unhandledRejection', (reason) =>
    complain(`a promise failed that nobody waited for: ${reason instanceof Error ? reason.stack : messageOf(reason)}`),
  );
  // Timers and sockets of the author would keep the process when its host is gone.
  void connect(transport).ended.then(() => process.exit());
}

function complain(what: string): void {
  process.stderr.write(`${what}\n`);
}

function early(): never {
  throw new Error('The host has not said who it is yet: look at it in a handler');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

function isFields(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
