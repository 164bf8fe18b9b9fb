/**
 * Only compress content that contains no secret and repeats nothing from the request: otherwise, its length would reveal, guess by
 * guess, the text next to the guess (BREACH).
 */

import { declareLength } from './headers.ts';

export function acceptsGzip(request: Request): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(
    request.headers.get('accept-encoding') ?? '',
  );
}

/**
 * Compresses with gzip (RFC 1952). libdeflate compresses a whole text far more cheaply than a zlib stream, which takes a quarter
 * megabyte of state per page.
 * @param level 1–12: higher is smaller and slower
 */
export function gzip(content: string | Uint8Array<ArrayBuffer>, level: 6 | 12): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(content, { library: 'libdeflate', level });
}

export class SharedText {
  readonly text: string;
  #gzipped: Uint8Array<ArrayBuffer> | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** Replaces the body, compressed if the client accepts gzip; HEAD gets only its length. */
  putInto({ status, headers }: Response, request: Request): Response {
    const isPacked = acceptsGzip(request);
    if (isPacked) this.#gzipped ??= gzip(this.text, 12);
    const content = (isPacked ? this.#gzipped : null) ?? this.text;
    const answer = new Response(content, { status, headers });
    answer.headers.append('vary', 'Accept-Encoding');
    if (isPacked) answer.headers.set('content-encoding', 'gzip');
    if (request.method === 'HEAD') declareLength(answer, content);
    return answer;
  }
}
