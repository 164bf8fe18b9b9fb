/** Operations that record what reached them, for tests that send bytes. */
import type { Operation } from '../../src/http/operation.ts';

export const document: Operation['document'] = { summary: '', tag: '', responses: {} };

/** @param handled the operation, and the path or the body as it saw them */
export function noting(handled: string[]): Operation[] {
  return [
    {
      name: 'look',
      method: 'GET',
      path: '/secret/:key',
      access: 'anyone',
      limit: 'none',
      document,
      decode: () => null,
      handle(_input, _caller, { params }) {
        handled.push(`look ${params.key}`);
        return { status: 200, body: { key: params.key } };
      },
    },
    {
      name: 'create',
      method: 'POST',
      path: '/create',
      access: 'anyone',
      limit: 'none',
      document,
      decode: async (exchange) => Buffer.from(await exchange.body()).toString('latin1'),
      handle(input) {
        const text = String(input);
        handled.push(`create ${text.length > 40 ? text.length : text}`);
        return { status: 200, body: { length: text.length } };
      },
    },
  ];
}

/** @param onHead called when its head is there, and its body may not be */
export function gathering(handled: string[], onHead: () => void): Operation {
  return {
    name: 'gather',
    method: 'POST',
    path: '/gather',
    access: 'anyone',
    limit: 'none',
    document,
    decode(exchange) {
      onHead();
      return exchange.body();
    },
    handle() {
      handled.push('gather');
      return { status: 200, body: null };
    },
  };
}
