// A box whose content may be larger than it is. Where it is, the box can be focused, so that the keyboard reaches the end.
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

interface ScrollBoxProps {
  readonly className: string;
  /** What is in it, for those who cannot see it. */
  readonly label: string;
  readonly children: ReactNode;
}

export function ScrollBox({ className, label, children }: ScrollBoxProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return undefined;
    const measure = () => setScrolls(box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    <div ref={ref} className={className} role="group" aria-label={label} tabIndex={scrolls ? 0 : undefined}>
      {children}
    </div>
  );
}
