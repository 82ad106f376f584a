// Where Node is too old: hands over to the repository's own Node, or says in one line what to do. Runs on Node 14 and later.
// biome-ignore-all lint/style/useNodejsImportProtocol: the first versions of Node 14 do not know it
'use strict';
const childProcess = require('child_process');
const fs = require('fs');
const path = require('path');

exports.handOver = function handOver(needed) {
  const bin = fs.realpathSync(__dirname);
  const node = process.platform === 'win32' ? 'node.exe' : 'node';
  const own = path.join(bin, '..', '..', '..', 'node_modules', 'node', 'bin', node);
  if (!fs.existsSync(own))
    giveUp(`Node ${needed} or later is needed, this is ${process.versions.node}: install it from https://nodejs.org`);
  const child = childProcess.spawn(own, [path.join(bin, 'tenon.js')].concat(process.argv.slice(2)), { stdio: 'inherit' });
  // A terminal sends Ctrl-C and its own end to the child as well; to send it again would count as a second request to stop.
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => terminal || child.kill(signal));
  child.on('error', (error) => giveUp(`cannot start ${own}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};

function giveUp(reason) {
  process.stderr.write(`tenon: ${reason}\n`);
  process.exit(1);
}
