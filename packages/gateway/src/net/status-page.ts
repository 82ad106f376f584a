// The page at `/` until there is a better one: says that the gateway runs, how it does, and what to do next.
import { type Health, visible } from '@tenon/protocol';

export function statusPage({
  version,
  health,
  warnings,
  nonce,
}: {
  version: string;
  health: Health;
  warnings: readonly string[];
  nonce: string;
}): string {
  const problems = (health.problems ?? []).map((problem) => `${problem.part}: ${problem.reason}`);
  const notes = [...problems, ...warnings];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tenon gateway</title>
<style nonce="${nonce}">
:root { font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 12vh auto 4rem; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.state { display: flex; gap: .5rem; align-items: center; margin: 0 0 1.5rem; }
.dot { width: .75rem; height: .75rem; border-radius: 50%; background: ${health.ok ? '#1a7f37' : '#b35900'}; }
pre { padding: .75rem 1rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem; overflow: auto; }
</style>
</head>
<body>
<main>
<h1>Tenon gateway ${escapeHtml(version)}</h1>
<p class="state"><span class="dot" aria-hidden="true"></span><span>${health.ok ? 'Running and well' : 'Running, with a problem'}</span></p>
${notes.length > 0 ? `<ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>` : ''}
<p>Talk to it from a terminal:</p>
<pre><code>npx tenon status
npx tenon session new --title "First session"
npx tenon session ls</code></pre>
<p>Programs connect by WebSocket to this address with the token from the token file.</p>
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
