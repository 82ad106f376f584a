// Which files a command runs, from its words alone. What is not listed as open must be known completely.
import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { test } from 'node:test';
import { verifies } from '../../../../../test/support/verifies.ts';
import { parseCommand } from './argv.ts';
import { codeOf } from './code-of.ts';

const ROOT = '/project';
const contents: Readonly<Record<string, string>> = {
  'run.sh': 'echo hello\n',
  'sub/run.sh': 'echo hello\n',
  'main.sh': 'set -e\n. ./lib.sh\necho done\n',
  'lib.sh': 'echo lib\n',
  'deep.sh': 'sh main.sh && cat notes.txt\n',
  'moves.sh': 'cd sub && sh run.sh\n',
  'made.sh': 'sh "$1"\n',
  'lone.sh': '. ./lone.sh\n',
  tool: '#!/bin/sh -e\n. ./lib.sh\n',
  envtool: '#!/usr/bin/env bash\necho hello\n',
  'script.py': '#!/usr/bin/python3\nimport lib\n',
  binary: '\x7fELF\0\0',
  plain: 'sh run.sh\n',
};

function look(command: string | readonly string[], path: readonly string[] = ['/usr/bin']) {
  const line = typeof command === 'string' ? parseCommand(command) : { kind: 'argv' as const, argv: command };
  assert.ok(line.kind !== 'bad');
  return codeOf(line.argv, {
    root: ROOT,
    cwd: ROOT,
    path,
    read: async (file) => {
      const content = contents[relative(ROOT, file)];
      return content === undefined ? undefined : Buffer.from(content);
    },
  });
}

const shown = (files: readonly string[]) => files.map((file) => relative(ROOT, file)).sort();

test('S52 a command of a shape that is known completely lists every file that it runs', async () => {
  verifies('S52');
  for (const [command, ...files] of [
    ['ls -la'],
    ['cat notes.txt > out 2>&1'],
    ['grep -r x . | wc -l'],
    ['echo $HOME *.txt; sleep 1 &'],
    ['find . -name "*.sh" -type f'],
    ['/bin/cat x'],
    ['sh run.sh', 'run.sh'],
    ['sh ./sub/run.sh arg', 'sub/run.sh'],
    ['cd sub && sh run.sh', 'sub/run.sh'],
    ['(cd sub && sh run.sh)', 'sub/run.sh'],
    ['cd sub && cd .. && sh run.sh', 'run.sh'],
    ['sh -c "sh run.sh"', 'run.sh'],
    [`sh -c "sh -c 'cd sub && sh run.sh'"`, 'sub/run.sh'],
    ['bash -euc "sh run.sh" x y', 'run.sh'],
    ['sh -eux -o pipefail run.sh', 'run.sh'],
    ['sh main.sh', 'lib.sh', 'main.sh'],
    ['sh deep.sh', 'deep.sh', 'lib.sh', 'main.sh'],
    ['sh moves.sh', 'moves.sh', 'sub/run.sh'],
    ['sh lone.sh', 'lone.sh'],
    ['. ./lib.sh', 'lib.sh'],
    ['sh < run.sh', 'run.sh'],
    ['./tool', 'lib.sh', 'tool'],
    ['./envtool', 'envtool'],
    ['./plain', 'plain', 'run.sh'],
    ['env X=1 sh run.sh', 'run.sh'],
    ['env -S "sh run.sh"', 'run.sh'],
    ['nice -n 5 timeout 10 sh run.sh', 'run.sh'],
    ['X=1 sh run.sh', 'run.sh'],
    ['eval "sh run.sh"', 'run.sh'],
    ['if [ -f x ]; then sh run.sh; else exit 1; fi', 'run.sh'],
    ['echo "$(sh run.sh)" `cat x`', 'run.sh'],
    ['cat <<E\nsh run.sh\nE\nls'],
    ['command -v node'],
  ] as const) {
    const code = await look(command);
    assert.deepEqual(shown(code.files), files, command);
    assert.deepEqual(code.open, [], command);
  }
});

test('S52 whatever else a command may run is said, and the files that can be known are listed all the same', async () => {
  verifies('S52');
  for (const [command, ...files] of [
    ['sh ./r?n.sh'],
    ['sh $X'],
    ['sh "$X"'],
    ['$X run.sh'],
    ['sh ~/run.sh'],
    ['cat run.sh | sh'],
    ['sh <<E\n. ./run.sh\nE'],
    ['sh <<< "sh run.sh"'],
    ['bash <(cat run.sh)'],
    ['while read l; do sh; done < run.sh'],
    ['find . -exec sh {} ;'],
    ['find . $X'],
    ['echo run.sh | xargs sh'],
    ['make'],
    ['npm test'],
    ['git status'],
    ['sed -f x.sed y'],
    ['python3 script.py', 'script.py'],
    ['node run.sh', 'run.sh'],
    ['perl -pi -e s/a/b/ run.sh'],
    ['zsh run.sh', 'run.sh'],
    ['bash -l run.sh', 'run.sh'],
    ['bash --rcfile run.sh -i', 'run.sh'],
    ['sh gone.sh', 'gone.sh'],
    ['sh /tmp/run.sh'],
    ['/tmp/program'],
    ['./script.py', 'script.py'],
    ['./binary', 'binary'],
    ['sh made.sh run.sh', 'made.sh'],
    ['cd sub; sh run.sh', 'run.sh', 'sub/run.sh'],
    ['cd sub || sh run.sh', 'run.sh', 'sub/run.sh'],
    ['(cd sub) && sh run.sh', 'run.sh', 'sub/run.sh'],
    ['cd $X && sh run.sh'],
    ['cd - && sh run.sh'],
    ['. ./moves.sh && sh run.sh', 'moves.sh', 'sub/run.sh'],
    ['f() { cd sub; }; f && sh run.sh', 'run.sh', 'sub/run.sh'],
    ['PATH=.:$PATH sh run.sh', 'run.sh'],
    ['LD_PRELOAD=./x.so cat y'],
    ['export BASH_ENV=run.sh; bash -c ls'],
    ['env LD_PRELOAD=./x.so cat y'],
    ['env -S "sh $X"'],
    ['env -C sub sh run.sh'],
    ['eval "$X"'],
    ['alias cat="sh run.sh"; cat x'],
    ["trap 'sh run.sh' EXIT"],
    ['case x in x) sh run.sh;; esac', 'run.sh'],
    ["echo $'\\'' ; sh run.sh #'"],
    ["[[ 'a[$(sh run.sh)]' -eq 1 ]]"],
    ['sort --compress-program=./run.sh x'],
    ['cat "$(case x in x) sh run.sh;; esac)"'],
    ['cat "$(cat <<E\n)\nE\nsh run.sh)"'],
    ['unknown-program'],
    ['pushd sub && sh run.sh'],
  ] as const) {
    const code = await look(command);
    assert.notDeepEqual(code.open, [], command);
    for (const file of files) assert.ok(shown(code.files).includes(file), `${command}: ${file} of ${shown(code.files)}`);
  }
});

test('what the command may change itself is told apart from what it only runs', async () => {
  for (const [command, ...changed] of [
    ['cat run.sh && sh run.sh > /dev/null', '../dev/null'],
    ['chmod +x run.sh && ./run.sh', '+x', 'run.sh'],
    ['cd sub && cp ../lib.sh run.sh && sh run.sh', 'lib.sh', 'sub/run.sh'],
    ['echo x > run.sh; sh run.sh', 'run.sh'],
    ['{ echo x; } >> run.sh', 'run.sh'],
    ['chmod +x *.sh', '', '+x'],
    ['git pull && sh run.sh', '', 'pull'],
    ['python3 script.py run.sh', 'run.sh'],
    ['find . -name x'],
    ['find sub -delete', 'sub'],
  ] as const)
    assert.deepEqual(shown((await look(command)).changed), changed, command);
});

test('S52 a folder of the workspace in PATH leaves every command open', async () => {
  verifies('S52');
  const code = await look('cat x', [`${ROOT}/bin`, '/usr/bin']);
  assert.match(code.open.join(), /Programs in “bin”, which PATH names/);
  assert.ok(code.named.includes(`${ROOT}/bin/cat`));
});

test('what cannot be said in full is said to be more', async () => {
  const many = await look(Array.from({ length: 200 }, (_, index) => `make${index}`).join(';'));
  assert.ok(many.open.length < 40 && many.open.includes('And more of that kind'));
  const nested = await look(['sh', '-c', 'x'.padEnd(10)].concat());
  assert.equal(nested.open.length, 1);
});
