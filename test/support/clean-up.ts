// What a test leaves is put away in the opposite order: a folder goes after the process that works in it. Node's own `t.after` runs
// the first one first and stops at the first that fails, which left a gateway running for as long as the whole run would wait.
import { rmSync } from 'node:fs';

type Step = () => unknown;
type Test = { after(work: () => Promise<void>): void };

const steps = new WeakMap<Test, Step[]>();

/** The last one that was given runs first, and each runs, whatever the others do. */
export function cleanUp(t: Test, step: Step): void {
  const known = steps.get(t);
  if (known) return void known.push(step);
  const mine = [step];
  steps.set(t, mine);
  t.after(async () => {
    const failed: unknown[] = [];
    for (const each of mine.reverse()) {
      try {
        await each();
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join('; '));
  });
}

/** Also where something is still being written into it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
