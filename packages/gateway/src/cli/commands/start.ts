import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { readStartConfig, settingOptions } from './start-config.ts';

export const start = defineCommand({
  path: 'start',
  summary: 'Start the gateway, in the foreground',
  examples: ['start', 'start --port 0 --json', 'start --auth none', 'start --log-level debug'],
  options: settingOptions,
  async run({ globals, options, io }) {
    for (const name of ['url', 'timeout'] as const) {
      if (globals[name] !== undefined) throw usageError(`--${name} has no meaning for start`);
    }
    const { config, token } = await readStartConfig(globals, options, io);
    const { runGateway } = await import('../../main.ts');
    return runGateway({ config, json: globals.json, ...(token === undefined ? {} : { token }) });
  },
});
