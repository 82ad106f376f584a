// What a person has to know wherever they are: the connection is gone, or the gateway is not well.
import { type ReactNode, useEffect, useRef } from 'react';
import { clockTime } from '../chat/format.ts';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../parts/button.tsx';

export function Banner(): ReactNode {
  const page = usePage();
  const connection = useApp((state) => state.connection);
  const isOffline = connection.kind === 'offline';
  const now = useNow(isOffline);
  const hadFocus = useRef(false);
  // Who pressed "Try now" has no button any more when it has helped.
  useEffect(() => {
    if (isOffline || !hadFocus.current) return;
    hadFocus.current = false;
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [isOffline]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only watches where the focus is
    <div className="banner-place" onFocus={() => (hadFocus.current = true)} onBlur={() => (hadFocus.current = false)}>
      {connection.kind === 'offline' && (
        <div className="banner banner-warn">
          <Icon name="offline" />
          <div className="banner-text">
            <p className="banner-title" role="status">
              Connection lost at {clockTime(connection.since)}
            </p>
            <p>
              You see the state of {page.link().position() === undefined ? 'then' : `seq ${page.link().position()}`}.{' '}
              {nextTry(connection.retryAt, now)}
            </p>
          </div>
          <Button small onClick={() => page.link().retry()}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}

export function nextTry(retryAt: number | undefined, now: number): string {
  if (retryAt === undefined) return 'Trying now.';
  return `Next try in ${Math.max(1, Math.ceil((retryAt - now) / 1000))} s.`;
}
