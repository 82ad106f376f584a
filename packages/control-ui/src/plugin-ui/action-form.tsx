// What an action needs to be told, asked in the place where it was pressed. Made from the schema of the action; what is wrong
// stands below its field, and the first wrong field gets the focus.
import { type JsonValue, visible } from '@tenon/protocol';
import { fillForm, type FormField } from '@tenon/protocol/ui';
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import type { Pressing } from './use-press.ts';

interface ActionFormProps {
  readonly asking: NonNullable<Pressing['asking']>;
  readonly pending: boolean;
  readonly onSubmit: (payload: JsonValue) => void;
  readonly onCancel: () => void;
}

export function ActionForm({ asking: { control, form }, pending, onSubmit, onCancel }: ActionFormProps): ReactNode {
  const [answers, setAnswers] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(form.fields.map((field) => [field.name, field.first])),
  );
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const ref = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => ref.current?.querySelector<HTMLElement>('input, textarea, select')?.focus(), []);

  function submit(): void {
    if (pending) return;
    const filled = fillForm(form, answers);
    setWrong(filled.ok ? {} : filled.wrong);
    if (filled.ok) return onSubmit(filled.payload);
    const at = form.fields.findIndex((field) => Object.hasOwn(filled.wrong, field.name));
    ref.current?.querySelectorAll<HTMLElement>('[data-field]')[at]?.focus();
  }

  return (
    <form
      ref={ref}
      className="plugin-form"
      aria-label={visible(control.label)}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          submit();
        }
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        onCancel();
      }}
    >
      {control.description !== undefined && <p className="plugin-hint">{visible(control.description)}</p>}
      {form.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={answers[field.name] ?? ''}
          wrong={Object.hasOwn(wrong, field.name) ? wrong[field.name] : undefined}
          onChange={(value) => setAnswers({ ...answers, [field.name]: value })}
        />
      ))}
      <div className="plugin-actions">
        <Button type="submit" look={control.style === 'danger' ? 'danger' : 'primary'} {...(pending ? { reason: 'Under way' } : {})}>
          {pending && <Icon name="spinner" className="turning" />}
          <bdi>{visible(control.label)}</bdi>
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly wrong: string | undefined;
  readonly onChange: (value: string) => void;
}

function Field({ field, value, wrong, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { kind, help, isRequired } = field;
  const label = visible(field.label);
  const described = [help === undefined ? undefined : `${id}-help`, wrong === undefined ? undefined : `${id}-wrong`]
    .filter(Boolean)
    .join(' ');
  const shared = {
    id,
    'data-field': '',
    ...(kind === 'switch' ? {} : { 'aria-required': isRequired }),
    'aria-invalid': wrong !== undefined,
    'aria-describedby': described === '' ? undefined : described,
  };
  return (
    <div className={`plugin-field plugin-field-${kind}`}>
      {kind === 'switch' ? (
        <label className="plugin-check">
          <input {...shared} type="checkbox" checked={value === 'true'} onChange={(event) => onChange(String(event.target.checked))} />
          <bdi>{label}</bdi>
        </label>
      ) : (
        <label htmlFor={id}>
          <bdi>{label}</bdi>
          {!isRequired && <span className="plugin-optional"> optional</span>}
        </label>
      )}
      {kind === 'choice' && (
        <select {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{isRequired ? 'Choose one' : 'None'}</option>
          {(field.choices ?? []).map((choice, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the position is what a choice is known by
            <option key={index} value={String(index)}>
              {visible(choice.label)}
            </option>
          ))}
        </select>
      )}
      {(kind === 'lines' || kind === 'json') && (
        <textarea
          {...shared}
          rows={Math.min(12, Math.max(3, value.split('\n').length))}
          spellCheck={kind === 'lines'}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {(kind === 'text' || kind === 'number') && (
        <input
          {...shared}
          type="text"
          inputMode={kind === 'number' ? (field.isWhole ? 'numeric' : 'decimal') : undefined}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {help !== undefined && (
        <p id={`${id}-help`} className="plugin-hint">
          {visible(help)}
        </p>
      )}
      {wrong !== undefined && (
        <p id={`${id}-wrong`} className="field-error" role="alert">
          <Icon name="warning" size={14} /> {wrong}
        </p>
      )}
    </div>
  );
}
