// What a plugin, and whoever reads its refusal, is told when a right is missing: its name, and how it is given. One place, so that
// every refusal says both.

/** How the operator gives it, as it is typed. */
function command(plugin: string, grant: string): string {
  return `tenon plugin grant ${plugin} ${grant}`;
}

/** What follows the words that name the grant. `asked`: what the manifest asks for; what it does not, nobody can give. */
export function howToGrant(plugin: string, grant: string, asked?: ReadonlySet<string>): string {
  if (asked && !asked.has(grant)) return 'its manifest does not ask for it, so that the operator cannot give it';
  return `the operator gives it with: ${command(plugin, grant)}`;
}

export function missingGrant(plugin: string, grant: string, asked?: ReadonlySet<string>): string {
  return `plugin ${plugin} needs the grant ${grant}; ${howToGrant(plugin, grant, asked)}`;
}
