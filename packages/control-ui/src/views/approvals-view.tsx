// The inbox of approvals: what waits on top, what was decided below it, and the whole of one beside the list.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { Approval, ApprovalRule } from '@tenon/protocol';
import { visible } from '@tenon/protocol';
import { ApprovalCard } from '../chat/approval-card.tsx';
import { exactTime, shortTime, timeLeft } from '../chat/format.ts';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useMedia, useNow, usePreferences, widths } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Button, IconButton, Kbd, Pill } from '../parts/button.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { named } from '../state/approval-words.ts';
import { decidedApprovals, may, pendingApprovals } from '../state/app-state.ts';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';

export function ApprovalsView({ id }: { readonly id: string | undefined }): ReactNode {
  const approvals = useApp((state) => state.approvals);
  const isAllowed = useApp((state) => may(state, 'operator.approvals'));
  const isPhone = useMedia(widths.phone);
  const isNarrow = useMedia(widths.narrow);
  const { preferences } = usePreferences();
  const [rules, setRules] = useState(false);
  const pending = useMemo(() => pendingApprovals(approvals), [approvals]);
  const principal = useApp((state) => state.identity?.principal);
  const names = useApp((state) => state.names);
  const decided = useMemo(() => decidedApprovals(approvals).map((each) => named(each, principal, names)), [approvals, principal, names]);
  const now = useNow(pending.length > 0);
  // Beside the list something is always open; over it, only what was asked for.
  const shown = approvals.byId.get(id ?? '') ?? (isNarrow && !isPhone ? undefined : pending[0]);
  const over = isNarrow && id !== undefined && shown !== undefined;

  return (
    <div className="approvals-view">
      <header className="bar">
        {over && (
          <IconButton
            icon="chevron-left"
            label="All approvals"
            className="bar-back"
            onClick={() => navigate({ view: 'approvals', id: undefined })}
          />
        )}
        <div className="bar-title bar-title-row">
          <h1 tabIndex={-1}>Approvals</h1>
          {pending.length > 0 && (
            <Pill icon="shield" tone="warn">
              {pending.length} {pending.length === 1 ? 'waits' : 'wait'} for you
            </Pill>
          )}
        </div>
        {preferences.singleKeys && !isNarrow && pending.length > 0 && (
          <p className="bar-hint" aria-hidden="true">
            <Kbd>J</Kbd> <Kbd>K</Kbd> move <Kbd>A</Kbd> allow once <Kbd>D</Kbd> deny
          </p>
        )}
        {isAllowed &&
          (isPhone ? (
            <IconButton icon="sessions" label="Standing rules" onClick={() => setRules(true)} />
          ) : (
            <Button icon="sessions" onClick={() => setRules(true)}>
              Standing rules
            </Button>
          ))}
      </header>
      {!isAllowed ? (
        <Empty icon="lock" title="You cannot see approvals">
          Your token does not have operator.approvals. Somebody who has it can answer what waits.
        </Empty>
      ) : approvals.loaded.kind === 'loading' ? (
        <div className="pad">
          <Skeleton label="Loading approvals" />
        </div>
      ) : approvals.loaded.kind === 'failed' && approvals.byId.size === 0 ? (
        <Failed title="The approvals could not be read" error={approvals.loaded.error} />
      ) : pending.length + decided.length === 0 ? (
        <Empty icon="shield" title="Nothing waits for you">
          When an agent wants to do something that needs your word, it appears here and in its session.
        </Empty>
      ) : (
        <div className={`split${over ? ' split-over' : ''}`}>
          {!(isPhone && over) && (
            <div className="split-list">
              {isPhone && shown && <Detail approval={shown} now={now} />}
              <ApprovalList
                title={isPhone ? 'Next' : 'Waiting'}
                list={isPhone ? pending.filter((each) => each !== shown) : pending}
                {...{ shown, now }}
              />
              <ApprovalList title="Decided" list={decided} {...{ shown, now }} />
              <MoreDecided />
            </div>
          )}
          {(!isPhone || over) && (
            <section className="split-detail" aria-label="The approval">
              {shown ? (
                <Detail approval={shown} now={now} focus={id !== undefined} />
              ) : (
                !isNarrow && (
                  <Empty icon="shield-check" title="Nothing waits for you">
                    Choose a decision on the left to see what it was about.
                  </Empty>
                )
              )}
            </section>
          )}
        </div>
      )}
      {rules && <RulesDialog onClose={() => setRules(false)} />}
    </div>
  );
}

function MoreDecided(): ReactNode {
  const page = usePage();
  const more = useApp((state) => state.approvals.nextDecided !== undefined);
  if (!more) return null;
  return (
    <Button small look="quiet" className="list-more" onClick={() => void page.system.moreDecided()}>
      Show older decisions
    </Button>
  );
}

interface ListProps {
  readonly title: string;
  readonly list: readonly Approval[];
  readonly shown: Approval | undefined;
  readonly now: number;
}

function ApprovalList({ title, list, shown, now }: ListProps): ReactNode {
  const sessions = useApp((state) => state.sessions.byKey);
  if (list.length === 0) return null;
  return (
    <section aria-label={title}>
      <p className="list-group">{title}</p>
      <ul>
        {list.map((approval) => (
          <li key={approval.id}>
            <a
              className="approval-row"
              data-row=""
              href={formatRoute({ view: 'approvals', id: approval.id })}
              aria-current={approval.id === shown?.id ? 'page' : undefined}
            >
              <span className={`tile tile-${approval.state === 'pending' ? 'warn' : 'plain'}`}>
                <Icon name={stateWords[approval.state].icon} />
              </span>
              <span className="row-text">
                <span className="row-title">{visible(approval.title)}</span>
                <span className="row-line">
                  {approval.state === 'pending' ? (
                    `${approval.agentId}, ${sessionTitle(sessions.get(approval.sessionKey))}`
                  ) : (
                    <>
                      <b className={`tone-${stateWords[approval.state].tone}`}>{decisionWords(approval)}</b> {decidedWords(approval, now)}
                    </>
                  )}
                </span>
              </span>
              {approval.state === 'pending' && <span className="row-end">{timeLeft(approval.expiresAt - now)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const stateWords: Readonly<Record<Approval['state'], { icon: IconName; words: string; tone: 'ok' | 'bad' | 'plain' }>> = {
  pending: { icon: 'shield', words: 'Waits', tone: 'plain' },
  allowed: { icon: 'check-circle', words: 'Allowed once', tone: 'ok' },
  denied: { icon: 'x-circle', words: 'Denied', tone: 'bad' },
  expired: { icon: 'hourglass', words: 'Expired, so denied', tone: 'plain' },
  voided: { icon: 'minus', words: 'No longer needed', tone: 'plain' },
};

function decisionWords(approval: Approval): string {
  return approval.decision === 'allow-always' ? 'Always for exactly this' : stateWords[approval.state].words;
}

function decidedWords({ decidedBy, decidedAt, expiresAt, state }: Approval, now: number): string {
  const who = state === 'expired' ? 'nobody answered' : visible(decidedBy ?? '');
  return [who, shortTime(decidedAt ?? expiresAt, now)].filter(Boolean).join(', ');
}

function Detail({
  approval,
  now,
  focus = false,
}: {
  readonly approval: Approval;
  readonly now: number;
  readonly focus?: boolean;
}): ReactNode {
  const page = usePage();
  const { preferences } = usePreferences();
  const deciding = useApp((state) => state.approvals.deciding.get(approval.id));
  const session = useApp((state) => state.sessions.byKey.get(approval.sessionKey));
  const isOffline = useApp((state) => state.connection.kind === 'offline');
  const principal = useApp((state) => state.identity?.principal);
  const names = useApp((state) => state.names);
  return (
    <ApprovalCard
      key={approval.id}
      approval={named(approval, principal, names)}
      now={now}
      variant="detail"
      onDecide={(each, decision) => void page.chat.decide(each, decision)}
      deciding={deciding && deciding.error === undefined ? deciding.decision : undefined}
      error={deciding?.error}
      decideReason={isOffline ? 'Not connected: decisions wait' : undefined}
      focusOnMount={focus}
      shortcuts={preferences.singleKeys}
      session={{ title: sessionTitle(session), onOpen: () => navigate({ view: 'chat', sessionKey: approval.sessionKey }) }}
    />
  );
}

function RulesDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const page = usePage();
  const rules = useApp((state) => state.approvals.rules);
  const [asked, setAsked] = useState<ApprovalRule | undefined>();
  useEffect(() => void page.system.readRules(), [page]);
  return (
    <Dialog title="Standing rules" onClose={onClose} className="dialog-wide">
      <p className="dialog-text">
        What “Always for exactly this” has allowed. Each holds for exactly these arguments; anything else asks again.
      </p>
      {!rules || rules.kind === 'loading' ? (
        <Skeleton label="Loading the rules" />
      ) : rules.kind === 'failed' ? (
        <Failed title="The rules could not be read" error={rules.error} onRetry={() => void page.system.readRules()} />
      ) : rules.value.length === 0 ? (
        <p className="dialog-text">There is no such rule.</p>
      ) : (
        <ul className="rules">
          {rules.value.map((rule) => (
            <li key={rule.id} className="rule">
              <div className="row-text">
                <span className="row-title">{visible(rule.title)}</span>
                <span className="row-line">
                  {rule.toolName} by {rule.agentId}, since {exactTime(rule.createdAt)}
                </span>
              </div>
              <Button small onClick={() => setAsked(rule)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="dialog-foot">
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
      {asked && (
        <Confirm
          title={`Remove the rule “${visible(asked.title)}”?`}
          action="Remove the rule"
          onClose={() => setAsked(undefined)}
          onConfirm={() => void page.system.forgetRule(asked.id)}
        >
          <p>The next time {asked.agentId} wants exactly this, it asks you.</p>
        </Confirm>
      )}
    </Dialog>
  );
}
