import { defineExtension } from '@tenon/extension-sdk';

/** Never, whoever asks. */
const forbidden = /\brm\s+-[a-z]*r[a-z]*f|\bmkfs\b|\bdd\s+.*of=\/dev\//;
/** Only if a person agrees. */
const delicate = /\bgit\s+push\b|\bnpm\s+publish\b/;

export const extension = defineExtension((tenon) => {
  tenon.name = '__NAME__';
  tenon.version = '0.1.0';
  // A gate that fails or hangs has the call stopped by the host: this hook fails closed.
  tenon.on('tool_call', async ({ tool, arguments: args }, { ui, hasUI }) => {
    const command = typeof args.command === 'string' ? args.command : '';
    if (forbidden.test(command)) return { block: true, reason: `"${command}" is never run here` };
    if (!delicate.test(command)) return undefined;
    if (!hasUI('confirm')) return { block: true, reason: `nobody can be asked about "${command}"` };
    const isAllowed = await ui.confirm(`May ${tool} run this?`, command);
    return isAllowed ? undefined : { block: true, reason: `somebody said no to "${command}"` };
  });
});

if (import.meta.main) extension.serve();
