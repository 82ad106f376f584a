// One end of the extension protocol, for an extension: lines in, lines out. No dependencies; copy it, or use an SDK.
const MAX_LINE = 16 * 1024 * 1024;

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** `requests` and `notifications`: method → handler(params, signal). What a request handler returns is the result. */
export function createPeer({ input, output, requests, notifications }) {
  let nextId = 1;
  const waiting = new Map(); // id → {resolve, reject}: what we have asked
  const working = new Map(); // id → AbortController: what we were asked

  const send = (frame) => output.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);

  function call(method, params) {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });
  }

  async function serve(id, method, params) {
    const handler = Object.hasOwn(requests, method) ? requests[method] : undefined;
    if (!handler) return send({ id, error: { code: -32601, message: `method not found: ${method}` } });
    const controller = new AbortController();
    working.set(id, controller);
    try {
      send({ id, result: (await handler(params, controller.signal)) ?? {} });
    } catch (error) {
      const code = controller.signal.aborted ? -32800 : error instanceof RpcError ? error.code : -32603;
      send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    } finally {
      working.delete(id);
    }
  }

  function take(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      return; // not for us
    }
    // Anything may come: null, a number, a list. Only an object is a frame.
    if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return;
    const { id, method, params, result, error } = frame;
    // Both sides count for themselves: what has a method is theirs, whatever its id.
    if (typeof method === 'string') {
      const given = typeof params === 'object' && params !== null ? params : {};
      if (id !== undefined && id !== null) serve(id, method, given);
      else if (method === '$/cancel') working.get(given.id)?.abort();
      else if (Object.hasOwn(notifications, method))
        Promise.resolve()
          .then(() => notifications[method](given))
          .catch(complain);
      return;
    }
    const asked = waiting.get(id);
    if (!asked) return; // too late, or never asked
    waiting.delete(id);
    if (error) asked.reject(new RpcError(error.code, error.message, error.data));
    else asked.resolve(result ?? {});
  }

  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk) => {
    rest += chunk;
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') take(line);
    if (rest.length > MAX_LINE) process.exit(1); // nobody may fill our memory
  });
  // Without a host there is nothing to do.
  input.on('end', () => process.exit(0));
  output.on('error', () => process.exit(0));

  return { call, notify: (method, params) => send({ method, params }) };
}

/** Standard error is a log that the host keeps. */
export function complain(error) {
  console.error(error instanceof Error ? error.message : error);
}
