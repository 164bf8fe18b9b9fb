/** The example answers of `examples.json`, which is what the service answered to the example calls (`scripts/generate-examples.ts`). */
import recorded from './examples.json' with { type: 'json' };

/** Where they were recorded. */
const recordedUrl = 'https://mayfly.example';

/** The answer to an operation's example, or the refusal with this code; `null` where none was recorded. */
export type ExampleAnswers = (name: string) => unknown;

/** @param baseUrl the installation's, in the links that the answers hold */
export function createExampleAnswers(baseUrl: string): ExampleAnswers {
  const host = JSON.stringify(new URL(baseUrl).hostname);
  const text = JSON.stringify(recorded)
    .replaceAll(recordedUrl, baseUrl)
    .replaceAll(`"${new URL(recordedUrl).hostname}"`, host);
  const answers = new Map(Object.entries(JSON.parse(text) as Record<string, unknown>));
  return (name) => answers.get(name) ?? null;
}
