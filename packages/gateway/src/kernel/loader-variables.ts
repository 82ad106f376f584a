// Variables of the environment that make some program load or run something else, by their class. Nobody who hands variables
// on to programs takes one of these from somebody else.

/** Names by class. `_` at the end stands for every name that begins so. */
const LOADERS = [
  ...['LD_', 'DYLD_', 'GCONV_PATH', 'LOCPATH', 'MALLOC_', 'GLIBC_TUNABLES', 'HOSTALIASES', 'RES_OPTIONS'],
  ...['PATH', 'HOME', 'SHELL', 'IFS', 'ENV', 'BASH_', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'PROMPT_COMMAND', 'CDPATH', 'ZDOTDIR'],
  ...['NODE_', 'NPM_', 'YARN_', 'BUN_', 'DENO_', 'TS_NODE_', 'ELECTRON_', 'V8_', 'OPENSSL_', 'SSLKEYLOGFILE'],
  ...['PYTHON', 'PERL', 'RUBY', 'GEM_', 'BUNDLE_', 'LUA_', 'PHP_', 'PHPRC', 'R_', 'JULIA_', 'TCLLIBPATH'],
  ...['JAVA_', '_JAVA_', 'JDK_', 'MAVEN_', 'GRADLE_', 'CLASSPATH', 'DOTNET_', 'CORECLR_', 'COR_', 'MONO_'],
  ...['GIT_', 'SSH_', 'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'LESSOPEN', 'LESSCLOSE', 'BROWSER', 'TENON_'],
  ...['CC', 'CXX', 'MAKEFLAGS', 'MFLAGS', 'CARGO_', 'RUSTC', 'RUSTFLAGS', 'GOFLAGS', 'GOROOT', 'CGO_', 'DOCKER_HOST'],
];

/** Of those classes, the ones that say something and load nothing. */
const HARMLESS = ['NODE_ENV', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];

export function isLoaderVariable(name: string): boolean {
  if (HARMLESS.includes(name)) return false;
  const upper = name.toUpperCase();
  return LOADERS.some((entry) => upper === entry || (isStem(entry) && upper.startsWith(entry)));
}

function isStem(entry: string): boolean {
  return entry.endsWith('_') || ['PYTHON', 'PERL', 'RUBY', 'RUSTC'].includes(entry);
}
