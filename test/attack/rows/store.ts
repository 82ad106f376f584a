// The home folder and the store: somebody removes, moves, replaces or damages files, and the operator must not lose anything in silence.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { tenon } from '../../security/harness.ts';
import { mountSmallDisk } from '../../support/chaos-disk.ts';
import { doer, openHostile } from '../../support/hostile.ts';
import { type GatewayProcess, startGatewayProcess, type StartOptions } from '../../support/gateway.ts';
import { createDatabase, startPostgres } from '../../support/postgres.ts';
import { connectRaw, type RawClient } from '../../support/raw-client.ts';
import { createRandom } from '../../support/random.ts';
import { type Attack, broke, held, noneOf, type Outcome, untried, type World } from '../attack.ts';
import { addExtension, speaks } from '../extension.ts';
import { becomesTrue } from '../observe.ts';

async function started(world: World, options: StartOptions): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(options);
  world.after(() => gateway.remove());
  return gateway;
}

/** Why it did not start, in its own words. */
async function refusal(world: World, options: StartOptions): Promise<string | GatewayProcess> {
  try {
    return await started(world, options);
  } catch (error) {
    return ((error as { stderr?: string }).stderr ?? String(error)).trim();
  }
}

async function connected(world: World, gateway: GatewayProcess): Promise<RawClient> {
  const client = await connectRaw(gateway.socketUrl, gateway.token);
  world.after(() => client.close());
  return client;
}

let count = 0;
const create = async (client: RawClient, title = 'x') => {
  const key = `agent:main:kept-${++count}`;
  const { ok } = await client.request('sessions.create', { key, title, idempotencyKey: key }).catch(() => ({ ok: false }));
  return ok ? key : undefined;
};

async function keys(client: RawClient): Promise<Set<string>> {
  const found = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const { payload } = await client.request('sessions.list', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    for (const { key } of payload.sessions as { key: string }[]) found.add(key);
    cursor = payload.nextCursor as string | undefined;
    if (cursor === undefined) return found;
  }
}

const readyz = async ({ url }: GatewayProcess) => (await fetch(`${url}/readyz`)).status;
const FILES = ['tenon.db', 'tenon.db-wal', 'tenon.db-shm'];

function flip(file: string, at: number): void {
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, at);
  byte[0]! ^= 0x41;
  writeSync(handle, byte, 0, 1, at);
  closeSync(handle);
}

/** A home with sessions in its log, as kill -9 leaves it. */
async function killedHome(world: World, sessions: number): Promise<{ home: string; acknowledged: string[] }> {
  const home = world.folder();
  const gateway = await started(world, { home });
  const client = await connected(world, gateway);
  const acknowledged: string[] = [];
  for (let at = 0; at < sessions; at++) {
    const key = await create(client, randomBytes(60).toString('hex'));
    if (key !== undefined) acknowledged.push(key);
  }
  await gateway.kill();
  return { home, acknowledged };
}

/** What a start makes of a home that was tampered with. */
async function judge(world: World, home: string, acknowledged: readonly string[]): Promise<string | undefined> {
  const again = await refusal(world, { home });
  if (typeof again === 'string')
    return /node:internal|^\s+at /m.test(again) ? `it does not start, with a stack: ${again.slice(0, 200)}` : undefined;
  const client = await connected(world, again);
  const there = await keys(client);
  const missing = acknowledged.filter((key) => !there.has(key)).length;
  const { payload } = await client.request('status', {});
  const warnings = JSON.stringify(payload?.warnings ?? []);
  const doctor = (await tenon(home, 'doctor')).code;
  await again.kill();
  if (missing === 0 || doctor !== 0 || /damage|corrupt|lost|missing/i.test(warnings)) return undefined;
  return `${missing} of ${acknowledged.length} acknowledged sessions are gone, and nothing says so`;
}

const loose = (tried: string, isForRoot: boolean, prepare: (home: string) => void): Attack => ({
  id: 'S78',
  tried: `a home that others can write: ${tried}`,
  async run(world) {
    if (isForRoot && !world.isRoot) return untried('only root can give a file to somebody else');
    const home = join(world.folder(), 'home');
    mkdirSync(home, { mode: 0o700 });
    const first = await started(world, { home });
    await first.stop();
    prepare(home);
    const answer = await refusal(world, { home });
    if (typeof answer === 'string')
      return /chmod|chown/.test(answer)
        ? held(answer.split('\n')[0]!)
        : broke(`refused without the command that mends it: ${answer.slice(0, 300)}`);
    const open = await fetch(`${answer.url}/v1/models`);
    if (open.status === 200) return broke('started, and everybody is admin');
    const left = [home, ...['tenon.toml', 'token', 'home.key'].map((name) => join(home, name))].filter(
      (path) => existsSync(path) && (statSync(path).mode & 0o022) !== 0,
    );
    return left.length === 0
      ? held('started, after it closed the home to others')
      : broke(`started, and others can write ${left.join(', ')}`);
  },
});

const OPEN = '[gateway]\nauth = "none"\n[agent]\npermissions = "bypass"\n';

export const storeAttacks: readonly Attack[] = [
  {
    id: 'R16',
    tried: 'remove gateway.lock under a running gateway, and start a second one on the same store',
    async run(world) {
      const home = world.folder();
      const first = await started(world, { home });
      rmSync(join(home, 'gateway.lock'));
      const second = await refusal(world, { home });
      if (typeof second === 'string') return held(`the second one does not start: ${second.split('\n')[0]}`);
      const [one, two] = [await connected(world, first), await connected(world, second)];
      const acknowledged: string[] = [];
      const answers = { first: new Map<string, number>(), second: new Map<string, number>() };
      const write = async (who: 'first' | 'second') => {
        const key = `agent:main:kept-${++count}`;
        const { ok, error } = await (who === 'first' ? one : two).request('sessions.create', { key });
        if (ok) acknowledged.push(key);
        const code = ok ? 'OK' : error!.code;
        answers[who].set(code, (answers[who].get(code) ?? 0) + 1);
      };
      for (let round = 0; round < 40; round++) await Promise.all([write('second'), write('first')]);
      const ready = [await readyz(first), await readyz(second)];
      await first.kill();
      await second.kill();
      const third = await started(world, { home });
      const there = await keys(await connected(world, third));
      const missing = acknowledged.filter((key) => !there.has(key));
      const told = `first ${JSON.stringify([...answers.first])}, second ${JSON.stringify([...answers.second])}, readyz ${ready.join(' and ')}`;
      if (missing.length > 0) return broke(`${missing.length} acknowledged writes are gone; ${told}`);
      // The newer one goes on; the older one is fenced, knows it, and says so.
      const isFenced =
        answers.second.get('OK') === 40 && !answers.first.has('INTERNAL') && (answers.first.get('OK') ?? 0) < 3 && ready[0] === 503;
      return isFenced ? held(told) : broke(told);
    },
  },
  {
    id: 'R16',
    tried: 'start six gateways at once on one home',
    async run(world) {
      const home = world.folder();
      const answers = await Promise.all(Array.from({ length: 6 }, () => refusal(world, { home })));
      const running = answers.filter((answer) => typeof answer !== 'string');
      return running.length === 1 ? held('one started') : broke(`${running.length} started`);
    },
  },
  {
    id: 'R13',
    tried: 'move the database away under a running gateway: what is acknowledged then',
    async run(world) {
      const [home, elsewhere] = [world.folder(), world.folder()];
      const gateway = await started(world, { home });
      const client = await connected(world, gateway);
      for (let at = 0; at < 5; at++) await create(client);
      for (const name of FILES) if (existsSync(join(home, name))) renameSync(join(home, name), join(elsewhere, name));
      const isTold = await becomesTrue(async () => (await readyz(gateway)) === 503, 3_000);
      let taken = 0;
      for (let at = 0; at < 20; at++) if (await create(client)) taken++;
      return noneOf(
        [...(taken > 0 ? [`${taken} of 20 writes were acknowledged`] : []), ...(isTold ? [] : ['readyz says 200 after 3 s'])],
        'writes are refused, and readyz says 503',
      );
    },
  },
  {
    id: 'R13',
    tried: 'replace the database under a running gateway by an older copy',
    async run(world) {
      const home = world.folder();
      const first = await started(world, { home });
      await create(await connected(world, first));
      await first.stop();
      copyFileSync(join(home, 'tenon.db'), join(home, 'older'));
      const gateway = await started(world, { home });
      const client = await connected(world, gateway);
      await create(client);
      renameSync(join(home, 'older'), join(home, 'tenon.db'));
      const isTold = await becomesTrue(async () => (await readyz(gateway)) === 503, 3_000);
      let taken = 0;
      for (let at = 0; at < 20; at++) if (await create(client)) taken++;
      return noneOf(
        [...(taken > 0 ? [`${taken} of 20 writes were acknowledged`] : []), ...(isTold ? [] : ['readyz says 200 after 3 s'])],
        'writes are refused, and readyz says 503',
      );
    },
  },
  {
    id: 'R13',
    tried: 'remove the database of a stopped gateway, and start it',
    async run(world) {
      const home = world.folder();
      const first = await started(world, { home });
      await create(await connected(world, first));
      // The heads are written beside the commits, a moment later.
      const head = () =>
        existsSync(join(home, 'audit-head.json')) && !readFileSync(join(home, 'audit-head.json'), 'utf8').includes('"seq":0');
      await becomesTrue(head, 5_000);
      await first.kill();
      for (const name of FILES) rmSync(join(home, name), { force: true });
      const answer = await refusal(world, { home });
      if (typeof answer === 'string') return held(answer.split('\n')[0]!);
      return (await readyz(answer)) === 200 ? broke('it starts with an empty store, ready for writes') : held('it is not ready');
    },
  },
  {
    id: 'R02',
    tried: 'flip one byte inside the WAL of a killed gateway (6 places)',
    async run(world) {
      const { home, acknowledged } = await killedHome(world, 60);
      const wal = join(home, 'tenon.db-wal');
      const size = statSync(wal).size;
      const random = createRandom(world.seed);
      const found: string[] = [];
      for (const part of [0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
        const copy = join(world.folder(), 'home');
        cpSync(home, copy, { recursive: true });
        const at = Math.floor(size * part) + random.below(2_000);
        flip(join(copy, 'tenon.db-wal'), at);
        const fault = await judge(world, copy, acknowledged);
        if (fault !== undefined) found.push(`byte ${at} of ${size}: ${fault}`);
      }
      return noneOf(found, `${acknowledged.length} sessions: whole, or the damage is named`);
    },
  },
  {
    id: 'R02',
    tried: 'cut the end off the WAL, as a loss of power does: it still opens',
    async run(world) {
      const { home, acknowledged } = await killedHome(world, 20);
      const wal = join(home, 'tenon.db-wal');
      truncateSync(wal, statSync(wal).size - 1_000);
      // A loss of power takes only what nobody was told yet; this takes a little more, which the kept head may name.
      rmSync(join(home, 'stream-head.json'), { force: true });
      const answer = await refusal(world, { home });
      if (typeof answer === 'string') return broke(`it does not open: ${answer.slice(0, 300)}`);
      const there = await keys(await connected(world, answer));
      const lost = acknowledged.filter((key) => !there.has(key)).length;
      return lost <= 2
        ? held(`${lost} of ${acknowledged.length} sessions at the end are gone`)
        : broke(`${lost} of ${acknowledged.length} sessions are gone`);
    },
  },
  {
    id: 'R13',
    tried: 'flip one byte of a backup, and restore it (8 places)',
    async run(world) {
      const home = world.folder();
      const gateway = await started(world, { home });
      const client = await connected(world, gateway);
      for (let at = 0; at < 30; at++) await create(client, randomBytes(60).toString('hex'));
      const folder = world.folder();
      const file = join(folder, 'backup.db');
      const made = await tenon(home, 'backup', file);
      if (made.code !== 0) throw new Error(made.stderr);
      await gateway.stop();
      const random = createRandom(world.seed);
      const size = statSync(file).size;
      const found: string[] = [];
      for (let round = 0; round < 8; round++) {
        const copy = join(folder, `flipped-${round}.db`);
        copyFileSync(file, copy);
        const at = 200 + random.below(size - 200);
        flip(copy, at);
        const fresh = join(folder, `home-${round}`);
        mkdirSync(fresh, { mode: 0o700 });
        const { code } = await tenon(fresh, 'restore', copy, '--yes');
        if (code === 0) found.push(`byte ${at} of ${size} was restored`);
        else if (existsSync(join(fresh, 'tenon.db'))) found.push(`byte ${at}: refused, and something was put in place`);
      }
      const whole = join(folder, 'home-whole');
      mkdirSync(whole, { mode: 0o700 });
      if ((await tenon(whole, 'restore', file, '--yes')).code !== 0) throw new Error('the whole backup cannot be restored');
      return noneOf(found, '8 flipped bytes, all found; the whole backup is restored');
    },
  },
  loose('the folder is 777', false, (home) => chmodSync(home, 0o777)),
  loose('the folder is 777, and tenon.toml is of somebody else and switches authentication off', true, (home) => {
    chmodSync(home, 0o777);
    writeFileSync(join(home, 'tenon.toml'), OPEN);
    chownSync(join(home, 'tenon.toml'), 65_534, 65_534);
  }),
  loose('tenon.toml belongs to somebody else', true, (home) => {
    writeFileSync(join(home, 'tenon.toml'), OPEN);
    chownSync(join(home, 'tenon.toml'), 65_534, 65_534);
  }),
  loose('tenon.toml is 666', false, (home) => {
    writeFileSync(join(home, 'tenon.toml'), '[log]\nlevel = "info"\n');
    chmodSync(join(home, 'tenon.toml'), 0o666);
  }),
  loose('the token file is 666', false, (home) => chmodSync(join(home, 'token'), 0o666)),
  loose('home.key is 666', false, (home) => chmodSync(join(home, 'home.key'), 0o666)),
  {
    id: 'R11',
    tried: 'start on a full disk',
    async run(world) {
      const disk = mountSmallDisk(8);
      if (!disk) return untried('mounting is not permitted here');
      world.after(() => disk[Symbol.dispose]());
      chmodSync(disk.folder, 0o700);
      disk.fill();
      const answer = await refusal(world, { home: disk.folder });
      if (typeof answer !== 'string')
        return (await readyz(answer)) === 503 ? held('it starts, and says that it is not ready') : broke('it starts as if nothing were');
      const isSentence = /space|disk/i.test(answer) && /free|make room|remove|larger/i.test(answer) && !/^\s+at /m.test(answer);
      return isSentence ? held(answer.split('\n')[0]!) : broke(`no remedy in: ${answer.slice(0, 300)}`);
    },
  },
  {
    id: 'R03',
    tried: 'repeat a sessions.patch under its key, after a plugin has changed its state in the session',
    async run(world) {
      const hostile = await openHostile([
        doer('boxer', `await api.session.state.patch('agent:main:main', 'box', { at: params.at });`, {
          register: `api.registerSessionExtension({ namespace: 'box', description: 'A box', project: ({ state }) => ({ shown: state?.at ?? null }) });`,
        }),
      ]);
      world.after(() => hostile[Symbol.asyncDispose]());
      await hostile.ask('sessions.create', { key: 'agent:main:main' });
      const set = async (at: number) => {
        const { ok, error } = await hostile.poke('boxer', { at });
        if (!ok) throw new Error(JSON.stringify(error));
      };
      await set(1);
      const patch = { key: 'agent:main:main', title: 'once', idempotencyKey: 'once' };
      const first = await hostile.ask('sessions.patch', patch);
      if (first.session.pluginExtensions === undefined) throw new Error(`the answer shows no state of plugins: ${JSON.stringify(first)}`);
      await set(2);
      const again = await hostile.ask('sessions.patch', patch);
      return JSON.stringify(again) === JSON.stringify(first)
        ? held('the same answer, all of it')
        : broke(`first ${JSON.stringify(first.session.pluginExtensions)}, then ${JSON.stringify(again.session.pluginExtensions)}`);
    },
  },
  {
    id: 'R11',
    tried: 'freeze PostgreSQL (SIGSTOP): readyz, and what is acknowledged',
    async run(world) {
      const server = await startPostgres();
      world.after(() => server.remove());
      const database = await createDatabase(server.url);
      const home = world.folder();
      const gateway = await started(world, { home, config: `[store]\nengine = "postgres"\nurl = "${database.url}"\n` });
      const client = await connected(world, gateway);
      await create(client);
      const pids = processesOf(server.pid);
      const resume = () => {
        for (const pid of pids) signal(pid, 'SIGCONT');
      };
      world.after(resume);
      for (const pid of pids) signal(pid, 'SIGSTOP');
      const startedAt = performance.now();
      const isTold = await becomesTrue(async () => (await readyz(gateway)) === 503, 5_000);
      const seconds = (performance.now() - startedAt) / 1000;
      resume();
      const recovered = await becomesTrue(async () => (await create(client)) !== undefined, 20_000);
      if (!recovered) return broke('it does not write after the server goes on');
      return isTold && seconds < 3
        ? held(`503 after ${seconds.toFixed(1)} s`)
        : broke(isTold ? `503 after ${seconds.toFixed(1)} s` : 'readyz says 200 after 5 s');
    },
  },
  {
    id: 'R14',
    tried: 'tenon stop && tenon start, six times, with an extension loaded',
    async run(world): Promise<Outcome> {
      const home = world.folder();
      const target = await world.own({ home, config: '[gateway]\nport = 0\n' });
      // It takes its time to put things away, as extensions do.
      const slow = speaks('{}', `if (method === 'shutdown') { setTimeout(() => process.exit(0), 2000); return answer({}); }`, false);
      await addExtension(target, 'slow', { capabilities: 'tools = true', program: slow });
      await target.admin.close();
      const found: string[] = [];
      let pid = target.gateway.pid;
      for (let round = 0; round < 6; round++) {
        const stop = await tenon(home, 'stop');
        if (stop.code !== 0) throw new Error(stop.stderr);
        const again = await refusal(world, { home });
        if (typeof again === 'string') {
          found.push(`round ${round + 1}: ${again.split('\n')[0]}`);
          await becomesTrue(() => !existsSync(`/proc/${pid}`), 30_000);
          pid = (await started(world, { home })).pid;
        } else pid = again.pid;
      }
      return noneOf(found, 'each start found the home free');
    },
  },
];

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** The server and everything that it has started. */
function processesOf(parent: number): number[] {
  const children = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readFileSync(`/proc/${name}/status`, 'utf8'));
    } catch {
      return false;
    }
  });
  return [parent, ...children.map(Number)];
}
