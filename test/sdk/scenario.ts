/** What the packed client must do in every runtime. Sent to each as text, so it uses nothing from outside its parameters. */
import type * as Sdk from '../../sdk/mayfly.ts';

/** @param hanging the address of a server that never answers */
export async function scenario({ createClient, MayflyError }: typeof Sdk, server: string, hanging: string) {
  async function failure(work: Promise<unknown>) {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof MayflyError)) throw new Error(`no MayflyError: ${String(error)}`);
    return { code: error.code, status: error.status, hasRequestId: error.requestId !== null };
  }
  // An hour: a timer that outlived its call would keep the process alive until the test gives up.
  const mayfly = createClient({ server, timeoutMs: 3_600_000 });
  const { link } = await mayfly.conceal({ value: 'open sesame', ttlSeconds: 600, passphrase: 'thyme' });
  const waiting = await mayfly.status(link);
  const wrong = await failure(mayfly.reveal(link, { passphrase: 'parsley' }));
  const revealed = await mayfly.reveal(link, { passphrase: 'thyme' });
  const second = await failure(mayfly.reveal(link, { passphrase: 'thyme' }));
  const gone = await mayfly.status(link);
  const generated = await mayfly.generate({ length: 20 });
  const drawn = await mayfly.reveal(generated.link);
  const bytes = Uint8Array.of(0, 255, 10);
  const stored = await mayfly.conceal({ file: { name: 'x.bin', type: 'x/y', bytes } });
  const { file } = await mayfly.reveal(stored.link);
  const plain = await mayfly.conceal({ value: 'plain', plain: true });
  const { value: plainValue } = await mayfly.reveal(plain.link);
  const { askLink, answersLink } = await mayfly.ask({ prompt: 'The password', ttlSeconds: 600 });
  const { prompt } = await mayfly.inspectRequest(askLink);
  await mayfly.answer(askLink, { value: 'rosemary' });
  const { answers } = await mayfly.answers(answersLink);
  const answered = await mayfly.reveal(answers[0]?.link ?? '');
  const silent = createClient({ server: hanging });
  const controller = new AbortController();
  const aborting = failure(silent.reveal(link, { signal: controller.signal }));
  controller.abort();
  // While it waits for its second try: its timer must not outlive the call either.
  const ending = new AbortController();
  const busy = createClient({
    server,
    timeoutMs: 3_600_000,
    retries: 1,
    fetch: async () => {
      const answer = new Response(null, { status: 503, headers: { 'Retry-After': '1800' } });
      // Read at once, so that the signal comes during the wait in every runtime.
      Object.defineProperty(answer, 'text', { value: async () => '' });
      setTimeout(() => ending.abort(), 0);
      return answer;
    },
  });
  const betweenTries = await failure(busy.status(link, { signal: ending.signal }));
  return {
    revealed,
    told: {
      hasPassphrase: waiting?.hasPassphrase,
      wrong,
      value: revealed.value,
      printed: `${JSON.stringify(revealed)}${revealed}`,
      second,
      gone,
      generatedLength: generated.value.length,
      isSame: drawn.value === generated.value,
      file: [file?.name, file?.type, [...(file?.bytes ?? [])].join()],
      sealed: [stored.isSealed, plain.isSealed, plainValue],
      asked: [prompt, answered.value],
      aborted: (await aborting).code,
      betweenTries: betweenTries.code,
      timedOut: (await failure(silent.reveal(link, { timeoutMs: 20 }))).code,
    },
  };
}
