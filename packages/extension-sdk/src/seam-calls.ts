// Methods beyond SEP that an extension may call, as the protocol's tables say them.
import type { methods, SepMethodName } from '@tenon/protocol/sep/wire';
import type { SepParams, SepResult } from '@tenon/protocol/sep';

/** Methods in this direction that are not in SEP. */
export type Beyond<Direction> = {
  [Name in SepMethodName]: (typeof methods)[Name] extends { readonly beyond: true; readonly direction: Direction } ? Name : never;
}[SepMethodName];

/** What the host can be asked for. */
export type SeamCalls = {
  [Name in Beyond<'to-host'>]: { readonly params: SepParams<Name>; readonly result: SepResult<Name> };
};
