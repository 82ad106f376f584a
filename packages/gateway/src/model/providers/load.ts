// Loads the code of a provider when one of its models is first asked: together they are larger than the gateway. From
// source these are imports; the build makes each a file of its own beside the bundle.
import type { ModelProvider } from '@tenon/protocol';
import type { OpenModel } from './language-model.ts';

const modules: Readonly<Record<ModelProvider, () => Promise<{ openModel: OpenModel }>>> = {
  openai: () => import('./openai.ts'),
  anthropic: () => import('./anthropic.ts'),
  google: () => import('./google.ts'),
  'openai-compatible': () => import('./openai-compatible.ts'),
};

/** Contract: rejects only when the program is not whole. */
export async function loadProvider(provider: ModelProvider): Promise<OpenModel> {
  return (await modules[provider]()).openModel;
}
