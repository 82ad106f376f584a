// The parts that draw what plugins show. They are not among what the page loads first, and come when there is something to show.
import { useEffect, useState } from 'react';

type Surfaces = typeof import('../plugin-ui/surfaces.tsx');
let loaded: Surfaces | undefined;

export function usePluginUi(isNeeded: boolean): Surfaces | undefined {
  const [surfaces, setSurfaces] = useState(loaded);
  useEffect(() => {
    if (!isNeeded || surfaces) return;
    let isGone = false;
    import('../plugin-ui/surfaces.tsx').then(
      (module) => {
        loaded = module;
        if (!isGone) setSurfaces(module);
      },
      // The gateway keeps the composer closed whatever is drawn; a reload brings the parts of a newer gateway.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [isNeeded, surfaces]);
  return surfaces;
}
