// Everything that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, llama.cpp, OpenRouter and the like.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { OpenModel } from './language-model.ts';

export const openModel: OpenModel = ({ name, baseUrl, key, fetch }) => ({
  model: createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl,
    ...(key === undefined ? {} : { apiKey: key }),
    fetch,
    includeUsage: true,
  }).languageModel(name),
  metadataKey: 'compatible',
  imagesInResults: false,
  // Many servers know three levels only and refuse others, so `off` says nothing at all.
  effortOf(level) {
    if (level === 'off') return undefined;
    if (level === 'minimal') return 'low';
    return level === 'xhigh' ? 'high' : level;
  },
  requestOptions: () => undefined,
  cacheMark: undefined,
});
