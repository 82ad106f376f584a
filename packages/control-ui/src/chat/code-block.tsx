// Code in somebody's text: its language, a button that copies it, and a box of its own to scroll in.
import { memo, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { ScrollBox } from './scroll-box.tsx';
import { VisibleText } from './visible-text.tsx';

interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
  readonly onCopy?: ((text: string) => void) | undefined;
}

export const CodeBlock = memo(function CodeBlock({ text, language, onCopy }: CodeBlockProps): ReactNode {
  return (
    <div className="md-code">
      <div className="md-code-bar">
        <span>{language === '' ? 'Code' : language}</span>
        <CopyButton text={text} label="Copy the code" onCopy={onCopy} />
      </div>
      <ScrollBox className="md-code-text" label={language === '' ? 'Code' : `Code, ${language}`}>
        <pre>
          <code>
            <VisibleText text={text} keep={'\n\t'} />
          </code>
        </pre>
      </ScrollBox>
    </div>
  );
});
