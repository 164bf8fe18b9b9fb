/** The example responses in `examples.json`: the service's responses to the example calls (`scripts/generate-examples.ts`). */
import recorded from './examples.json' with { type: 'json' };

const recordedUrl = 'https://mayfly.example';

/** Returns the example for an operation's name or a refusal's code, or `null` if none was recorded. */
export type ExampleAnswers = (name: string) => unknown;

/** @param baseUrl the installation's base URL, for the links in the examples */
export function createExampleAnswers(baseUrl: string): ExampleAnswers {
  const host = JSON.stringify(new URL(baseUrl).hostname);
  const text = JSON.stringify(recorded)
    .replaceAll(recordedUrl, baseUrl)
    .replaceAll(`"${new URL(recordedUrl).hostname}"`, host);
  const answers = new Map(Object.entries(JSON.parse(text) as Record<string, unknown>));
  return (name) => answers.get(name) ?? null;
}
