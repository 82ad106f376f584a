// What is said of the account that the gateway runs under, by the status and by the doctor.

export function accountWarnings(uid = process.getuid?.()): string[] {
  if (uid !== 0) return [];
  return [
    'Tenon runs as root, and programs of agents do too where the workspace belongs to root: give it an account of its own, as SECURITY.md shows',
  ];
}
