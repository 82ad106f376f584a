import { GatewayError, limits, type Result } from '@tenon/protocol';
import { requireSeen } from '../../agent/attachments.ts';
import { pressButton } from '../../agent/press-button.ts';
import { cleanFileName } from '../../kernel/file-name.ts';
import { randomId } from '../../kernel/ids.ts';
import type { KeptFile } from '../../store/attachment-files.ts';
import type { Upload } from '../../store/attachments.ts';
import type { Committed, Handlers, RequestContext } from '../handler.ts';

const DEFAULT_PAGE = 50;
const MAX_PENDING = 1_000;

export const attachmentHandlers = {
  'attachments.begin': {
    commit({ name, bytes, sessionKey }, { commit, clock, principal, files }) {
      const at = clock.now();
      return commit('attachments.begin', {
        uploadId: randomId(),
        name: cleanFileName(name),
        bytes,
        ...boundKey(sessionKey, principal.sessionKey),
        owner: principal.id,
        expiresAt: at + limits.uploadTtlMs.value,
        bounds: { open: limits.openUploads.value, openPerOwner: limits.openUploadsPerCredential.value },
        quotas: files.quotas,
        at,
      });
    },
    present: ({ uploadId, expiresAt }: Upload) => ({ uploadId, chunkBytes: limits.attachmentChunkBytes.value, expiresAt }),
  },

  'attachments.chunk': async ({ uploadId, offset, data }, context) => {
    const { upload, kept } = await findUpload(uploadId, context);
    if (kept) return { uploadId, offset: kept.bytes, bytes: kept.bytes };
    // By its length, before anything is decoded.
    const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
      throw new GatewayError('INVALID_REQUEST', 'params/data is not base64', { details: { code: 'INVALID_PARAMS' } });
    const end = offset + (data.length / 4) * 3 - padding;
    if (end > upload.bytes)
      throw new GatewayError('TOO_LARGE', `The upload was begun with ${upload.bytes} bytes, and this would be ${end}`, {
        details: { code: 'MORE_THAN_DECLARED', bytes: upload.bytes },
      });
    const there = await context.files.append(uploadId, offset, Buffer.from(data, 'base64'));
    if (there !== undefined) return { uploadId, offset: there, bytes: upload.bytes };
    const received = await context.files.received(uploadId);
    throw new GatewayError('CONFLICT', `The upload has ${received} bytes; go on from there, not from ${offset}`, {
      details: { code: 'WRONG_OFFSET', offset: received },
    });
  },

  'attachments.commit': ({ uploadId, sha256 }, context) => {
    const { commit, commitAfter, keepAnswer, clock, files } = context;
    return commitAfter(async (): Promise<Committed<Result<'attachments.commit'>>> => {
      const { upload, kept } = await findUpload(uploadId, context);
      if (kept) return keepAnswer({ attachment: kept });
      const received = await files.received(uploadId);
      if (received !== upload.bytes)
        throw new GatewayError('CONFLICT', `The upload has ${received} of ${upload.bytes} bytes; send the rest first`, {
          details: { code: 'INCOMPLETE', offset: received },
        });
      const check = (file: KeptFile) => {
        if (sha256 === undefined || sha256 === file.sha256) return;
        throw new GatewayError('CONFLICT', 'The bytes that arrived are not those of params/sha256; abort it and upload it anew', {
          details: { code: 'WRONG_DIGEST', sha256: file.sha256 },
        });
      };
      const { name, owner } = upload;
      return files.keepUpload(uploadId, check, (file) => {
        return commit('attachments.commit', { ...file, handle: randomId(), uploadId, name, owner, quotas: files.quotas, at: clock.now() });
      });
    });
  },

  'attachments.abort': ({ uploadId }, context) =>
    context.commitAfter(async () => {
      const { upload } = await context.store.read('attachments.upload', { uploadId, at: context.clock.now() });
      const isOwn = upload?.owner === context.principal.id;
      const answer = isOwn
        ? await context.commit('attachments.abort', { uploadId })
        : await context.keepAnswer({ uploadId, aborted: false });
      if (isOwn) await context.files.dropUpload(uploadId);
      return answer;
    }),

  'attachments.list': async ({ sessionKey, limit = DEFAULT_PAGE, cursor }, { store, principal, files }) => {
    const bound = boundKey(sessionKey, principal.sessionKey);
    const page = await store.read('attachments.list', { limit, ...bound, ...(cursor === undefined ? {} : { cursor }) });
    const { used, ...rest } = page;
    const { sessionBytes, totalBytes } = files.quotas;
    return { ...rest, usage: { ...used, maxBytes: bound.sessionKey === undefined ? totalBytes : sessionBytes } };
  },

  'attachments.remove': ({ handle }, { commit, commitAfter, store, clock, principal, files }) =>
    commitAfter(async () => {
      const { attachment } = await store.read('attachments.get', { handle });
      requireSeen(attachment, principal);
      const removed = await commit('attachments.remove', { handle, by: principal.id, at: clock.now() });
      void files.sweepSoon();
      return removed;
    }),

  'deliveries.list': ({ sessionKey, limit = DEFAULT_PAGE, cursor }, { store, principal }) =>
    store.read('deliveries.list', { limit, ...boundKey(sessionKey, principal.sessionKey), ...(cursor === undefined ? {} : { cursor }) }),

  'deliveries.press': (params, context) => {
    const { commit, commitAfter, keepAnswer, clock, plugins, principal, store, turns, lanes, wake, ui } = context;
    return commitAfter(async () => {
      const pressed = await pressButton(
        { ...params, by: principal.id, held: principal.held },
        {
          ...{ store, clock, plugins: plugins(), wake, lanes, running: turns.running(params.sessionKey), commit, keepAnswer },
          answered: ui.answered,
        },
      );
      if (pressed.answer?.ok && pressed.answer.runId !== undefined) turns.accepted(params.sessionKey);
      return pressed;
    });
  },

  'actions.pending': ({ sessionKey }, { store, principal }) => {
    const { sessionKey: key } = boundKey(sessionKey, principal.sessionKey);
    return store.read('actions.pending', { limit: MAX_PENDING, ...(key === undefined ? {} : { key }) });
  },

  'actions.dismiss': ({ id }, { commit, clock, principal }) =>
    commit('actions.dismiss', { id, at: clock.now(), ...(principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey }) }),
} satisfies Partial<Handlers>;

/** Somebody who is bound to a session sees that one; another one is not there for them. */
function boundKey(asked: string | undefined, own: string | undefined): { sessionKey?: string } {
  if (own !== undefined && asked !== undefined && asked !== own) throw new GatewayError('NOT_FOUND', `Cannot find session "${asked}"`);
  const sessionKey = own ?? asked;
  return sessionKey === undefined ? {} : { sessionKey };
}

/** An upload of somebody else is not there. */
async function findUpload(
  uploadId: string,
  { store, clock, principal }: RequestContext,
): Promise<{ upload: Upload; kept?: undefined } | { upload?: undefined; kept: Result<'attachments.commit'>['attachment'] }> {
  const { upload, kept } = await store.read('attachments.upload', { uploadId, at: clock.now() });
  if (upload?.owner === principal.id) return { upload };
  if (kept?.owner === principal.id) return { kept };
  throw new GatewayError('NOT_FOUND', `Cannot find upload "${uploadId}"; it may have expired: begin anew`, {
    details: { code: 'NO_UPLOAD' },
  });
}
