// What Tenon has to do, by id. Tests cite ids with `verifies(...)`; test/contract/requirements.test.ts fails while an id
// of a finished issue is cited by none. The lists are in test/requirements/, each with the texts in our own words.
import { attacks } from './requirements/attacks.ts';
import { foundation } from './requirements/foundation.ts';
import { promises } from './requirements/promises.ts';
import { seams } from './requirements/seams.ts';
import { seeds } from './requirements/seeds.ts';
import { sep } from './requirements/sep.ts';
import { turns } from './requirements/turns.ts';

export const requirements = { ...seeds, ...foundation, ...promises, ...attacks, ...seams, ...sep, ...turns };

export type RequirementId = keyof typeof requirements;

/** Numbers of the issues whose every id must be cited. */
export const finishedIssues: readonly number[] = [1, 2, 3, 4, 5, 6];
