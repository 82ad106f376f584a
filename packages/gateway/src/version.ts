// The version of the program, from its package.json: read by Node when run from source, inlined by the bundler otherwise.
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;
