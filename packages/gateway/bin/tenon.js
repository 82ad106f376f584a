#!/usr/bin/env node
// Starts the program. This file and hand-over.cjs are plain JavaScript for Node 14 and later, because they also run where
// Node is too old for the rest.
// biome-ignore lint/style/useNodejsImportProtocol: the first versions of Node 14 do not know it
import module from 'module';

const NEEDED = 24;
const require = module.createRequire(import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= NEEDED) require('./load-bundle.cjs').start();
else require('./hand-over.cjs').handOver(NEEDED);
