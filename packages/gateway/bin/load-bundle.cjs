// Loads the bundle, with the code cache that the build made if there is one for this Node: it holds what V8 compiled while
// a gateway started and was asked things, which saves a fifth of the start. Node's own compile cache holds only the
// outermost functions; it serves where ours does not fit.
'use strict';
const fs = require('node:fs');
const module_ = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { Worker } = require('node:worker_threads');

const root = path.join(fs.realpathSync(__dirname), '..');
const bundle = path.join(root, 'dist', 'tenon.cjs');

exports.start = function start() {
  if (!fs.existsSync(bundle)) {
    process.stderr.write('tenon: the program is not built yet: run `npm install` (or `npm run build`) in the folder of the repository\n');
    process.exit(1);
  }
  const writer = bootWriter();
  const source = fs.readFileSync(bundle, 'latin1');
  const cachedData = readIfThere(cacheFile(source));
  const program = cachedData ? evaluate(source, cachedData).program : loadPlainly();
  program.main(writer);
};

// The store's thread takes as long to boot as the program takes to load: both at once, a quarter of the time to the
// first answer is saved. It does not keep the process alive until the store takes it.
function bootWriter() {
  if (process.argv[2] !== 'start') return undefined;
  const writer = new Worker(path.join(root, 'dist', 'sqlite-writer.cjs'), {
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });
  writer.unref();
  return writer;
}

/** For the build: the program, and what V8 has compiled of it when `createCache` is called. */
exports.loadForCache = function loadForCache() {
  const source = fs.readFileSync(bundle, 'latin1');
  const { program, script } = evaluate(source, undefined);
  return { program, file: cacheFile(source), createCache: () => script.createCachedData() };
};

// V8 holds a cache against the length of the source only, so the name carries the id that the build put on the first line.
function cacheFile(source) {
  const id = source.slice(0, 64).match(/^\/\* ([0-9a-f]{16}) \*\//);
  return path.join(root, 'dist', `tenon-${id ? id[1] : 'none'}-${process.version}-${process.arch}.cache`);
}

function evaluate(source, cachedData) {
  const script = new vm.Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: bundle,
    cachedData,
  });
  const loaded = { exports: {} };
  script.runInThisContext()(loaded.exports, module_.createRequire(bundle), loaded, bundle, path.dirname(bundle));
  return { script, program: loaded.exports };
}

// Node's default for its cache is the folder for temporary files, where others may write too: whoever can put a file
// there could put code of theirs in our place. So it is beside the program, or in the user's own cache folder.
function loadPlainly() {
  const own = process.env.XDG_CACHE_HOME || path.join(require('node:os').homedir(), '.cache');
  for (const folder of [path.join(root, 'node_modules', '.cache', 'tenon'), path.join(own, 'tenon')]) {
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.accessSync(folder, fs.constants.W_OK);
      if (module_.enableCompileCache(folder).status !== module_.constants.compileCacheStatus.FAILED) break;
    } catch {
      // Slower without, no worse.
    }
  }
  return require(bundle);
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}
