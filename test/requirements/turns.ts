// What the second issue asks to be shown of turns, and no other list names.
import type { Requirement } from './row.ts';

export const turns = {
  'turns:ends-once': { issue: 2, text: 'Whatever fails or is killed, a turn ends exactly once and its end is told exactly once.' },
  'turns:fail-nth': {
    issue: 2,
    text: 'The Nth call of anything that a turn touches may fail: the transcript stays well formed and the session goes on.',
  },
  'turns:kill-resumes': {
    issue: 2,
    text: 'Killed at any named point, a turn goes on after the restart: nothing is twice in the store, and the model sees each message once.',
  },
  'turns:park': { issue: 2, text: 'A gateway that stops leaves running turns behind so that they go on when it is back.' },
  'turns:queue-modes': { issue: 2, text: 'Messages for a busy session are collected, steer it, follow it or interrupt it.' },
  'turns:abort': { issue: 2, text: 'Stopping reaches the stream of the model and every tool, and each call has its result.' },
  'turns:compaction': { issue: 2, text: 'A full window is summed up without tearing a call from its result.' },
  'turns:fallback': { issue: 2, text: 'A model that is overloaded or away is asked again, then the next one.' },
  'turns:providers': { issue: 2, text: 'A whole turn goes through the real provider code, with each failure of the server.' },
  'turns:hooks-fire': { issue: 2, text: 'Every hook of the table happens in a reference turn or a named scenario.' },
  'turns:hook-failure-policy': { issue: 2, text: 'A hook that throws, hangs or answers nonsense follows its failure policy.' },
  'turns:openai-client': {
    issue: 2,
    text: 'The official OpenAI client talks with an agent, streaming and not, with a tool call on its side.',
  },
  'turns:page-conversation': { issue: 2, text: 'The page holds a conversation: a file listed, a note written after an approval.' },
  'turns:cli-conversation': { issue: 2, text: 'The terminal holds the same conversation.' },
  'turns:in-step': { issue: 2, text: 'Page and terminal show the same conversation at the same time.' },
  'turns:bad-input': {
    issue: 2,
    text: 'An unknown model, a missing key, bad tool arguments, a huge message: a clear error, and the session goes on.',
  },
  'turns:chaos': { issue: 2, text: 'Many sessions with random messages, stops, answers, resets and kills keep every promise of a turn.' },
} as const satisfies Record<string, Requirement>;
