// Every HTTP route. The files of the page are the only others, and they are exact names, too.
import { createCompletionRoutes } from './routes/completions.ts';
import { extensionRoutes } from './routes/extensions.ts';
import { peopleRoutes } from './routes/people.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { createStatusRoutes } from './routes/status.ts';
import { transcriptRoutes } from './routes/transcripts.ts';
import type { Routes } from './route.ts';

export function createRoutes(): Routes {
  return {
    ...createStatusRoutes(),
    ...signInRoutes,
    ...transcriptRoutes,
    ...peopleRoutes,
    ...extensionRoutes,
    ...createCompletionRoutes(),
  };
}
