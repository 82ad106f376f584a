// The flags that every command takes.
import type { OptionValues } from './spec.ts';
import { duration, integer, on, text } from './values.ts';

export const globalOptions = {
  home: text('<folder>', 'Home folder (TENON_HOME, default ~/.tenon)'),
  url: text('<url>', 'The gateway to talk to (TENON_URL)'),
  port: integer('<port>', 'The same, by its port on this machine; for start: the port to listen on (TENON_PORT)', { min: 0, max: 65_535 }),
  token: text('<token>', 'Token, or @file, or - for stdin (TENON_TOKEN, default: the file "token" in the home folder)'),
  timeout: duration('How long to wait for the gateway, such as 500ms or 10s'),
  json: on('Data as JSON on stdout, errors as JSON on stderr'),
  plain: on('No colours'),
};

export type Globals = OptionValues<typeof globalOptions>;
