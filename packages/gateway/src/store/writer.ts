// The one gateway that may write a store: its boot id is a row in it, and every commit looks whether it still stands there.
// Lock files can be removed and connections break; who lost the row cannot write, whatever happened to the rest.
import { change, one, type Operation, Refusal, sql } from './sql.ts';

export interface Writer {
  /** Made when the store is opened. */
  readonly bootId: string;
  readonly pid: number;
  /** Which lock file it holds, if any: see lock.ts. */
  readonly lockId: string;
  readonly at: number;
}

export function* claimWriter({ bootId, pid, lockId, at }: Writer): Operation<void> {
  yield* change(sql`
    insert into writer (id, boot_id, pid, lock_id, at) values (1, ${bootId}, ${pid}, ${lockId}, ${at})
    on conflict (id) do update set boot_id = excluded.boot_id, pid = excluded.pid, lock_id = excluded.lock_id, at = excluded.at`);
}

export function* currentWriter(_: object): Operation<Writer | undefined> {
  return yield* one<Writer & Record<string, never>>(sql`
    select boot_id as "bootId", pid, lock_id as "lockId", at from writer where id = 1`);
}

/** Throws `Fenced` unless the row still names this gateway. */
export function* expectWriter(bootId: string): Operation<void> {
  const writer = yield* currentWriter({});
  if (writer?.bootId !== bootId) throw new Fenced(writer);
}

/** This gateway may not write any more. It does not pass: only a new start claims the store again. */
export class Fenced extends Refusal {
  constructor(writer: Writer | undefined) {
    const who = writer ? `Another gateway (pid ${writer.pid}, started ${new Date(writer.at).toISOString()})` : 'Somebody';
    super('STORAGE', `${who} has taken over the store; this gateway writes nothing any more and stops`, { code: 'FENCED' });
  }
}
