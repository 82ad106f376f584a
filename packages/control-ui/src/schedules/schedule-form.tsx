// The form of a schedule, for a new one and for one that is changed. The next times come from the gateway, which works them out
// by the same rules by which it runs them; what it says against a schedule stands at the form.
import { type FormEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { visible } from '@tenon/protocol';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { sessionOrder } from '../state/changes.ts';
import { sessionTitle } from '../state/session-words.ts';
import { type Trouble, troubleOf } from '../state/trouble.ts';
import { emptyFields, type Fields, fieldsOf, freshTarget, readFields, readSchedule, type Wrong } from './schedule-fields.ts';
import type { Job } from './schedule-types.ts';
import { moment, ownZone, sentence } from './schedule-words.ts';
import type { ScheduleActions } from './use-schedules.ts';

interface FormProps {
  /** The one that is changed. */
  readonly job: Job | undefined;
  /** Where a new one runs unless something else is chosen. */
  readonly sessionKey: string | undefined;
  readonly actions: ScheduleActions;
  readonly onClose: () => void;
}

const kinds = [
  ['at', 'Once'],
  ['every', 'Every'],
  ['cron', 'Cron'],
] as const;

export function ScheduleForm({ job, sessionKey, actions, onClose }: FormProps): ReactNode {
  const targets = useTargets(job, sessionKey);
  const [fields, setFields] = useState<Fields>(() => {
    const now = Date.now();
    return job ? fieldsOf(job, ownZone(), now) : emptyFields(sessionKey ?? targets[0]?.value ?? '', ownZone(), now);
  });
  const [wrong, setWrong] = useState<Wrong>({});
  const [trouble, setTrouble] = useState<Trouble>();
  const form = useRef<HTMLFormElement>(null);
  const set = (change: Partial<Fields>) => {
    setTrouble(undefined);
    setFields((before) => ({ ...before, ...change }));
  };

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (actions.busy !== undefined) return;
    const read = readFields(fields, job);
    setTrouble(undefined);
    setWrong('wrong' in read ? read.wrong : {});
    if ('wrong' in read) {
      const first = Object.keys(read.wrong)[0];
      form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
      return;
    }
    const refused = await actions.save(job, read.job);
    setTrouble(refused);
    if (refused) return;
    onClose();
    if (!job) navigate({ view: 'schedules', id: undefined, sessionKey: undefined });
  }

  const text = (name: 'name' | 'at' | 'every' | 'cron' | 'tz' | 'within' | 'attempts') => ({
    name,
    value: fields[name],
    wrong: wrong[name],
    onText: (value: string) => set({ [name]: value }),
  });
  return (
    <Dialog title={job ? `Change “${visible(job.name)}”` : 'New schedule'} onClose={onClose} className="schedule-dialog">
      <form ref={form} className="schedule-form" noValidate onSubmit={(event) => void save(event)}>
        <TextField label="Name" {...text('name')} maxLength={120} first />
        <Field label="Tell the agent" wrong={wrong.message}>
          {(shared) => (
            <textarea
              {...shared}
              className="schedule-text"
              name="message"
              rows={3}
              value={fields.message}
              onChange={(event) => set({ message: event.target.value })}
            />
          )}
        </Field>
        <SelectField
          label="In"
          name="target"
          value={fields.target}
          wrong={wrong.target}
          options={targets}
          onPick={(target) => set({ target })}
        />
        <fieldset>
          <legend>When</legend>
          <div className="segments">
            {kinds.map(([kind, label]) => (
              <label key={kind} className="segment">
                <input type="radio" name="kind" checked={fields.kind === kind} onChange={() => set({ kind })} />
                <span>{label}</span>
              </label>
            ))}
          </div>
        </fieldset>
        {fields.kind === 'at' && <TextField label={`Day and time, in ${ownZone()}`} type="datetime-local" {...text('at')} />}
        {fields.kind === 'every' && (
          <div className="schedule-pair">
            <TextField label="Every" inputMode="decimal" {...text('every')} />
            <SelectField
              label="Unit"
              name="unit"
              value={fields.unit}
              options={[
                { value: 'minutes', words: 'minutes' },
                { value: 'hours', words: 'hours' },
                { value: 'days', words: 'days' },
              ]}
              onPick={(unit) => set({ unit: unit as Fields['unit'] })}
            />
          </div>
        )}
        {fields.kind === 'cron' && (
          <div className="schedule-pair">
            <TextField label="Cron expression" hint="Minute, hour, day, month, day of the week" mono {...text('cron')} />
            <TextField label="Time zone" list={zones()} {...text('tz')} />
          </div>
        )}
        <Preview fields={fields} />
        <details className="schedule-rules">
          <summary>
            <Icon name="chevron-right" size={14} /> If it is late, busy or fails
          </summary>
          <SelectField
            label="A time that was missed, because the gateway was off"
            name="onMiss"
            value={fields.onMiss}
            options={[
              { value: 'run', words: 'runs when the gateway is back' },
              { value: 'skip', words: 'is not made up for' },
              { value: 'within', words: 'runs if it is not too late' },
            ]}
            onPick={(onMiss) => set({ onMiss: onMiss as Fields['onMiss'] })}
          />
          {fields.onMiss === 'within' && <TextField label="At most this many minutes late" inputMode="numeric" {...text('within')} />}
          <SelectField
            label="A time that comes while the one before runs"
            name="overlap"
            value={fields.overlap}
            options={[
              { value: 'skip', words: 'is skipped' },
              { value: 'queue', words: 'waits' },
              { value: 'allow', words: 'runs beside it' },
            ]}
            onPick={(overlap) => set({ overlap: overlap as Fields['overlap'] })}
          />
          <TextField label="Try again after a failure, how many times" inputMode="numeric" {...text('attempts')} />
          <SelectField
            label="What it says"
            name="delivery"
            value={fields.delivery}
            options={[
              { value: 'announce', words: 'is delivered to where the session came from' },
              { value: 'none', words: 'only stands in the session' },
            ]}
            onPick={(delivery) => set({ delivery: delivery as Fields['delivery'] })}
          />
        </details>
        {trouble && (
          <p className="field-error" role="alert">
            <Icon name="x-circle" size={14} />
            <span>
              <VisibleText text={inWords(trouble.message)} />{' '}
              {trouble.code !== undefined && <code className="field-code">{trouble.code}</code>}
            </span>
          </p>
        )}
        <div className="dialog-foot">
          <button type="submit" className="btn btn-primary" aria-disabled={actions.busy !== undefined}>
            {job ? 'Save the schedule' : 'Schedule it'}
          </button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface Option {
  readonly value: string;
  readonly words: string;
}

function useTargets(job: Job | undefined, sessionKey: string | undefined): readonly Option[] {
  const sessions = useApp((state) => state.sessions);
  const agents = useApp((state) => state.agents);
  return useMemo(() => {
    const fresh = (agents.kind === 'ready' ? agents.value : []).map(({ id, name }) => ({
      value: freshTarget(id),
      words: `a fresh session of ${visible(name || id)} each time`,
    }));
    const known = sessionOrder(sessions).map((session) => ({ value: session.key, words: `“${sessionTitle(session)}”` }));
    const all = [...known, ...fresh];
    const named = job && ('key' in job.session ? job.session.key : freshTarget(job.session.agentId));
    for (const key of [named, sessionKey])
      if (key !== undefined && !all.some(({ value }) => value === key)) all.unshift({ value: key, words: visible(key) });
    return all;
  }, [sessions, agents, job, sessionKey]);
}

const PREVIEW_AFTER_MS = 250;

function Preview({ fields }: { readonly fields: Fields }): ReactNode {
  const page = usePage();
  const [said, setSaid] = useState<{ readonly times: readonly number[] } | { readonly error: string }>();
  const read = readSchedule(fields);
  const schedule = 'schedule' in read ? JSON.stringify(read.schedule) : undefined;
  useEffect(() => {
    setSaid(undefined);
    if (schedule === undefined) return;
    let isOver = false;
    // Not with every key: the gateway is asked when somebody pauses.
    const timer = setTimeout(() => {
      page
        .link()
        .call('cron.preview', { schedule: JSON.parse(schedule) as Job['schedule'], count: 3 })
        .then(
          ({ times }) => !isOver && setSaid({ times }),
          (error: unknown) => !isOver && setSaid({ error: troubleOf(error).message }),
        );
    }, PREVIEW_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [page, schedule]);
  return (
    <div className="schedule-preview" role="status">
      <Icon name={said && 'error' in said ? 'warning' : 'clock'} size={14} />
      {!said ? (
        <span className="row-line">The next times</span>
      ) : 'error' in said ? (
        <VisibleText text={inWords(said.error)} />
      ) : said.times.length === 0 ? (
        <span>It would never run.</span>
      ) : (
        <span>Next: {said.times.map((at) => moment(at)).join(' · ')}</span>
      )}
    </div>
  );
}

/** Without the place in the request, which is ours. */
function inWords(message: string): string {
  return sentence(message.replace(/^params\/(?:schedule\/)?/, ''));
}

let knownZones: readonly string[] | undefined;

function zones(): readonly string[] {
  knownZones ??= ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return knownZones;
}

interface Shared {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly wrong: string | undefined;
  readonly children: (shared: Shared) => ReactNode;
}

function Field({ label, hint, wrong, children }: FieldProps): ReactNode {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, wrong === undefined ? '' : `${id}-wrong`].join(' ').trim();
  return (
    <div className="schedule-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': wrong !== undefined, 'aria-describedby': described === '' ? undefined : described })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="meta">
          {hint}
        </p>
      )}
      {wrong !== undefined && (
        <p id={`${id}-wrong`} className="field-error">
          <Icon name="warning" size={14} /> {wrong}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly wrong: string | undefined;
  readonly onText: (value: string) => void;
  readonly type?: 'text' | 'datetime-local';
  readonly inputMode?: 'numeric' | 'decimal';
  readonly hint?: string;
  readonly list?: readonly string[];
  readonly maxLength?: number;
  readonly mono?: boolean;
  readonly first?: boolean;
}

function TextField({
  label,
  name,
  value,
  wrong,
  onText,
  type = 'text',
  inputMode,
  hint,
  list,
  maxLength,
  mono,
  first,
}: TextProps): ReactNode {
  const listId = useId();
  return (
    <Field label={label} hint={hint} wrong={wrong}>
      {(shared) => (
        <span className={`field${wrong === undefined ? '' : ' field-bad'}`}>
          <input
            {...shared}
            name={name}
            type={type}
            autoComplete="off"
            spellCheck={name === 'name'}
            className={mono ? 'schedule-mono' : undefined}
            value={value}
            inputMode={inputMode}
            maxLength={maxLength}
            {...(list ? { list: listId } : {})}
            {...(first ? { 'data-first': '' } : {})}
            onChange={(event) => onText(event.target.value)}
          />
          {list && (
            <datalist id={listId}>
              {list.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </span>
      )}
    </Field>
  );
}

interface SelectProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly wrong?: string | undefined;
  readonly options: readonly Option[];
  readonly onPick: (value: string) => void;
}

function SelectField({ label, name, value, wrong, options, onPick }: SelectProps): ReactNode {
  return (
    <Field label={label} wrong={wrong}>
      {(shared) => (
        <span className="field schedule-select">
          <select {...shared} name={name} value={value} onChange={(event) => onPick(event.target.value)}>
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.words}
              </option>
            ))}
          </select>
          <Icon name="chevrons-up-down" size={14} />
        </span>
      )}
    </Field>
  );
}
