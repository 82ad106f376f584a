#!/usr/bin/env node
import('../dist/create.js').then(({ runCreate }) => {
  process.exitCode = runCreate(process.argv.slice(2), process);
});
