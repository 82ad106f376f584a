// Anthropic's models, over the Messages API.
import { createAnthropic } from '@ai-sdk/anthropic';
import type { OpenModel } from './language-model.ts';

export const openModel: OpenModel = ({ name, baseUrl, key, fetch }) => ({
  model: createAnthropic({ baseURL: baseUrl, apiKey: key ?? '', fetch }).languageModel(name),
  metadataKey: 'anthropic',
  imagesInResults: true,
  effortOf: (level) => (level === 'off' ? 'none' : level),
  requestOptions: () => undefined,
  cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
});
