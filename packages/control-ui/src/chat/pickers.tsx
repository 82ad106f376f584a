// Which model answers, how long it thinks and what goes ahead without a question. Native selects: they work with every
// keyboard, screen reader and phone, and bring no styles of their own into the page.
import { type ModelInfo, type PermissionMode, type ThinkingLevel, visible } from '@tenon/protocol';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import type { ComposerProps } from './types.ts';

const thinkingWords: Record<ThinkingLevel, string> = {
  off: 'No thinking',
  minimal: 'Minimal thinking',
  low: 'Short thinking',
  medium: 'Medium thinking',
  high: 'Long thinking',
  xhigh: 'Longest thinking',
};

const permissionWords: Record<PermissionMode, string> = {
  ask: 'Ask first',
  'accept-edits': 'Edits go ahead',
  deny: 'Reading only',
  bypass: 'Nothing asks',
};

type PickersProps = Pick<ComposerProps, 'models' | 'model' | 'onModel' | 'thinking' | 'onThinking' | 'permissions' | 'onPermissions'>;

export function Pickers(props: PickersProps): ReactNode {
  const { models = [], model, onModel, thinking, onThinking, permissions, onPermissions } = props;
  const current = models.find((each) => each.id === model);
  return (
    <>
      {permissions !== undefined && onPermissions && (
        <Picker
          label="What goes ahead without a question"
          icon={permissions === 'bypass' ? 'shield-off' : 'shield'}
          tone={permissions === 'bypass' ? 'warn' : undefined}
          value={permissions}
          options={Object.entries(permissionWords).map(([value, words]) => ({ value, words }))}
          onPick={(value) => onPermissions(value as PermissionMode)}
        />
      )}
      {onModel && models.length > 0 && (
        <Picker label="Model" icon="model" value={model ?? ''} options={modelOptions(models, model)} onPick={onModel} />
      )}
      {thinking !== undefined && onThinking && current?.thinking !== false && (
        <Picker
          label="Thinking"
          icon="clock"
          value={thinking}
          options={Object.entries(thinkingWords).map(([value, words]) => ({ value, words }))}
          onPick={(value) => onThinking(value as ThinkingLevel)}
        />
      )}
    </>
  );
}

interface Option {
  readonly value: string;
  readonly words: string;
  readonly off?: boolean;
}

function modelOptions(models: readonly ModelInfo[], model: string | undefined): readonly Option[] {
  const options = models.map((each) => ({
    value: each.id,
    words: each.usable ? visible(each.id) : `${visible(each.id)}: ${visible(each.reason ?? 'cannot be asked')}`,
    off: !each.usable && each.id !== model,
  }));
  // A session may name a model that is no longer configured; it is shown, not silently replaced.
  const known = model === undefined || models.some((each) => each.id === model);
  return known ? options : [{ value: model, words: `${visible(model)}: not configured` }, ...options];
}

interface PickerProps {
  readonly label: string;
  readonly icon: IconName;
  readonly tone?: string | undefined;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onPick: (value: string) => void;
}

function Picker({ label, icon, tone, value, options, onPick }: PickerProps): ReactNode {
  return (
    <span className={tone === undefined ? 'picker' : `picker tone-${tone}`}>
      <Icon name={icon} size={14} />
      <select aria-label={label} title={label} value={value} onChange={(event) => onPick(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.off}>
            {option.words}
          </option>
        ))}
      </select>
      <Icon name="chevrons-up-down" size={14} />
    </span>
  );
}
