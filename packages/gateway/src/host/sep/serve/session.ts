// `session/*`: an extension writes into the session of the dispatch whose context it gives. Whether that is under way, and is one that
// may write, was looked at before; here is which session it is, and what each method means.
import { limits as gatewayLimits, type JsonObject } from '@tenon/protocol';
import { limits } from '@tenon/protocol/sep/wire';
import { hideHandedOut, hideHandedOutIn } from '../../../kernel/redact.ts';
import { refused, refusedBy } from './refused.ts';
import type { ShownEntry } from '../bridge/renderers.ts';
import type { Served, ServedCall } from './serve.ts';
import type { DeskPlace, SessionDesk } from './session-desk.ts';

export interface ServeSessionDeps {
  readonly extension: string;
  /** Without it, there are no sessions here. */
  readonly desk: SessionDesk | undefined;
  /** How people see an entry, where the extension has said so. */
  readonly shown: (entry: JsonObject) => ShownEntry | undefined;
}

export function serveSession({ extension: plugin, desk, shown }: ServeSessionDeps): Served {
  async function at<Result>(
    { dispatch }: ServedCall,
    work: (desk: SessionDesk, place: DeskPlace) => Promise<Result>,
  ): Promise<Awaited<Result>> {
    const { sessionKey, runId, asked = false } = dispatch ?? {};
    if (!desk || sessionKey === undefined) throw refused('no-session', 'it was not asked in a session');
    return await refusedBy(work(desk, { plugin, sessionKey, runId, asked }));
  }

  return {
    'session/send_message': ({ text, role = 'assistant' }, call) => {
      mustFit(text);
      return at(call, (to, place) => to.say(place, hideHandedOut(text), role));
    },
    'session/send_user_message': ({ text, deliver_as: how = 'follow_up' }, call) => {
      mustFit(text);
      return at(call, (to, place) =>
        how === 'next_turn' ? to.tellNext(place, hideHandedOut(text)) : to.tell(place, hideHandedOut(text), modes[how]),
      );
    },
    'session/append_entry': ({ entry: given }, call) => {
      const entry = hideHandedOutIn(given);
      const bytes = Buffer.byteLength(JSON.stringify(entry));
      const { value: allowed } = limits.entryBytes;
      if (bytes > allowed)
        throw refused('limit', `the entry has ${bytes} bytes; ${allowed} are possible`, { limit: 'entryBytes', allowed });
      return at(call, (to, place) => to.keep(place, entry as JsonObject, shown(entry as JsonObject)));
    },
    'session/set_model': ({ model, provider, thinking }, call) =>
      at(call, (to, place) =>
        to.setModel(place, { model, ...(provider === undefined ? {} : { provider }), ...(thinking === undefined ? {} : { thinking }) }),
      ),
    'session/state': (_, call) => at(call, async (to, place) => ({ state: await to.state(place) })),
  };
}

const modes = { steer: 'steer', follow_up: 'followup' } as const;

function mustFit(text: string): void {
  const { value: allowed } = gatewayLimits.messageChars;
  if (text.length > allowed)
    throw refused('limit', `the text has ${text.length} characters; ${allowed} are possible`, { limit: 'messageChars', allowed });
}
