/**
 * A worker stretches passphrases, and starts only when needed. The policy of pages that seal or open allows only the worker address in
 * their markup (`data-worker`, with its integrity).
 */
import type { Stretch } from '../../../sdk/sealing.ts';
import type { Stretched, StretchOrder } from './stretch-worker.ts';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): string };
}

declare global {
  interface Window {
    readonly trustedTypes?: TrustedTypes;
  }
}

/** A slow phone needs a few seconds. */
const limitMs = 60_000;

function attribute(name: string): string {
  return document.querySelector(`[${name}]`)?.getAttribute(name) ?? '';
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Creates the policy once, because its name cannot be reused. It trusts one address: the one in the markup. */
function trusted(): string {
  const createScriptURL = () => attribute('data-worker');
  policy ??= window.trustedTypes?.createPolicy('mayfly-worker', { createScriptURL });
  return policy?.createScriptURL('') ?? createScriptURL();
}

/** Fetches the file with its integrity first, because workers cannot check one; the worker then starts from the browser's cache. */
async function start(): Promise<Worker> {
  const address = attribute('data-worker');
  const file = await fetch(address, { integrity: attribute('data-worker-integrity'), cache: 'force-cache' });
  if (!file.ok) throw new Error('no worker');
  await file.arrayBuffer();
  return new Worker(trusted());
}

export const stretchInWorker: Stretch = async (...order: StretchOrder) => {
  const worker = await start();
  const timer = setTimeout(() => worker.dispatchEvent(new Event('error')), limitMs);
  try {
    return await new Promise((resolve, reject) => {
      const fail = () => reject(new Error('the worker failed'));
      worker.addEventListener('error', fail);
      worker.addEventListener('message', ({ data }: MessageEvent<Stretched>) =>
        data === null ? fail() : resolve(data),
      );
      worker.postMessage(order);
    });
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
};
