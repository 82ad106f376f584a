// What does not fit a frame of the socket goes over HTTP, with the same token; a refusal is the same as over the socket.
import type { CommandContext } from './context.ts';
import { CliError, exitCodes } from './failure.ts';

const PATIENCE_MS = 120_000;

/** A good answer. Throws what a call over the socket would throw. */
export async function requestOverHttp(
  context: Pick<CommandContext, 'http' | 'globals'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  body?: { readonly type: string; readonly text: string },
): Promise<Response> {
  const { url, token } = await context.http();
  const address = new URL(url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  let response: Response;
  try {
    response = await fetch(address, {
      ...(body ? { method: 'POST', body: body.text } : {}),
      headers: { ...(body ? { 'content-type': body.type } : {}), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      signal: AbortSignal.timeout(context.globals.timeout ?? PATIENCE_MS),
    });
  } catch (error) {
    throw new CliError(
      'UNREACHABLE',
      exitCodes.unreachable,
      `Cannot connect to ${url.replace(/^http/, 'ws')}: ${(error as Error).message}`,
    );
  }
  if (response.ok) return response;
  const answer: unknown = await response.json().catch(() => undefined);
  const { matches, GatewayError, ErrorShape } = await import('@tenon/protocol');
  if (matches(ErrorShape, answer)) {
    const { code, message, ...more } = answer as {
      code: ConstructorParameters<typeof GatewayError>[0];
      message: string;
      details?: never;
      retryAfterMs?: number;
    };
    throw new GatewayError(code, message, more);
  }
  throw new CliError('FAILED', exitCodes.failed, `The gateway answered with status ${response.status}`);
}
