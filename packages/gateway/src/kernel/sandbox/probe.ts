// What has to hold in a sandbox, looked at by a shell in it. Nearly all of it is done by the shell itself: the start of a
// gateway waits for no chain of processes.
import { readlinkSync } from 'node:fs';
import { escaped, type Profile } from './profile.ts';

export const HOLDS = 'tenon-sandbox-holds';

const SCRIPT = `
fail() { echo "it runs, but $1"; exit 1; }
: > made || fail 'the workspace cannot be written'
[ "$(readlink /proc/self/ns/pid)" != "$OUTSIDE" ] || fail 'it shows the processes of the system'
found=
while read -r _ _ _ _ point flags _; do
  case "$point ,$flags," in
    "$WORKSPACE "*,nosuid,nodev,*) found="$found workspace" ;;
    /proc/*\\ ,ro,*) found="$found $point" ;;
  esac
done < /proc/self/mountinfo
for need in workspace $READ_ONLY; do
  case "$found " in *" $need "*) ;; *) fail "$need is not protected" ;; esac
done
[ ! -w /proc/sys/kernel/core_pattern ] || fail '/proc/sys can be written'
for file in $MASKED; do [ ! -f "$file" ] || fail "$file can be read"; done
while read -r name value _; do
  case "$name$value" in
    NoNewPrivs:1 | CapPrm:0000000000000000 | CapEff:0000000000000000) ;;
    NoNewPrivs:* | CapPrm:* | CapEff:*) fail "programs keep rights ($name$value)" ;;
  esac
done < /proc/self/status
for file in /proc/self/fd/*; do
  case $file in
    */[012]) ;;
    *) [ ! -e "$file" ] || [ "$file" -ef /dev/null ] || fail "descriptor \${file##*/} of the gateway reaches programs" ;;
  esac
done
echo ${HOLDS}`;

export const probeArgv = ['/bin/sh', '-c', SCRIPT];

export function probeVariables({ workspace, proc }: Profile): Record<string, string> {
  return {
    OUTSIDE: readlinkSync('/proc/self/ns/pid'),
    WORKSPACE: escaped(workspace.path),
    READ_ONLY: proc.readOnly.join(' '),
    MASKED: proc.files.join(' '),
  };
}
