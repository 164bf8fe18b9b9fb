/** The example answers of `examples.json`: the service's answers to the example calls (`scripts/generate-examples.ts`). */
import recorded from './examples.json' with { type: 'json' };

const recordedUrl = 'https://mayfly.example';

/** By an operation's name or a refusal's code; `null` if none was recorded. */
export type ExampleAnswers = (name: string) => unknown;

/** @param baseUrl the installation's, for the links in the answers */
export function createExampleAnswers(baseUrl: string): ExampleAnswers {
  const host = JSON.stringify(new URL(baseUrl).hostname);
  const text = JSON.stringify(recorded)
    .replaceAll(recordedUrl, baseUrl)
    .replaceAll(`"${new URL(recordedUrl).hostname}"`, host);
  const answers = new Map(Object.entries(JSON.parse(text) as Record<string, unknown>));
  return (name) => answers.get(name) ?? null;
}
