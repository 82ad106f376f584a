// What an operator can rely on, whatever is killed, filled or moved.
import type { Requirement } from './row.ts';

export const promises = {
  R01: { issue: 1, text: 'A write that was acknowledged is there after kill -9 at any point.' },
  R02: { issue: 1, text: 'The store opens after any crash and drops at most what was never acknowledged.' },
  R03: { issue: 1, text: 'One idempotency key has one effect and one answer for 24 hours, restarts included.' },
  'R03:whole-answer': { issue: 6, text: 'A repeat gets the stored answer, all of it, whatever plugins show by then.' },
  R04: { issue: 4, text: 'Each occurrence of a schedule runs once or is recorded as missed.' },
  R05: { issue: 1, text: 'A client that reconnects gets every missed event once and in order, or is told to read a snapshot.' },
  R06: { issue: 3, text: 'Each next-turn injection lands in exactly one turn, in order, unless it expired.' },
  R07: { issue: 3, text: 'Updates of plugin state are atomic; a neighbour or a stale writer loses nothing of them.' },
  R08: { issue: 1, text: 'A client that stops reading slows nobody else, and is closed with a reason.' },
  R09: { issue: 5, text: 'A crashing extension is restarted with growing pauses, then quarantined; nobody else notices.' },
  R10: { issue: 5, text: 'A hung extension is found and replaced, and leaves no process behind.' },
  R11: { issue: 1, text: 'With a full disk reads go on, writes are refused with STORAGE, and space alone cures it.' },
  'R11:full-at-start': { issue: 6, text: 'A start on a full disk names the disk and what to do, whatever it was about to write.' },
  'R11:frozen-database': {
    issue: 6,
    text: 'A PostgreSQL that hangs shows in readyz within two seconds, and nobody has to restart anything when it goes on.',
  },
  R12: { issue: 4, text: 'Jumps of the clock make nothing fire early, twice or never.' },
  R13: { issue: 1, text: 'A damaged store file is named and kept; what is not damaged goes on working.' },
  'R13:wal': {
    issue: 6,
    text: 'Damage inside the write-ahead log, or a store that lost acknowledged events, is refused and named; nothing is lost silently.',
  },
  'R13:salvage': { issue: 6, text: 'What a damaged store lost is given up only by a command that keeps the files and leaves a record.' },
  'R13:backup': { issue: 6, text: 'A backup carries digests: a flipped byte is found before anything is replaced.' },
  'R13:moved': {
    issue: 6,
    text: 'A store whose files are moved, deleted or replaced under the running gateway takes no write more, and says so.',
  },
  'R13:no-silent-new-store': {
    issue: 6,
    text: 'Where an earlier store is gone a start refuses and names the command that makes a new one, which keeps what is left and is audited.',
  },
  R14: { issue: 1, text: 'SIGTERM takes no new work, finishes what runs, and exits 0 inside its budget.' },
  'R14:running-turns': { issue: 2, text: 'SIGTERM parks running turns durably.' },
  'R14:stop-waits': { issue: 6, text: '`tenon stop` ends when the gateway is gone, so that the next start succeeds.' },
  'R14:restart': { issue: 6, text: '`tenon restart` starts the gateway again as it was started, and stops nothing that it cannot start.' },
  'R14:ended-from-inside': {
    issue: 6,
    text: 'A plugin that ends the process leaves a code that supervisors restart on, its name, and what was acknowledged.',
  },
  R15: { issue: 1, text: 'Upgrades keep the data, a copy is made first, and a newer store is refused.' },
  R16: { issue: 1, text: 'Two gateways never use one SQLite store; a stale lock is taken over.' },
  'R16:lock-removed': { issue: 6, text: 'Removing the lock file lets no second gateway into a store that is in use.' },
  'R16:fenced': {
    issue: 6,
    text: 'A gateway whose store another one has claimed writes nothing more, says why, and stops; on both engines.',
  },
  R17: { issue: 1, text: 'Requests about one session apply in the order of arrival, and events carry that order.' },
  R18: { issue: 3, text: 'The same plugins give the same order and outcome of hooks; a closed hook that fails denies.' },
  'R18:extensions': { issue: 5, text: 'The same holds for hooks that are answered by subprocesses.' },
  R19: { issue: 4, text: 'Memory does not grow with the number of finished turns, sessions and jobs.' },
  R20: { issue: 5, text: 'The gateway is up quickly even when extensions hang at start.' },
} as const satisfies Record<string, Requirement>;
