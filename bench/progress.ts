// How far the run is: a bar on a terminal, a line per group elsewhere. On stderr, so that the table can be piped.

export interface Progress {
  begin(what: string): void;
  round(done: number, of: number): void;
  end(): void;
  /** Removes the bar. */
  close(): void;
}

const WIDTH = 24;

export function createProgress(groups: number, stream: NodeJS.WriteStream = process.stderr): Progress {
  const startedAt = performance.now();
  let finished = 0;
  let what = '';
  let share = 0;
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;

  function draw(): void {
    if (!stream.isTTY) return;
    const filled = Math.round((WIDTH * (finished + share)) / groups);
    stream.write(`\r\x1b[K${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${seconds()}  ${what}`);
  }

  return {
    begin(text) {
      what = text;
      share = 0;
      if (stream.isTTY) draw();
      else stream.write(`${finished + 1}/${groups} ${what}\n`);
    },
    round(done, of) {
      // A group has several rounds of rounds: the bar never goes back.
      share = Math.max(share, (0.9 * done) / of);
      draw();
    },
    end() {
      finished++;
      share = 0;
      draw();
    },
    close() {
      if (stream.isTTY) stream.write('\r\x1b[K');
      else stream.write(`done in ${seconds()}\n`);
    },
  };
}
