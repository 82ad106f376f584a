// The question before something is done: exactly what would be done, who asks, who stopped it, and the three answers. It
// belongs to the host, so nothing else in the transcript looks like it. After the decision one line stays.
import { type Approval, type Decision, type Risk, visible } from '@tenon/protocol';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import { Argv, Arguments } from './arguments.tsx';
import { exactTime, plural, shortTime, timeLeft } from './format.ts';
import { ScrollBox } from './scroll-box.tsx';
import type { ApprovalCardProps } from './types.ts';
import { VisibleText } from './visible-text.tsx';

/** A key that was meant for something else a moment ago decides nothing. */
const GUARD_MS = 300;
/** After another key, such as the `g` of `g a`, the next one belongs to that. */
const CHORD_MS = 1_000;

const riskWords: Record<Risk, string> = {
  read: 'Reads files in the workspace. Changes nothing.',
  write: 'Changes files in the workspace.',
  network: 'Sends something over the network. Tenon cannot take it back.',
  exec: 'Runs a program. Tenon cannot undo what it does.',
};

export function ApprovalCard(props: ApprovalCardProps): ReactNode {
  const { approval, variant = 'inline' } = props;
  const pending = approval.state === 'pending';
  const [ownOpen, setOwnOpen] = useState(false);
  const wasPending = useRef(pending);
  const hadFocus = useRef(false);
  const lineRef = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The card that had the focus is gone: the line that took its place has it now.
    if (wasPending.current && !pending && hadFocus.current) lineRef.current?.focus();
    wasPending.current = pending;
  }, [pending]);

  if (pending) {
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: only watches where the focus is
      <div onFocus={() => (hadFocus.current = true)} onBlur={() => (hadFocus.current = false)}>
        <PendingCard {...props} />
      </div>
    );
  }
  const open = variant === 'detail' || (props.open ?? ownOpen);
  return (
    <div className="approval-after" data-state={approval.state}>
      <DecidedLine
        approval={approval}
        now={props.now}
        open={open}
        lineRef={lineRef}
        onToggle={
          variant === 'detail'
            ? undefined
            : () => {
                setOwnOpen(!open);
                props.onToggle?.(!open);
              }
        }
      />
      {open && (
        <div className="approval-after-body">
          <Exactly approval={approval} counted={variant === 'detail'} />
          <Facts {...props} />
        </div>
      )}
    </div>
  );
}

function PendingCard(props: ApprovalCardProps): ReactNode {
  const { approval, now, onDecide, deciding, error, decideReason, focusOnMount = false, shortcuts = true, variant = 'inline' } = props;
  // In the inbox it stands right below the title of the page, in a conversation one level deeper.
  const Heading = variant === 'detail' ? 'h2' : 'h3';
  const titleId = useId();
  const factsId = useId();
  const reasonId = useId();
  const titleRef = useRef<HTMLHeadingElement>(null);
  const readyAt = useRef(Number.POSITIVE_INFINITY);
  const otherKeyAt = useRef(Number.NEGATIVE_INFINITY);
  const off = decideReason !== undefined || deciding !== undefined || !onDecide;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another question in the same place is a new one
  useEffect(() => {
    readyAt.current = performance.now() + GUARD_MS;
    // Nobody is taken away from what they write.
    if (focusOnMount && !isTyping(document.activeElement)) titleRef.current?.focus({ preventScroll: true });
  }, [approval.id]);

  function decide(decision: Decision): void {
    if (!off && approval.allowed.includes(decision)) onDecide?.(approval, decision);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (!shortcuts || event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing || isTyping(event.target)) return;
    const key = event.key.toLowerCase();
    const chord = performance.now() - otherKeyAt.current < CHORD_MS;
    if (key.length === 1 && key !== ' ') otherKeyAt.current = key === 'a' || key === 'd' ? Number.NEGATIVE_INFINITY : performance.now();
    if ((key !== 'a' && key !== 'd') || event.repeat || chord || performance.now() < readyAt.current) return;
    if (!isSeen(event.currentTarget)) return;
    event.preventDefault();
    event.stopPropagation();
    decide(key === 'a' ? 'allow-once' : 'deny');
  }

  return (
    <>
      <div
        className="approval"
        role="alertdialog"
        aria-labelledby={titleId}
        aria-describedby={factsId}
        onKeyDown={onKeyDown}
        onFocus={(event) => {
          // Focus that comes from outside starts the guard again.
          if (!event.currentTarget.contains(event.relatedTarget)) readyAt.current = Math.max(performance.now() + GUARD_MS, 0);
        }}
      >
        <div className="approval-top">
          <Icon name="shield" className="tone-warn" />
          <Heading id={titleId} className="approval-title" ref={titleRef} tabIndex={-1}>
            <VisibleText text={approval.title} />
          </Heading>
          <span className="clock" title={`Until ${exactTime(approval.expiresAt)}`}>
            <Icon name="hourglass" size={14} />
            {timeLeft(approval.expiresAt - now)}
          </span>
        </div>
        <div className="approval-body" id={factsId}>
          <Exactly approval={approval} counted={variant === 'detail'} />
          <Facts {...props} />
        </div>
        <div className="approval-foot">
          {error !== undefined && (
            <p className="approval-error" role="alert">
              <Icon name="x-circle" size={14} /> {visible(error)}
            </p>
          )}
          <Answer decision="deny" icon="x" word="Deny" hint="D" {...{ approval, off, deciding, shortcuts, reasonId, decide }} />
          <Answer
            decision="allow-once"
            icon="check"
            word="Allow once"
            hint="A"
            {...{ approval, off, deciding, shortcuts, reasonId, decide }}
          />
          <Answer decision="allow-always" word="Always for exactly this" {...{ approval, off, deciding, shortcuts, reasonId, decide }} />
          <span className="approval-note" id={reasonId} data-usual={decideReason === undefined ? '' : undefined}>
            {decideReason ?? 'No answer means deny'}
          </span>
        </div>
      </div>
      {variant === 'detail' && approval.allowed.includes('allow-always') && <RuleToAdd approval={approval} />}
    </>
  );
}

interface AnswerProps {
  readonly decision: Decision;
  readonly word: string;
  readonly icon?: IconName;
  readonly hint?: string;
  readonly approval: Approval;
  readonly off: boolean;
  readonly deciding: Decision | undefined;
  readonly shortcuts: boolean;
  readonly reasonId: string;
  readonly decide: (decision: Decision) => void;
}

function Answer({ decision, word, icon, hint, approval, off, deciding, shortcuts, reasonId, decide }: AnswerProps): ReactNode {
  if (!approval.allowed.includes(decision)) return null;
  const underWay = deciding === decision;
  return (
    <button
      type="button"
      className={decision === 'allow-once' ? 'chat-button chat-button-primary' : 'chat-button'}
      data-decision={decision}
      aria-disabled={off}
      aria-describedby={reasonId}
      aria-keyshortcuts={hint && shortcuts ? hint : undefined}
      onClick={() => decide(decision)}
    >
      {underWay ? <Icon name="spinner" className="spin" /> : icon && <Icon name={icon} />}
      {word}
      {hint && shortcuts && (
        <span aria-hidden="true" className="chat-key">
          {hint}
        </span>
      )}
    </button>
  );
}

/** The bytes that the answer holds for, all of them. */
function Exactly({ approval, counted }: { readonly approval: Approval; readonly counted: boolean }): ReactNode {
  const { argv, args } = approval;
  const others = argv ? notShownYet(approval) : args;
  const words = `Exactly this, ${plural(argv ? argv.length : Object.keys(args).length, 'argument')}`;
  return (
    <>
      {counted && <p className="exactly">{words}</p>}
      <ScrollBox className="exact-box" label={words}>
        {argv ? <Argv argv={argv} /> : <Arguments args={args} />}
      </ScrollBox>
      {argv && Object.keys(others).length > 0 && (
        <>
          <p className="exactly">And with</p>
          <ScrollBox className="exact-box" label="And with">
            <Arguments args={others} />
          </ScrollBox>
        </>
      )}
    </>
  );
}

/** Arguments that are not on the card already, letter by letter, as words, folder or environment. */
function notShownYet({ args, argv, cwd, env, bound, notBound }: Approval): Approval['args'] {
  const shown = new Set([argv, cwd, env, bound, notBound].filter((value) => value !== undefined).map((value) => JSON.stringify(value)));
  return Object.fromEntries(Object.entries(args).filter(([, value]) => !shown.has(JSON.stringify(value))));
}

function Facts({ approval, session, rule }: ApprovalCardProps): ReactNode {
  const env = Object.entries(approval.env ?? {});
  return (
    <dl className="facts">
      {approval.cwd !== undefined && (
        <Fact name="Folder">
          <code>
            <VisibleText text={approval.cwd} />
          </code>
        </Fact>
      )}
      {env.length > 0 && (
        <Fact name="Environment">
          {env.map(([name, value]) => (
            <code key={name} className="env">
              + <VisibleText text={name} />=<VisibleText text={value} />
            </code>
          ))}
        </Fact>
      )}
      {approval.bound && (
        <Fact name="Bound">
          <ul className="bound">
            {approval.bound.map((file) => (
              <li key={file}>
                <code>
                  <VisibleText text={file} />
                </code>
              </li>
            ))}
          </ul>
          Copied when this was asked. The copies run, whatever happens to the files.
        </Fact>
      )}
      {approval.notBound && (
        <Fact name="Not bound">
          <ul className="bound" data-open="">
            {approval.notBound.map((what) => (
              <li key={what}>
                <VisibleText text={what} />
              </li>
            ))}
          </ul>
          This can change until it runs, so it can be allowed only once.
        </Fact>
      )}
      <Fact name="Who asks">
        {approval.toolName === undefined ? (
          <>
            The plugin <b>{visible(approval.pluginId ?? '')}</b>
          </>
        ) : (
          <>
            <b>{visible(approval.agentId)}</b> through <code>{visible(approval.toolName)}</code>
          </>
        )}
        {session && (
          <>
            {' in '}
            <button type="button" className="chat-link" onClick={session.onOpen}>
              {visible(session.title)}
            </button>
          </>
        )}
        , for <code>{visible(approval.principal)}</code>
      </Fact>
      <Fact name="Stopped by">
        <VisibleText text={approval.reason} />
      </Fact>
      {approval.risk !== undefined && <Fact name="Risk">{riskWords[approval.risk]}</Fact>}
      {rule && (
        <Fact name="Rule">
          Added by {visible(rule.createdBy)}, <code>{visible(rule.id)}</code>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RuleToAdd({ approval }: { readonly approval: Approval }): ReactNode {
  const parts = [`allow  ${visible(approval.toolName ?? `plugin:${approval.pluginId}`)}  by ${visible(approval.agentId)}`];
  if (approval.cwd !== undefined) parts.push(`cwd ${visible(approval.cwd)}`);
  return (
    <section className="rule-to-add">
      <h2 className="rule-to-add-title">What “Always for exactly this” would add</h2>
      <p>One standing rule. It matches everything above, letter by letter. A different argument asks again.</p>
      <pre>
        {parts.join('  ')}
        {'\n'} sha256 {visible(approval.digest.replace(/^sha256[:-]/, ''))} until you remove it
      </pre>
    </section>
  );
}

interface DecidedLineProps {
  readonly approval: Approval;
  readonly now: number;
  readonly open: boolean;
  readonly lineRef: React.Ref<HTMLButtonElement>;
  readonly onToggle: (() => void) | undefined;
}

function DecidedLine({ approval, now, open, lineRef, onToggle }: DecidedLineProps): ReactNode {
  const { icon, tone, words } = outcome(approval);
  const by = approval.state === 'expired' ? 'nobody answered' : approval.decidedBy;
  const when = approval.decidedAt ?? (approval.state === 'expired' ? approval.expiresAt : undefined);
  const rest = [approval.title, by, when === undefined ? undefined : shortTime(when, now)].filter((part) => part !== undefined);
  return (
    <div className="approval-line">
      <Icon name={icon} className={`tone-${tone}`} />
      <p title={when === undefined ? undefined : exactTime(when)}>
        <b>{words}</b> <span>{visible(rest.join(', '))}</span>
      </p>
      {onToggle && (
        <button type="button" className="chat-quiet" ref={lineRef} aria-expanded={open} onClick={onToggle}>
          Details
        </button>
      )}
    </div>
  );
}

/** What became of a question, in the words that every list uses. */
export function outcome(approval: Approval): { readonly icon: IconName; readonly tone: string; readonly words: string } {
  if (approval.state === 'allowed') {
    return { icon: 'check-circle', tone: 'ok', words: approval.decision === 'allow-always' ? 'Always for exactly this' : 'Allowed once' };
  }
  if (approval.state === 'denied') return { icon: 'x-circle', tone: 'bad', words: 'Denied' };
  if (approval.state === 'expired') return { icon: 'hourglass', tone: 'plain', words: 'Expired, so denied' };
  if (approval.state === 'voided') return { icon: 'blocked', tone: 'plain', words: 'No longer asked' };
  return { icon: 'shield', tone: 'warn', words: 'Waits for you' };
}

/** Whether the question or its answers are on the screen, with nothing over them: nobody decides what they do not see. */
function isSeen(card: Element): boolean {
  return [...card.querySelectorAll('.approval-title, .approval-foot')].some((part) => {
    const { left, top, width, height } = part.getBoundingClientRect();
    return card.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null;
}
