import type { TestAccount } from '../support/app.ts';
import type { createDocumentedApp } from './documented-app.ts';

type DocumentedApp = ReturnType<typeof createDocumentedApp>;

export const as = (account: TestAccount) => ({ authorization: account.authorization });

/** Conceals through v2, in this app and with these headers unless a call names others. */
export const concealer =
  (app: DocumentedApp, usual: Record<string, string>) =>
  async (fields: Record<string, unknown> = {}, headers = usual, from = app) => {
    const json = { secret: { secret: 'hello', ...fields } };
    const { body } = await from.call('/secret/conceal', { json, headers });
    return { key: body.record.secret.key as string, metadataKey: body.record.metadata.key as string };
  };
