// The parts that draw what extensions ask and show. They are not among what the page loads first.
import { useEffect, useState } from 'react';

type People = typeof import('../people-ui/people.tsx');
let loaded: People | undefined;

export function usePeopleUi(isNeeded: boolean): People | undefined {
  const [people, setPeople] = useState(loaded);
  useEffect(() => {
    if (!isNeeded || people) return;
    let isGone = false;
    import('../people-ui/people.tsx').then(
      (module) => {
        loaded = module;
        if (!isGone) setPeople(module);
      },
      // Others are asked as well, and the gateway does not wait for long; a reload brings the parts of a newer gateway.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [isNeeded, people]);
  return people;
}
