// One call of a tool on one line, with what went in and what came out when it is open. It opens by itself while it takes
// long and when it failed, unless the person has opened or closed it.
import { visible } from '@tenon/protocol';
import { type ReactNode, useId, useState } from 'react';
import { Icon, type IconName } from '../icons.tsx';
import { Arguments } from './arguments.tsx';
import { CopyButton } from './copy-button.tsx';
import { bytes, duration, plural, stopwatch } from './format.ts';
import { ImageStrip } from './image-strip.tsx';
import { outputLines, ToolOutput } from './tool-output.tsx';
import type { ToolCardProps, ToolItem, ToolState } from './types.ts';
import { VisibleText } from './visible-text.tsx';

const OPEN_AFTER_MS = 2_000;

export const toolStates: Record<ToolState, { readonly word: string; readonly icon: IconName; readonly tone: string }> = {
  writing: { word: 'Writing', icon: 'spinner', tone: 'accent' },
  waiting: { word: 'Waits for you', icon: 'shield', tone: 'warn' },
  running: { word: 'Running', icon: 'spinner', tone: 'accent' },
  done: { word: 'Done', icon: 'check', tone: 'ok' },
  failed: { word: 'Failed', icon: 'x-circle', tone: 'bad' },
  denied: { word: 'Denied', icon: 'x-circle', tone: 'bad' },
  blocked: { word: 'Blocked', icon: 'blocked', tone: 'bad' },
  interrupted: { word: 'Interrupted', icon: 'warning', tone: 'warn' },
};

export function ToolCard({ tool, now, open: chosen, onToggle, onCopy }: ToolCardProps): ReactNode {
  const [ownChoice, setOwnChoice] = useState<boolean>();
  const bodyId = useId();
  const open = chosen ?? ownChoice ?? opensByItself(tool, now);
  const state = toolStates[tool.state];
  // "Allowed once" and the like are no state of their own: the call is done, and who let it through is what counts.
  const word = tool.stateWord ?? state.word;
  const icon = tool.stateWord !== undefined && tool.state === 'done' ? 'shield-check' : state.icon;
  const tone = tool.stateWord !== undefined && tool.state === 'done' ? 'plain' : state.tone;

  function toggle(): void {
    setOwnChoice(!open);
    onToggle?.(!open);
  }
  return (
    <div className="tool" data-state={tool.state}>
      <button type="button" className="tool-line" aria-expanded={open} aria-controls={open ? bodyId : undefined} onClick={toggle}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} size={14} />
        <span className="tool-name">{visible(tool.name)}</span>
        <span className="tool-by">{visible(tool.offeredBy)}</span>
        <span className="tool-subject">
          <bdi>{visible(tool.subject ?? '')}</bdi>
        </span>
        <span className={`tool-state tone-${tone}`}>
          <Icon name={icon} size={14} className={icon === 'spinner' ? 'spin' : ''} />
          {visible(word)}
        </span>
        <span className="tool-time">{timeOf(tool, now)}</span>
      </button>
      {open && (
        <div className="tool-body" id={bodyId}>
          <ToolArguments tool={tool} />
          <ToolResult tool={tool} onCopy={onCopy} />
        </div>
      )}
    </div>
  );
}

function ToolArguments({ tool }: { readonly tool: ToolItem }): ReactNode {
  if (!tool.args && tool.malformed === undefined)
    return tool.output === undefined ? <p className="tool-none">Nothing to show yet</p> : null;
  return (
    <section className="tool-part">
      <div className="tool-part-bar">
        <p>{tool.malformed === undefined ? 'Arguments' : 'Arguments that are no JSON object'}</p>
        {tool.allowedBy !== undefined && <span>{visible(tool.allowedBy)}</span>}
      </div>
      {tool.malformed !== undefined && (
        <pre className="tool-output">
          <VisibleText text={tool.malformed} keep={'\n\t'} />
        </pre>
      )}
      {tool.args && <Arguments args={tool.args} />}
    </section>
  );
}

function ToolResult({ tool, onCopy }: { readonly tool: ToolItem; readonly onCopy: ToolCardProps['onCopy'] }): ReactNode {
  const { output = '', images = [] } = tool;
  if (output === '' && images.length === 0 && tool.exitCode === undefined) return null;
  const running = tool.state === 'running' || tool.state === 'writing';
  return (
    <section className="tool-part">
      <div className="tool-part-bar">
        <p>{running ? 'Output, live' : 'Output'}</p>
        {tool.provenance !== undefined && <span className="tag">from {visible(tool.provenance)}, not instructions</span>}
        <span className="tool-size">{sizeOf(tool)}</span>
        {!running && output !== '' && <CopyButton text={output} label="Copy the output" onCopy={onCopy} />}
      </div>
      {output !== '' && <ToolOutput text={output} running={running} />}
      <ImageStrip images={images} />
    </section>
  );
}

function opensByItself(tool: ToolItem, now: number): boolean {
  if (tool.state === 'failed') return true;
  return tool.state === 'running' && tool.startedAt !== undefined && now - tool.startedAt > OPEN_AFTER_MS;
}

function timeOf(tool: ToolItem, now: number): string {
  if (tool.durationMs !== undefined) return duration(tool.durationMs);
  const counts = tool.state === 'running' || tool.state === 'waiting';
  return counts && tool.startedAt !== undefined ? stopwatch(now - tool.startedAt) : '';
}

function sizeOf(tool: ToolItem): string {
  const lines = tool.outputLines ?? (tool.output === undefined || tool.output === '' ? 0 : outputLines(tool.output).length);
  const parts: string[] = [];
  if (tool.exitCode !== undefined) parts.push(`exit ${tool.exitCode}`);
  parts.push(plural(lines, 'line'));
  if (tool.outputBytes !== undefined && tool.outputBytes >= 1000) parts.push(bytes(tool.outputBytes));
  return parts.join(' · ');
}
