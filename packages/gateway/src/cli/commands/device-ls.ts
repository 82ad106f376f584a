import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { shortId } from './pick.ts';

export const deviceLs = defineCommand({
  path: 'device ls',
  alias: 'list',
  summary: 'List paired devices, and requests that wait for an answer',
  examples: ['device ls', 'device ls --json'],
  async run({ out, io, call }) {
    const { devices } = await call('device.list');
    const { requests } = await call('device.pair.list');
    const { visible } = await import('@tenon/protocol');
    const now = io.now();
    out.show({ devices, requests }, () => [
      ...(requests.length === 0
        ? []
        : [
            out.style('yellow', 'Waiting for an answer:'),
            ...out.table(
              [
                { title: 'REQUEST', cell: (row) => visible(row.requestId) },
                { title: 'DEVICE', cell: (row) => shortId(row.deviceId) },
                { title: 'NAME', cell: (row) => visible(row.name), flexible: true },
                { title: 'PLATFORM', cell: (row) => visible(row.platform) },
                { title: 'SCOPES', cell: (row) => row.scopes.join(', ') },
                { title: 'FROM', cell: (row) => visible(row.address) },
                { title: 'ENDS', cell: (row) => relative(row.expiresAt, now) },
              ],
              requests,
            ),
            '',
          ]),
      ...out.table(
        [
          { title: 'ID', cell: (row) => shortId(row.id) },
          { title: 'NAME', cell: (row) => visible(row.name), flexible: true },
          { title: 'PLATFORM', cell: (row) => visible(row.platform) },
          { title: 'SCOPES', cell: (row) => row.scopes.join(', ') },
          { title: 'STATE', cell: (row) => (row.revokedAt === null ? 'paired' : `revoked ${relative(row.revokedAt, now)}`) },
          { title: 'SEEN', cell: (row) => relative(row.lastSeenAt, now) },
        ],
        devices,
      ),
    ]);
    if (out.json) return;
    if (requests.length > 0) out.talk(`Answer with: tenon device approve ${visible(requests[0]!.requestId)}   (or reject)`);
    else if (devices.length === 0)
      out.talk('No devices. A device that connects for the first time appears here and waits for: tenon device approve <request>');
    return;
  },
});
