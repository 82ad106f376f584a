// OpenAI's own models, over the Responses API. Nothing is stored at OpenAI: thoughts come back to us encrypted and are
// sent again with the next request.
import { createOpenAI } from '@ai-sdk/openai';
import { createHash } from 'node:crypto';
import type { OpenModel } from './language-model.ts';

export const openModel: OpenModel = ({ name, baseUrl, key, fetch }) => ({
  model: createOpenAI({ baseURL: baseUrl, apiKey: key ?? '', fetch }).responses(name),
  metadataKey: 'openai',
  imagesInResults: true,
  effortOf: (level) => (level === 'off' ? 'none' : level),
  requestOptions: (cacheKey) => ({
    // A session key may be longer than the 64 characters that a cache key may have.
    openai: { store: false, ...(cacheKey ? { promptCacheKey: createHash('sha256').update(cacheKey).digest('hex').slice(0, 32) } : {}) },
  }),
  cacheMark: undefined,
});
