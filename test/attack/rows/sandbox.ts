// What a program that the agent runs finds in its sandbox. The session asks nobody, so nothing but the sandbox stands in the way.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Attack, broke, held, noneOf, untried } from '../attack.ts';
import { residentBytes, runningWith } from '../observe.ts';
import { CANARY } from '../target.ts';

/** Lines of a script, each of which says `GOT <what>` where it succeeds. */
const got = (what: string, command: string) => `(${command}) >/dev/null 2>&1 && echo "GOT ${what}"`;
const gotten = (output: string) => Array.from(output.matchAll(/^GOT (.*)$/gm), ([, what]) => what!);

// Opened to be appended to and closed again: nothing is written, so nothing changes where it can be.
const opens = (path: string) => got(`${path} can be opened for writing`, `: >> ${path}`);

const MACHINE = [
  '/proc/sysrq-trigger',
  '/proc/irq/default_smp_affinity',
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/vm/drop_caches',
  '/proc/sys/fs/binfmt_misc/register',
];

export const sandboxAttacks: readonly Attack[] = [
  {
    id: 'S83',
    tried: 'open settings of the machine in /proc for writing (core_pattern, sysrq-trigger, …)',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const output = await target.shell(
        `${MACHINE.map(opens).join('\n')}\n` +
          `count=0; for file in $(find /proc/sys /proc/irq /proc/bus /proc/fs -type f 2>/dev/null); do (: >> "$file") 2>/dev/null && count=$((count+1)); done; echo "COUNT $count"`,
      );
      const count = Number(/^COUNT (\d+)$/m.exec(output)?.[1]);
      return noneOf(
        [...gotten(output), ...(count === 0 ? [] : [`${count} files can be opened for writing`])],
        'none can be opened for writing',
      );
    },
  },
  {
    id: 'S83',
    tried: 'read what the kernel keeps (kcore, keys, kallsyms, kmsg)',
    sandboxed: true,
    async run(world) {
      const output = await (await world.shared()).shell(
        `for file in kcore keys kallsyms kmsg; do bytes=$(timeout 2 head -c 64 /proc/$file 2>/dev/null | wc -c); [ "$bytes" -gt 0 ] && echo "GOT $bytes bytes of /proc/$file"; done`,
      );
      // Whoever has no rights reads addresses of nothing but zeros.
      const zeros = await (await world.shared()).shell(`head -c 400000 /proc/kallsyms 2>/dev/null | cut -c1-16 | sort -u | head -3`);
      const found = gotten(output).filter((each) => !(each.endsWith('kallsyms') && zeros.trim() === '0'.repeat(16)));
      return noneOf(
        found.filter((each) => !(each.endsWith('/keys') && !world.isRoot)),
        'nothing was read',
      );
    },
  },
  {
    id: 'S83',
    tried: 'read the token, keys, store and settings of the gateway, also through a link in the workspace',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      symlinkSync(target.home, join(workspace, 'link'));
      const names = ['token', 'home.key', 'tenon.toml', 'tenon.db', 'audit-head.json', 'gateway.json'].filter((name) =>
        existsSync(join(target.home, name)),
      );
      const script = [
        ...names.flatMap((name) => [got(name, `cat '${target.home}/${name}'`), got(`link/${name}`, `cat link/${name}`)]),
        got('a file of the home', `ls '${target.home}'/token`),
        got('the home of the user', `ls -A '${homedir()}' | grep .`),
      ];
      // The workspace lies in the home: its folders are seen, and nothing beside them.
      return noneOf(gotten(await target.shell(script.join('\n'))), `${names.length} files, none of them read`);
    },
  },
  {
    id: 'S83',
    tried: 'read the environment and memory of the gateway, signal it, trace it, enter its namespaces',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const { pid } = target.gateway;
      const output = await target.shell(
        [
          `env; cat /proc/${pid}/environ /proc/1/environ /proc/self/environ 2>/dev/null | tr '\\0' '\\n'`,
          got('the environment of the gateway', `cat /proc/${pid}/environ`),
          got('its memory', `head -c 1 /proc/${pid}/mem`),
          got('a signal to the gateway', `kill -0 ${pid} && [ "$(cat /proc/${pid}/comm)" = node ]`),
          got('a namespace of another process', `nsenter -t 1 -m true`),
          got('tracing', `timeout 5 strace -p ${pid} -o /dev/null`),
        ].join('\n'),
      );
      return noneOf(
        [...gotten(output), ...(output.includes(CANARY) ? ['the environment of the gateway was printed'] : [])],
        'nothing of it was seen',
      );
    },
  },
  {
    id: 'S83',
    tried: 'reach the port of the gateway, and any other one of this machine',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const ports = [target.gateway.port, Number(new URL(target.server.url).port)];
      const script = ports.map((port) => got(`port ${port}`, `timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`));
      return noneOf(gotten(await target.shell(script.join('\n'))), 'no connection');
    },
  },
  {
    id: 'S83',
    tried: 'write outside of the workspace, mount, unmount, make devices, gain capabilities',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      target.emptyWorkspace();
      const outside = join(world.folder(), 'outside');
      writeFileSync(outside, 'as it was');
      const output = await target.shell(
        [
          ...['/etc/x', '/usr/x', '/x', '/root/x', '/home/x'].map((path) => got(path, `: > ${path}`)),
          // Its own /tmp may lie over these; what counts is what is there outside.
          `echo changed > ${outside}; : > ${target.home}/x`,
          got('a mount', 'mount -t tmpfs x /mnt'),
          got('an unmount', 'umount -l /proc || umount -l /etc'),
          got('the root made writable', 'mount -o remount,rw /'),
          got('a device', 'mknod disk b 8 0'),
          got('a mount in a namespace of its own that shows', `unshare -Urm sh -c 'mount -o remount,rw / && : > /etc/x' && [ -e /etc/x ]`),
          got('capabilities', '[ "$(grep CapEff /proc/self/status | tr -d -c 0-9a-f | tail -c 16)" != 0000000000000000 ]'),
        ].join('\n'),
      );
      const found = gotten(output);
      if (readFileSync(outside, 'utf8') !== 'as it was') found.push('a file outside was changed');
      if (existsSync(join(target.home, 'x'))) found.push('a file was made in the home of the gateway');
      return noneOf(found, 'all refused');
    },
  },
  {
    id: 'S38',
    tried: 'use file descriptors that the gateway inherited (200: a file, 201: a folder, 9: a file)',
    sandboxed: true,
    async run(world) {
      if (!existsSync('/bin/bash')) return untried('there is no bash to hand on descriptors');
      const folder = world.folder();
      writeFileSync(join(folder, 'secret'), CANARY);
      const target = await world.own({
        through: ['bash', '-c', `exec "$@" 9<'${folder}/secret' 200<'${folder}/secret' 201<'${folder}'`, 'bash'],
      });
      const output = await target.shell(
        `cat /proc/self/fd/9 /proc/self/fd/200 /proc/self/fd/201/secret 2>/dev/null; for fd in $(ls /proc/self/fd); do [ "$fd" -gt 3 ] && [ -e /proc/self/fd/$fd ] && readlink /proc/self/fd/$fd; done`,
      );
      const reached = output.split('\n').filter((line) => line.includes(CANARY) || line.includes(folder));
      return noneOf(reached.length === 0 ? [] : [`the program read ${reached.length} of them: ${reached[0]}`], 'none reached the program');
    },
  },
  {
    id: 'S83',
    tried: 'leave a set-user-id program or a device in the workspace',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      const output = await target.shell(
        `cp /bin/true su; chmod 4755 su; cp /bin/true sg; chmod 2755 sg; mkdir deep; cp /bin/true deep/su; chmod 6755 deep/su; mknod node c 1 3 2>/dev/null; ` +
          `awk -v w="$PWD" '$5 == w { print "FLAGS " $6 }' /proc/self/mountinfo`,
      );
      const flags = /^FLAGS (.*)$/m.exec(output)?.[1]?.split(',') ?? [];
      const found = ['nosuid', 'nodev'].filter((flag) => !flags.includes(flag)).map((flag) => `the workspace is not mounted ${flag}`);
      for (const name of ['su', 'sg', 'deep/su', 'node']) {
        const file = lstatSync(join(workspace, name), { throwIfNoEntry: false });
        if (file?.isCharacterDevice()) found.push(`${name} is a device`);
        if (file && world.isRoot && (file.mode & 0o6000) !== 0)
          found.push(`${name} has mode ${(file.mode & 0o7777).toString(8)} and belongs to uid ${file.uid}`);
      }
      return noneOf(found, `mounted ${flags.join(',')}; nothing is left that changes who runs it`);
    },
  },
  {
    id: 'S83',
    tried: 'go on after the call: a program in the background, one in a session of its own',
    sandboxed: true,
    quick: true,
    async run(world) {
      const target = await world.shared();
      const mark = `86400.${process.pid}${Date.now() % 100_000}`;
      await target.shell(`sleep ${mark} & setsid sleep ${mark} & (setsid sleep ${mark} &) ; true`);
      const end = performance.now() + 10_000;
      while (runningWith(mark).length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
      return noneOf(
        runningWith(mark).map((pid) => `process ${pid} goes on`),
        'all ended with the call',
      );
    },
  },
  {
    id: 'S46',
    tried: 'a storm of eight thousand processes of a program of the agent',
    sandboxed: true,
    async run(world) {
      const target = await world.shared();
      const mark = `86401.${process.pid}${Date.now() % 100_000}`;
      const storm = target.use('exec', {
        argv: ['sh', '-c', `i=0; while [ $i -lt 8000 ]; do sleep ${mark} & i=$((i+1)); done; echo started; wait`],
        timeoutMs: 20_000,
      });
      let most = 0;
      let isOver = false;
      const watch = (async () => {
        while (!isOver) {
          most = Math.max(most, runningWith(mark).length);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      const health = await target.admin.request('health');
      await storm.finally(() => {
        isOver = true;
      });
      await watch;
      const end = performance.now() + 10_000;
      while (runningWith(mark).length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
      const left = runningWith(mark).length;
      if (!health.ok) return broke('the gateway did not answer meanwhile');
      if (left > 0) return broke(`${left} processes are left`);
      // For root the kernel has no bound on some systems, and the gateway looks and ends it: a moment later, but not never.
      return most > 6_000 ? broke(`${most} processes ran at once, without a bound`) : held(`at most ${most} at once, none left`);
    },
  },
  {
    id: 'S83',
    tried: 'print two gigabytes',
    sandboxed: true,
    async run(world) {
      const target = await world.own();
      await target.shell('echo warm');
      const before = residentBytes(target.gateway.pid).now;
      const { text } = await target.use('exec', {
        argv: ['sh', '-c', `yes ${'0123456789'.repeat(6)} | head -c 2000000000`],
        timeoutMs: 120_000,
      });
      const grown = residentBytes(target.gateway.pid).peak - before;
      if (text.length > 2_000_000) return broke(`${text.length} characters came back`);
      return grown > 150_000_000
        ? broke(`the gateway grew by ${Math.round(grown / 1e6)} MB`)
        : held(`cut to ${text.length} characters; the gateway grew by ${Math.round(grown / 1e6)} MB`);
    },
  },
  {
    id: 'S57',
    tried: 'file tools: leave the workspace by links, .. and absolute paths (16 ways)',
    quick: true,
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      const outside = world.folder();
      writeFileSync(join(outside, 'secret'), CANARY);
      mkdirSync(join(workspace, 'sub'));
      symlinkSync(outside, join(workspace, 'out'));
      symlinkSync(join(outside, 'secret'), join(workspace, 'file'));
      symlinkSync('../../..', join(workspace, 'sub', 'up'));
      symlinkSync(target.home, join(workspace, 'home'));
      const paths = [
        join(outside, 'secret'),
        'out/secret',
        'file',
        'sub/../out/secret',
        `sub/up/../../../../../../../../${outside}/secret`,
        'home/token',
        join(target.home, 'token'),
        '/proc/self/environ',
      ];
      const found: string[] = [];
      for (const path of paths) {
        const { text } = await target.use('read', { path });
        if (text.includes(CANARY) || text.includes(target.gateway.token)) found.push(`read ${path}`);
        await target.use('write', { path: path.endsWith('secret') ? path.replace('secret', 'made') : path, content: 'evil' });
      }
      if (existsSync(join(outside, 'made'))) found.push('a file was made outside');
      if (readFileSync(join(outside, 'secret'), 'utf8') !== CANARY) found.push('a file outside was changed');
      if (readFileSync(join(target.home, 'token'), 'utf8').trim() !== target.gateway.token) found.push('the token was changed');
      return noneOf(found, `${paths.length * 2} ways, none leads out`);
    },
  },
  {
    id: 'S57',
    tried: 'swap a folder for a link while the file tools work in it (a race of 60 calls)',
    async run(world) {
      const target = await world.shared();
      const workspace = target.emptyWorkspace();
      const outside = world.folder();
      writeFileSync(join(outside, 'note'), CANARY);
      mkdirSync(join(workspace, 'real'));
      writeFileSync(join(workspace, 'real', 'note'), 'mine');
      const loop = `cd '${workspace}'; while :; do ln -sfn real place; ln -sfn '${outside}' place; done`;
      const swapper = spawn('sh', ['-c', loop], { stdio: 'ignore' });
      world.after(() => swapper.kill('SIGKILL'));
      const found: string[] = [];
      for (let round = 0; round < 30; round++) {
        if ((await target.use('read', { path: 'place/note' })).text.includes(CANARY)) found.push(`round ${round}: read outside`);
        await target.use('write', { path: 'place/made', content: 'evil' });
      }
      if (existsSync(join(outside, 'made'))) found.push('written outside');
      return noneOf(found, '60 calls, none got out');
    },
  },
];
