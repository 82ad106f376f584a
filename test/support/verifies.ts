// How a test says which requirements it proves. The call does nothing at run time: test/contract/requirements.test.ts
// reads the calls from the source, and the type refuses an id that does not exist.
import type { RequirementId } from '../requirements.ts';

export function verifies(..._ids: readonly [RequirementId, ...RequirementId[]]): void {}
