// The least that can be between two processes: a line of JSON in, a line of JSON out, and what comes together leaves together.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  let out = '';
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    out += `${JSON.stringify({ jsonrpc: '2.0', id, result: { content: params?.arguments?.text ?? '' } })}\n`;
  }
  process.stdout.write(out);
});
process.stdin.on('end', () => process.exit());
