// The pairing request that somebody typed the beginning of.
import type { PairingRequest } from '@tenon/protocol';
import type { CommandContext } from '../context.ts';
import { pick } from './pick.ts';

export async function pickRequest(typed: string, call: CommandContext['call']): Promise<PairingRequest> {
  const { requests } = await call('device.pair.list');
  const named = requests.map((request) => ({ id: request.requestId, name: request.name, request }));
  return pick(named, typed, 'device').request;
}
