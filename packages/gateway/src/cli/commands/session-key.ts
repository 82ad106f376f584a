// Session keys as people type them: `notes` is `agent:main:notes`.

export async function sessionKey(typed: string): Promise<string> {
  const { DEFAULT_AGENT_ID } = await import('@tenon/protocol');
  return typed.startsWith('agent:') ? typed : `agent:${DEFAULT_AGENT_ID}:${typed}`;
}
