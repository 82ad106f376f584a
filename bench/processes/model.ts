// A model that costs next to nothing: one process, two fixed streams. A request that ends with the result of a tool gets the
// last word, any other one a call of `ls`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveJobs } from '../child.ts';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`;
const call = (id: string) =>
  `${chunk({ role: 'assistant', tool_calls: [{ index: 0, id, type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } }] })}${chunk({}, 'tool_calls')}${usage}data: [DONE]\n\n`;
const text = Buffer.from(
  `${chunk({ role: 'assistant', content: 'Four ' })}${chunk({ content: 'words ' })}${chunk({ content: 'are ' })}${chunk({ content: 'said.' })}${chunk({}, 'stop')}${usage}data: [DONE]\n\n`,
);
const LAST_IS_RESULT = Buffer.from('"role":"tool"');

let url: Promise<string> | undefined;

export const jobs = {
  url(_: object): Promise<string> {
    url ??= listen();
    return url;
  },
};

function listen(): Promise<string> {
  let calls = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(endsWithResult(body) ? text : call(`call_${calls++}`));
    });
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
  });
}

/** The last message is the result of a tool: no message of a user comes after it. */
function endsWithResult(body: Buffer): boolean {
  return body.lastIndexOf(LAST_IS_RESULT) > body.lastIndexOf('"role":"user"');
}

serveJobs(jobs);
