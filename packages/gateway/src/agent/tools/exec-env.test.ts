// What programs get to know.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoaderVariable } from '../../kernel/loader-variables.ts';
import { execEnvironment } from './exec-env.ts';

const gateway = {
  PATH: '/bin',
  LC_ALL: 'C',
  HOME: '/home/me',
  OPENAI_API_KEY: 'secret',
  TOKEN: 'secret',
  MINE: 'secret',
  NODE_OPTIONS: '--x',
};
const none = { gateway, names: [], keys: [], further: {}, home: '/workspace' };

test('programs get the usual names and nothing else', () => {
  assert.deepEqual(execEnvironment(none), { all: { PATH: '/bin', LC_ALL: 'C', HOME: '/workspace' }, added: {} });
  assert.equal(execEnvironment({ ...none, home: undefined }).all.HOME, '/home/me');
  assert.equal(execEnvironment({ ...none, gateway: { PATH: '.::bin:/usr/bin:' } }).all.PATH, '/usr/bin');
});

test('names of the operator are handed on, and their values are not shown', () => {
  const made = execEnvironment({ ...none, names: ['MINE', 'ABSENT'], further: { STAGE: 'test' } });
  assert.equal(made.all.MINE, 'secret');
  assert.deepEqual(made.added, { MINE: '(from the gateway)', STAGE: 'test' });
});

test('variables that load code are refused by class, whoever asks', () => {
  for (const name of [
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'PYTHONSTARTUP',
    'PYTHONPATH',
    'BASH_ENV',
    'ENV',
    'GIT_SSH_COMMAND',
    'PATH',
    'DYLD_INSERT_LIBRARIES',
    'ld_preload',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    '_JAVA_OPTIONS',
    'npm_config_registry',
    'TENON_HOME',
    'IFS',
    'HOME',
  ]) {
    assert.equal(isLoaderVariable(name), true, name);
    assert.throws(() => execEnvironment({ ...none, further: { [name]: 'x' } }), { code: 'ENV' }, name);
    assert.throws(() => execEnvironment({ ...none, names: [name] }), { code: 'ENV' }, name);
  }
  for (const name of ['MINE', 'STAGE', 'PORT', 'DEBUG']) assert.equal(isLoaderVariable(name), false, name);
});

test('keys of models and odd names are refused', () => {
  assert.throws(() => execEnvironment({ ...none, keys: ['OPENAI_API_KEY'], names: ['OPENAI_API_KEY'] }), /key of a model/);
  assert.throws(() => execEnvironment({ ...none, further: { 'A=B': 'x' } }), { code: 'ENV' });
  assert.throws(() => execEnvironment({ ...none, further: { A: 'x\0y' } }), { code: 'ENV' });
});
