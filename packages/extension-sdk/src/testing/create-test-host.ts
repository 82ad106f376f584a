// A host for the tests of an extension, in the same process: every call crosses the wire as text, and everything is held
// against the protocol's schemas.
import { linkedPair, type Extension } from '../index.ts';
import { frameCheck } from './check-frames.ts';
import { ScriptedHost, type ScriptedHostOptions } from './scripted-host.ts';

export type TestHostOptions = ScriptedHostOptions;
export type TestHost = ScriptedHost;

/** Connected; `initialize` is called by itself with the first call. Close it at the end of the test. */
export function createTestHost(extension: Extension, options: TestHostOptions = {}): TestHost {
  const [near, far] = linkedPair();
  extension.connect(far);
  return new ScriptedHost(near, options, frameCheck);
}
