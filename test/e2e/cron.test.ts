// Schedules from the terminal: the real bundle and a real gateway, which is down when something is due.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { Job, Occurrence } from '@tenon/protocol';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function tenon(home: string, ...words: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home, TZ: 'UTC' }), encoding: 'utf8', timeout: 60_000 } as const;
    execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    }).stdin?.end();
  });
}

async function data<Result>(home: string, ...words: string[]): Promise<Result> {
  const { code, stdout, stderr } = await tenon(home, '--json', ...words);
  assert.equal(code, 0, `tenon ${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as Result;
}

const last = async (home: string, id: string): Promise<Occurrence | undefined> =>
  (await data<{ occurrences: Occurrence[] }>(home, 'cron', 'history', id)).occurrences[0];

async function ended(home: string, id: string): Promise<Occurrence> {
  for (;;) {
    const found = await last(home, id);
    if (found?.endedAt !== undefined) return found;
  }
}

test('tenon cron makes jobs, shows what became of them and why one was missed', async () => {
  verifies('R04');
  const home = temporaryHome();
  let gateway = await startGatewayProcess({ home });
  try {
    const { job: soon } = await data<{ job: Job }>(home, 'cron', 'add', 'Look at the oven', '--in', '1ms', '--session', 'kitchen');
    assert.deepEqual([soon.session, soon.message, soon.onMiss], [{ key: 'agent:main:kitchen' }, 'Look at the oven', 'run']);
    assert.equal((await ended(home, soon.id)).state, 'done');
    const finished = await data<{ jobs: Job[] }>(home, 'cron', 'list', '--state', 'finished');
    assert.deepEqual(
      finished.jobs.map(({ id }) => id),
      [soon.id],
    );

    const words = ['cron', 'add', 'Sum up', '--cron', '0 8 * * 1-5', '--tz', 'Europe/Berlin', '--on-miss', '2h', '--retry', '3:30s'];
    const { job } = await data<{ job: Job }>(home, ...words, '--name', 'sums', '--tag', 'mail');
    assert.deepEqual(job.schedule, { kind: 'cron', cron: '0 8 * * 1-5', tz: 'Europe/Berlin' });
    assert.deepEqual(
      [job.onMiss, job.retry, job.session],
      [{ within: 7_200_000 }, { attempts: 3, backoffMs: 30_000 }, { agentId: 'main', fresh: true }],
    );
    const ran = await data<{ occurrence: Occurrence }>(home, 'cron', 'run', 'sums');
    assert.equal(ran.occurrence.manual, true);
    assert.equal((await ended(home, job.id)).state, 'done');
    assert.equal((await data<{ job: Job }>(home, 'cron', 'pause', 'sums')).job.state, 'paused');
    assert.equal((await data<{ job: Job }>(home, 'cron', 'resume', 'sums')).job.state, 'active');
    const edited = await data<{ job: Job }>(
      home,
      'cron',
      'edit',
      'sums',
      '--every',
      '2h',
      '--clear-retry',
      '--clear-tag',
      '--overlap',
      'queue',
    );
    assert.deepEqual(
      [edited.job.schedule.kind, edited.job.retry, edited.job.tag, edited.job.overlap],
      ['every', undefined, undefined, 'queue'],
    );

    const { stdout: shown } = await tenon(home, 'cron', 'show', 'sums');
    assert.match(shown, /^when +every 2h$/m);
    assert.match(shown, /^if missed +run within 2h$/m);
    for (const [typed, message] of [
      [['cron', 'add', 'x'], /Say when: --at, --in, --every or --cron/],
      [['cron', 'add', 'x', '--at', 'nonsense'], /must be a date and time/],
      [['cron', 'add', 'x', '--at', '+020000-01-01T00:00Z'], /must be a date and time/],
      [['cron', 'add', 'x', '--every', '5ms'], /--every cannot be 5 ms; it must be from 1s to 366d/],
      [['cron', 'add', 'x', '--in', '1m', '--every', '1m'], /Only one of/],
      [['cron', 'add', 'x', '--cron', '99 * * * *'], /Invalid value for minute: 99/],
      [['cron', 'add', 'x', '--cron', '* * * * *', '--tz', 'Mars/Olympus'], /is not a time zone/],
      [['cron', 'show', 'nothing'], /Cannot find job/],
      [['cron', 'edit', 'sums'], /Nothing to change/],
    ] as const) {
      const { code, stderr } = await tenon(home, ...typed);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    }

    // A minute is not late: the job must have been due longer ago than that.
    const { job: missed } = await data<{ job: Job }>(home, 'cron', 'add', 'Too late', '--in', '1h', '--on-miss', 'skip', '--name', 'late');
    await gateway.stop();
    await longAgo(home, missed.id);
    gateway = await startGatewayProcess({ home });
    assert.equal((await ended(home, missed.id)).state, 'missed');
    const { stdout: why } = await tenon(home, 'cron', 'history', 'late');
    assert.match(why, /missed .*The gateway was not running, and the job does not make up for what it misses/);
    assert.equal((await tenon(home, 'cron', 'rm', 'sums', '--yes')).code, 0);
    assert.deepEqual((await data<{ jobs: Job[] }>(home, 'cron', 'list')).jobs, []);
  } finally {
    await gateway.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});

/** As if the gateway had been down for hours: what was due in an hour was due two hours ago. */
async function longAgo(home: string, id: string): Promise<void> {
  const { DatabaseSync } = await import('node:sqlite');
  const { globSync } = await import('node:fs');
  const { join } = await import('node:path');
  const database = new DatabaseSync(join(home, globSync('*.db', { cwd: home })[0]!));
  const at = Date.now() - 7_200_000;
  database.prepare('update jobs set next_at = ?, schedule = ? where id = ?').run(at, JSON.stringify({ kind: 'at', at }), id);
  database.close();
}
