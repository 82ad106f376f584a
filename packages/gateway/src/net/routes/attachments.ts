// Files by their handle: `GET /attachments/<handle>`. They come from anywhere, so a browser saves them and never shows them.
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '@tenon/protocol';
import { requireSeen } from '../../agent/attachments.ts';
import { attachmentDisposition } from '../../kernel/file-name.ts';
import { securityHeaders } from '../headers.ts';
import type { Route } from '../route.ts';

export const ATTACHMENT_PATHS = '/attachments/';
const HANDLE_PATH = /^\/attachments\/([A-Za-z0-9_-]{16,64})$/;

/** The route of a path that names a handle; nothing else under it is a path. */
export function attachmentRoute(path: string): Route | undefined {
  const handle = HANDLE_PATH.exec(path)?.[1];
  return handle === undefined ? undefined : routeOf(handle);
}

function routeOf(handle: string): Route {
  return {
    method: 'GET',
    scope: 'operator.read',
    bound: 'own-session',
    async handle({ request, response, gone, principal }, { store, files, log }) {
      const { attachment } = await store.read('attachments.get', { handle });
      requireSeen(attachment, principal);
      const file = await files.open(attachment);
      if (!file)
        throw new GatewayError('UNAVAILABLE', `The file of attachment "${handle}" is not in this home folder`, {
          details: { code: 'NO_FILE' },
        });
      try {
        response.writeHead(200, {
          ...securityHeaders(),
          'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
          // Whatever it is, it is not shown in place.
          'content-type': 'application/octet-stream',
          'content-length': attachment.bytes,
          'content-disposition': attachmentDisposition(attachment.name),
        });
        if (request.method === 'HEAD') response.end();
        else await pipeline(file.createReadStream({ autoClose: false, end: attachment.bytes - 1 }), response, { signal: gone });
      } catch (error) {
        // The head has left: all that can be done is to end it.
        if (!gone.aborted) log.warn({ error, handle }, 'cannot send an attachment');
        response.destroy();
      } finally {
        await file.close();
      }
      return undefined;
    },
  };
}
