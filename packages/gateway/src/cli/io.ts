// The world as a command sees it, passed in so that a test can be the world.

export interface OutStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface InStream extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
}

export interface Io {
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  readonly stdin: InStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): number;
  /**
   * Aborts when the user interrupts; the reason is the name of the signal. Asking for it takes the signals over from the
   * system, until one came; who wants the next one asks again.
   */
  interrupted(): AbortSignal;
}

const MAX_INPUT_BYTES = 16_777_216;

/** All of stdin as text. */
export async function readAll(stream: InStream, most = MAX_INPUT_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > most) throw new Error(`the input is larger than ${most} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
