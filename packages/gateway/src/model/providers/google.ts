// Google's Gemini models, over the Generative Language API.
import { createGoogle } from '@ai-sdk/google';
import type { OpenModel } from './language-model.ts';

export const openModel: OpenModel = ({ name, baseUrl, key, fetch }) => ({
  model: createGoogle({ baseURL: baseUrl, apiKey: key ?? '', fetch }).languageModel(name),
  metadataKey: 'google',
  imagesInResults: true,
  effortOf: (level) => (level === 'off' ? 'none' : level),
  requestOptions: () => undefined,
  cacheMark: undefined,
});
