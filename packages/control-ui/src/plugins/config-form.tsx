// The configuration of a plugin as a form. The gateway checks it against the schema of the manifest; what it says against it
// stands at the form.
import { type FormEvent, type ReactNode, useId, useMemo, useState } from 'react';
import type { JsonObject, PluginDetails } from '@tenon/protocol';
import { VisibleText } from '../chat/visible-text.tsx';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import type { Trouble } from '../state/trouble.ts';
import { type ConfigField, fieldsOf, readConfig, readJson, textsOf } from './config-fields.ts';
import type { PluginActions } from './plugin-actions.ts';
import { sentence } from './plugin-words.ts';

interface ConfigProps {
  readonly plugin: PluginDetails;
  readonly actions: PluginActions;
  readonly busy: boolean;
  readonly onSaved: () => void;
}

export function ConfigCard({ plugin, actions, busy, onSaved }: ConfigProps): ReactNode {
  const isSet = Object.keys(plugin.config).length > 0;
  return (
    <section className="card" aria-labelledby="config-title">
      <div className="card-head">
        <h2 id="config-title">Configuration</h2>
        <p className="meta">{plugin.configSchema === undefined ? '' : isSet ? 'set by you' : 'nothing is set'}</p>
      </div>
      {plugin.configSchema === undefined ? (
        <p className="card-empty">It has nothing to configure.</p>
      ) : (
        // Anew when somebody else has changed it: what is shown is what holds.
        <ConfigForm key={JSON.stringify(plugin.config)} schema={plugin.configSchema} {...{ plugin, actions, busy, onSaved, isSet }} />
      )}
    </section>
  );
}

/** One text for all of it, where the schema has no properties to make fields of. */
const whole: ConfigField = {
  name: 'config',
  title: 'Everything, in JSON',
  hint: undefined,
  required: false,
  kind: 'json',
  options: [],
  placeholder: '{}',
};

function ConfigForm({
  plugin,
  schema,
  actions,
  busy,
  onSaved,
  isSet,
}: ConfigProps & { readonly schema: JsonObject; readonly isSet: boolean }): ReactNode {
  const own = useMemo(() => fieldsOf(schema), [schema]);
  const fields = own ?? [whole];
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    own ? textsOf(own, plugin.config) : { [whole.name]: JSON.stringify(plugin.config, null, 2) },
  );
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [trouble, setTrouble] = useState<Trouble | undefined>();
  const [asked, setAsked] = useState(false);

  function read(): ReturnType<typeof readConfig> {
    if (own) return readConfig(own, texts, plugin.config);
    const all = readJson(texts[whole.name] ?? '');
    if ('wrong' in all) return { ok: false, wrong: { [whole.name]: all.wrong } };
    return typeof all.value === 'object' && all.value !== null && !Array.isArray(all.value)
      ? { ok: true, config: all.value }
      : { ok: false, wrong: { [whole.name]: 'It has to be an object: { … }.' } };
  }
  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy) return;
    setTrouble(undefined);
    const config = read();
    setWrong(config.ok ? {} : config.wrong);
    if (!config.ok) return;
    const refused = await actions.configure(plugin, config.config);
    setTrouble(refused);
    if (!refused) onSaved();
  }
  async function takeBack(): Promise<void> {
    const refused = await actions.configure(plugin, null);
    setTrouble(refused);
    if (!refused) onSaved();
  }

  return (
    <form className="config" onSubmit={(event) => void save(event)} noValidate>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          wrong={wrong[field.name]}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      {trouble && (
        <p className="field-error" role="alert">
          <Icon name="x-circle" size={14} />
          <span>
            <VisibleText text={trouble.message} /> {trouble.code !== undefined && <code className="field-code">{trouble.code}</code>}
          </span>
        </p>
      )}
      <div className="config-foot">
        <button type="submit" className="btn btn-primary" aria-disabled={busy}>
          {busy ? 'Saving' : 'Save configuration'}
        </button>
        {isSet && (
          <Button look="quiet" onClick={() => setAsked(true)}>
            Take it back
          </Button>
        )}
        <p className="meta">{plugin.enabled ? 'Saving loads the plugin anew.' : 'It holds when the plugin is enabled.'}</p>
      </div>
      {asked && (
        <Confirm
          title="Take the configuration back?"
          action="Take it back"
          onClose={() => setAsked(false)}
          onConfirm={() => void takeBack()}
        >
          <p>Everything that is set here goes, as if nobody had configured the plugin.</p>
        </Confirm>
      )}
    </form>
  );
}

interface FieldProps {
  readonly field: ConfigField;
  readonly text: string;
  readonly wrong: string | undefined;
  readonly onText: (text: string) => void;
}

function Field({ field, text, wrong, onText }: FieldProps): ReactNode {
  const id = useId();
  const hints = [
    field.hint,
    field.kind === 'lines' ? 'One per line.' : field.kind === 'json' && field.name !== whole.name ? 'In JSON.' : undefined,
    field.required ? 'It has to be set.' : undefined,
  ].filter((hint) => hint !== undefined);
  const common = {
    id,
    value: text,
    'aria-invalid': wrong !== undefined,
    'aria-describedby': `${id}-hint${wrong === undefined ? '' : ` ${id}-wrong`}`,
    onChange: (event: { target: { value: string } }) => onText(event.target.value),
  };
  return (
    <div className="config-field">
      <label htmlFor={id}>
        <VisibleText text={field.title} />
      </label>
      {field.kind === 'choice' ? (
        <span className="field field-select">
          <select {...common}>
            <option value="">{field.placeholder === undefined ? 'Not set' : `Not set (${field.placeholder})`}</option>
            {field.options.map(({ value, words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
            {text !== '' && !field.options.some(({ value }) => value === text) && <option value={text}>{text}</option>}
          </select>
          <Icon name="chevrons-up-down" size={14} />
        </span>
      ) : field.kind === 'lines' || field.kind === 'json' ? (
        <textarea
          {...common}
          className={wrong === undefined ? 'config-text' : 'config-text field-bad'}
          rows={Math.min(12, Math.max(3, text.split('\n').length))}
          spellCheck={false}
          placeholder={field.placeholder}
        />
      ) : (
        <span className={wrong === undefined ? 'field' : 'field field-bad'}>
          <input {...common} type="text" inputMode={field.kind === 'number' ? 'decimal' : undefined} placeholder={field.placeholder} />
        </span>
      )}
      <p id={`${id}-hint`} className="meta config-hint">
        {hints.length > 0 && <VisibleText text={hints.map(sentence).join(' ')} />}
      </p>
      {wrong !== undefined && (
        <p id={`${id}-wrong`} className="field-error">
          <Icon name="x-circle" size={14} /> <VisibleText text={wrong} />
        </p>
      )}
    </div>
  );
}
