// What handlers return, in the form that the protocol wants it: strict, with nothing that it does not know.
import type { CommandAnswer, CompletionAnswer, CompletionResult, ContentPart, Credentials, ToolAnswer } from './definitions.ts';
import { withoutUndefined } from './host.ts';

export interface WireToolResult {
  readonly content: string;
  readonly is_error?: boolean;
  readonly details?: unknown;
}

export function toolResult(answer: ToolAnswer): WireToolResult {
  if (typeof answer === 'string') return { content: answer };
  if (typeof answer !== 'object' || answer === null) return toolError('The tool returned neither text nor a result');
  const { content, details, is_error, isError } = answer;
  const text = contentText(content);
  if (text === undefined) return toolError('The tool returned a result without content');
  return {
    content: text,
    ...((is_error ?? isError) ? { is_error: true } : {}),
    ...(details === undefined ? {} : { details }),
  };
}

export function toolError(content: string): WireToolResult {
  return { content, is_error: true };
}

export function contentText(content: string | readonly ContentPart[] | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return (content as readonly ContentPart[]).map(({ type, text }) => text ?? `[${type}]`).join('\n');
}

export function commandResult(answer: CommandAnswer): { readonly content?: string } {
  if (typeof answer === 'string') return { content: answer };
  return typeof answer?.content === 'string' ? { content: answer.content } : {};
}

export function completions(answers: readonly CompletionAnswer[] | null | undefined): readonly object[] {
  return (answers ?? []).map((answer) =>
    typeof answer === 'string'
      ? { value: answer }
      : withoutUndefined({ value: String(answer.value), description: answer.description ?? answer.label }),
  );
}

export function completionResult(answer: string | CompletionResult): CompletionResult {
  if (typeof answer === 'string') return { content: answer };
  const { content, tool_calls, finish_reason, usage, reasoning_content, resolved_model } = answer ?? {};
  return withoutUndefined({ content, tool_calls, finish_reason, usage, reasoning_content, resolved_model });
}

export function credentials(answer: Credentials): Credentials {
  const { api_key, access_token, refresh_token, expires_at, extra } = answer ?? {};
  return withoutUndefined({ api_key, access_token, refresh_token, expires_at, extra });
}
