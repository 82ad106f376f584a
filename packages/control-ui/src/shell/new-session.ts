// Begins a new session: an empty conversation with the cursor in it. It is made with its first message.
import { navigate } from '../hooks/use-route.ts';

export function newSession(): void {
  navigate({ view: 'chat', sessionKey: undefined });
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.composer textarea')?.focus());
}
