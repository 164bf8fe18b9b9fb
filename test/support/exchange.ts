/** An `Exchange` without a server. Bytes and query reach the handler exactly as given. */
import type { Exchange } from '../../src/http/operation.ts';

export interface ExchangeParts {
  readonly method?: 'GET' | 'POST';
  readonly rawQuery?: string;
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly clientPrefix?: string;
}

export interface TestExchange extends Exchange {
  /** Headers that the handler set for the answer. */
  readonly answerHeaders: Readonly<Record<string, string>>;
}

export function exchangeOf(parts: ExchangeParts = {}): TestExchange {
  const { method = 'POST', rawQuery = '', body = '', contentType } = parts;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const headers = new Headers(contentType === undefined ? {} : { 'content-type': contentType });
  const answerHeaders: Record<string, string> = {};
  return {
    answerHeaders,
    request: new Request('http://localhost/', { method, headers }),
    path: '/',
    rawQuery,
    params: parts.params ?? {},
    requestId: 'test',
    clientPrefix: parts.clientPrefix ?? '192.0.2.0/24',
    isAbandoned: () => false,
    body: () => Promise.resolve(bytes),
    countAnother: () => null,
    reportFault(error) {
      throw error;
    },
    setAnswerHeader(name, value) {
      answerHeaders[name] = value;
    },
  };
}
