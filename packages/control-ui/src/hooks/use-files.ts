// Files that go with a message. The parts that carry and draw them come when somebody attaches the first one.
import type { AttachmentRef } from '@tenon/protocol';
import { createElement, useState } from 'react';
import { usePage } from './page-context.ts';

type Files = typeof import('../files/file-chips.tsx');
let loaded: Files | undefined;

export function useFiles(place: string) {
  const page = usePage();
  const [parts, setParts] = useState(loaded);
  const [known, setKnown] = useState({ count: 0, areReady: true });
  const [refused, setRefused] = useState<readonly string[]>([]);
  const uploads = parts?.uploadsOf(page);

  async function add(files: readonly File[]): Promise<void> {
    try {
      loaded ??= await import('../files/file-chips.tsx');
      setParts(loaded);
      setRefused(loaded.uploadsOf(page).add(place, files));
    } catch {
      setRefused(['Files cannot be attached before the page is loaded again']);
    }
  }

  return {
    count: known.count,
    take(): readonly AttachmentRef[] {
      setRefused([]);
      return uploads?.take(place) ?? [];
    },
    giveBack: (refs: readonly AttachmentRef[]) => uploads?.giveBack(place, refs),
    props: (blind: string | undefined) => ({
      onFiles: (files: readonly File[]) => void add(files),
      files: parts && createElement(parts.FileChips, { place, blind, onCount: (count, areReady) => setKnown({ count, areReady }) }),
      fileCount: known.count,
      filesReason: known.areReady ? undefined : 'Files are still on their way, or did not arrive',
      refused,
    }),
  };
}
