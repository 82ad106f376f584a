// One control of a plugin: a frame with the name of the plugin in a notch, which the page draws and no plugin can change; what
// it shows; its buttons; and what came of the last press. What cannot be drawn says so and takes nothing else away.
import { isActive, type UiDescriptor, visible } from '@tenon/protocol';
import { shownBlocks } from '@tenon/protocol/ui';
import { Component, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useApp } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';
import { ActionForm } from './action-form.tsx';
import { Block } from './blocks.tsx';
import { type Control, type Said, usePress } from './use-press.ts';

/** As the notch calls it. */
const placeWords: Readonly<Record<UiDescriptor['surface'], string>> = {
  session: 'session panel',
  'chat-message': 'plugin card',
  'chat-input-bar': 'plugin bar',
  'chat-input-toolbar-chip': 'plugin switch',
  status: 'plugin status',
  settings: 'plugin settings',
};

export interface CardProps {
  readonly descriptor: UiDescriptor;
  readonly sessionKey: string | undefined;
}

export function nameOf({ pluginId, id }: Pick<UiDescriptor, 'pluginId' | 'id'>): string {
  return `${pluginId}/${id}`;
}

export function PluginCard(props: CardProps): ReactNode {
  return (
    <Guarded name={props.descriptor.pluginId}>
      <Card {...props} />
    </Guarded>
  );
}

function Card({ descriptor, sessionKey }: CardProps): ReactNode {
  const { pluginId, label, description, surface } = descriptor;
  const id = useId();
  const ref = useRef<HTMLElement>(null);
  const extensions = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.extensions) ?? [];
  const reason = usePressReason();
  const pressing = usePress(pluginId, sessionKey);
  const { pending, asking, said } = pressing;
  useFocusLeftBehind(ref);
  const actions = (descriptor.actions ?? []).filter((action) => isActive(pluginId, action.when, extensions));
  const pressedAt = useRef<number>(undefined);
  const isAsking = asking !== undefined;
  // Who leaves a form is where they opened it: the buttons were away meanwhile.
  useLayoutEffect(() => {
    if (isAsking || pressedAt.current === undefined) return;
    ref.current?.querySelectorAll<HTMLElement>('.plugin-actions > button')[pressedAt.current]?.focus({ preventScroll: true });
    pressedAt.current = undefined;
  }, [isAsking]);

  return (
    <section
      ref={ref}
      className={`plugin-card plugin-card-${surface}`}
      aria-labelledby={id}
      data-descriptor={nameOf(descriptor)}
      tabIndex={-1}
    >
      <p className="plugin-notch">
        <Icon name="joint" size={14} /> <b>{pluginId}</b> <span>{placeWords[surface]}</span>
      </p>
      <h3 id={id}>
        <bdi>{visible(label)}</bdi>
      </h3>
      {description !== undefined && <p className="plugin-hint">{visible(description)}</p>}
      {shownBlocks(descriptor, extensions).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is known by its place
        <Block key={index} block={block} pending={pending} reason={reason} onPress={pressing.press} />
      ))}
      {asking ? (
        <ActionForm
          key={asking.control.label}
          asking={asking}
          pending={pending !== undefined}
          onSubmit={pressing.submit}
          onCancel={pressing.cancel}
        />
      ) : (
        actions.length > 0 && (
          <div className="plugin-actions">
            <Buttons
              actions={actions}
              pending={pending}
              reason={reason}
              onPress={(control) => {
                pressing.press(control);
                pressedAt.current = (actions as readonly Control[]).indexOf(control);
              }}
            />
          </div>
        )
      )}
      <SaidLine said={said} />
    </section>
  );
}

interface ButtonsProps {
  readonly actions: readonly Control[];
  readonly pending: string | undefined;
  readonly reason: string | undefined;
  readonly small?: boolean;
  readonly onPress: (control: Control) => void;
}

export function Buttons({ actions, pending, reason, small = false, onPress }: ButtonsProps): ReactNode {
  const primary = actions.findIndex(({ style }) => style === 'primary');
  return actions.map((action, index) => {
    const why = reason ?? action.unavailable ?? (pending === undefined ? undefined : 'Another press is under way');
    return (
      <Button
        // biome-ignore lint/suspicious/noArrayIndexKey: labels of a plugin may be the same
        key={`${action.label} ${index}`}
        look={index === primary ? 'primary' : action.style === 'danger' ? 'danger' : 'default'}
        small={small}
        title={titleOf(action)}
        reason={why}
        onClick={() => onPress(action)}
      >
        {pending === action.label && <Icon name="spinner" size={14} className="turning" />}
        <bdi>{visible(action.label)}</bdi>
        <SentCommand command={action.command} />
      </Button>
    );
  });
}

/** What a control sends in the person's name, whatever its label says. */
export function SentCommand({ command }: { readonly command: string | undefined }): ReactNode {
  if (command === undefined) return null;
  return (
    <code className="plugin-command">
      <bdi>{visible(command)}</bdi>
    </code>
  );
}

export function titleOf({ command, description }: Pick<Control, 'command' | 'description'>): string | undefined {
  if (command !== undefined) return `Sends ${visible(command)}`;
  return description === undefined ? undefined : visible(description);
}

/** Errors at once, the rest when there is a pause. */
export function SaidLine({ said }: { readonly said: Said | undefined }): ReactNode {
  return (
    <div className="plugin-said" role={said?.tone === 'bad' ? 'alert' : 'status'}>
      {said !== undefined && said.text !== '' && (
        <p className={said.tone === 'bad' ? 'tone-bad' : undefined}>
          <Icon name={said.tone === 'bad' ? 'x-circle' : 'check'} size={14} /> <bdi>{visible(said.text)}</bdi>
        </p>
      )}
    </div>
  );
}

export function usePressReason(): string | undefined {
  return useApp((state) => (state.connection.kind === 'online' ? undefined : 'Not connected'));
}

/** A card that goes with the focus in it leaves the person at the composer, or at the conversation. */
function useFocusLeftBehind(ref: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const card = ref.current;
    return () => {
      if (!card?.contains(document.activeElement)) return;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const place = document.querySelector<HTMLElement>('.composer textarea') ?? document.querySelector<HTMLElement>('.transcript');
        place?.focus({ preventScroll: true });
      });
    };
  }, [ref]);
}

interface GuardedProps {
  readonly name: string;
  readonly children: ReactNode;
}

export class Guarded extends Component<GuardedProps, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <p className="plugin-broken">
        <Icon name="warning" size={14} /> What {visible(this.props.name)} shows here cannot be drawn.
      </p>
    );
  }
}
