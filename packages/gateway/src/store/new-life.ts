// A store whose past has changed, by a restore or because commits were given up, begins a new life: what clients remember of positions
// no longer holds, and the audit log says why.
import type { DatabaseSync } from 'node:sqlite';
import { randomId } from '../kernel/ids.ts';
import { appendAudit, type AuditEntry } from './audit.ts';
import type { AuditHead } from './sql.ts';
import { createSqliteRunner, type RunEffects } from './sqlite-run.ts';
import { beginStream } from './stream.ts';

export function beginNewLife(database: DatabaseSync, entry: AuditEntry): AuditHead {
  const runner = createSqliteRunner(database);
  const effects: RunEffects = { emitted: [], auditHead: undefined };
  database.exec('begin immediate; delete from events');
  runner.run(beginStream(randomId()), effects);
  const head = runner.run(appendAudit(entry, 'sqlite'), effects);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  return head;
}
