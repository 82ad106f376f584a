// Which Host and Origin headers are answered. A page of another site can make the operator's browser call us; these two
// headers are what it cannot forge.
import type { IncomingMessage } from 'node:http';
import { limits, visible } from '@tenon/protocol';

export interface GateRefusal {
  readonly kind: 'headers' | 'host' | 'origin' | 'cross-site';
  readonly status: 403 | 421 | 431;
  /** The header that it is refused for, as it may be kept. */
  readonly value: string;
}

export interface Gate {
  /** Why the request is refused; undefined when it may go on. */
  refusal(request: IncomingMessage): GateRefusal | undefined;
}

export interface GateOptions {
  readonly bind: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export function createGate({ bind, port, ...options }: GateOptions): Gate {
  const allowedHosts = options.allowedHosts.map((host) => host.toLowerCase());
  const allowedOrigins = options.allowedOrigins.map((origin) => origin.toLowerCase());
  const own = ['127.0.0.1', 'localhost', '[::1]', bind.includes(':') ? `[${bind}]` : bind];
  const hosts = new Set(own.map((host) => `${host}:${port}`));
  if (port === 80) for (const host of own) hosts.add(host);
  for (const host of allowedHosts) hosts.add(host);
  const origins = new Set(allowedOrigins);
  for (const host of hosts) {
    origins.add(`http://${host}`);
    // A name that the operator configured may stand for a proxy that speaks TLS.
    if (allowedHosts.includes(host)) origins.add(`https://${host}`);
  }

  return {
    refusal({ headers, rawHeaders, method }) {
      if (rawHeaders.length / 2 > limits.httpHeaderCount.value) return { kind: 'headers', status: 431, value: '' };
      const host = headers.host?.toLowerCase() ?? '';
      const hostCount = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
      if (hostCount !== 1 || !hosts.has(host)) return { kind: 'host', status: 421, value: shown(host) };
      const { origin } = headers;
      if (origin !== undefined && !origins.has(origin.toLowerCase())) return { kind: 'origin', status: 403, value: shown(origin) };
      // A page elsewhere may link to us, which is a navigation, but not load us behind the scenes or send us a form.
      const site = headers['sec-fetch-site'];
      const follows = headers['sec-fetch-mode'] === 'navigate' && (method === 'GET' || method === 'HEAD');
      if ((site === 'cross-site' || site === 'same-site') && !follows) return { kind: 'cross-site', status: 403, value: site };
      return undefined;
    },
  };
}

/** What a stranger sent: short, with nothing hidden in it, and without a token that somebody put there by mistake. */
function shown(value: string): string {
  return visible(value.slice(0, 256)).replace(/tenon_[\w-]+/gi, 'tenon_***');
}
